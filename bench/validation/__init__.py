"""The cost of validation: both levels compared with a plain scan of the same records, and with other methods.

Two real local clusters hold the same records, on the same cores as Spark. All arms of a table read with the same
reader options and run in turn; the first run of each is dropped.
"""
