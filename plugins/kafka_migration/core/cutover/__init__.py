"""What a person approves and reads before and after the offsets are written."""
