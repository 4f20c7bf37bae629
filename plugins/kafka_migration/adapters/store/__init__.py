"""Documents and the ledger below the evidence root."""
