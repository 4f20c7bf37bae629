"""The verbs that read files and connections, and no run."""
