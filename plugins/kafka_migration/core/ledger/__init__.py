"""The ledger: the append-only record of all runs of a migration."""
