"""The demo: a migration from start to verdict between two real clusters, verified independently."""
