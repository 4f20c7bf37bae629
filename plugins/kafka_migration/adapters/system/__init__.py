"""The clock, deadlines, threads, names and files that the operating system gives."""
