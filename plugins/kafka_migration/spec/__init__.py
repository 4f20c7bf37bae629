"""The migration file: loading, checking, freezing into core values."""
