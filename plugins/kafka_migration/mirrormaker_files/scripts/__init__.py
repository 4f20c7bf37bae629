"""Shell scripts, command lines and the files that they write."""
