"""What people read about a run: its report, its alerts, its metrics, what to do next."""
