"""The files for monitoring: what they say about the metrics that the package sends, checked with the real programs."""
