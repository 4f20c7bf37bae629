"""The frame of a job: its command line, documents, errors, session and limits."""
