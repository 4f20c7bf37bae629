"""Text for people: quoting, shortening, Markdown, durations."""
