"""What is answered before a run starts: preflight, preview and plan."""
