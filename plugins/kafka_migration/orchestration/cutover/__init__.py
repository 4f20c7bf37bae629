"""The tasks that plan, approve, write and restore offsets, and the hooks."""
