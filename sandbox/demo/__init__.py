"""The demo: a migration from start to verdict between two real clusters, checked by somebody else than itself."""
