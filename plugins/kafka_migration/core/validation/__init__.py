"""The requests to the Spark job, its results, and the verdicts."""
