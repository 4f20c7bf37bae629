"""What the checks may look at; each question is asked once."""
