"""How the package says what is wrong: codes, findings, verdicts."""
