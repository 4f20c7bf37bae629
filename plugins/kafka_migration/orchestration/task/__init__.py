"""What every task shares: its context, failures, alerts and metrics."""
