"""Kubernetes resources: Strimzi, containers and their variables."""
