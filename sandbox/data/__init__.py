"""The sandbox's data: realistic topics, records, groups and traffic, and ways to damage a copy."""
