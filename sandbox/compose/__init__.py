"""The test of `docker-compose.yaml`: builds it, brings it up, runs the demo's migration, brings it down."""
