"""Documents that a run leaves, and how a later step knows that they are unchanged."""
