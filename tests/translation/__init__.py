"""Random histories of copies, what the translation job plans on them, and what is right by trying everything."""
