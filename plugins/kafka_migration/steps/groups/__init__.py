"""Reading, planning and writing consumer groups."""
