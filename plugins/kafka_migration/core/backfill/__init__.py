"""What a run answers for the interval of a backfill."""
