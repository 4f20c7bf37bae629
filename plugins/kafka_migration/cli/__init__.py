"""The command line: `kafka-migration <verb> <migration>`."""
