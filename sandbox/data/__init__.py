"""The sandbox's data: topics, records, groups and traffic that look like the world, and ways to damage a copy."""
