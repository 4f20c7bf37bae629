"""What rules look at, and how they find the key that was meant."""
