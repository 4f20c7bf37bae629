"""The checks that ask a cluster."""
