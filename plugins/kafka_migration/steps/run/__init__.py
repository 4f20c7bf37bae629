"""The run that each use case gets: what it looks at, and what guards it."""
