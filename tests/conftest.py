"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_migration.core.migration import Migration
from kafka_migration.spec.loading import load_migration

ROOT = Path(__file__).parents[1]

MIGRATION_TEXT = """\
version: 1
name: shop
source:
  connection: old_kafka
target:
  connection: new_kafka
  replication_factor: 1
topics: [orders, audit]
mirror:
  connection: mirror_host
  tasks: 2
watch:
  poll_interval: 1s
  stall_after: 60s
  time_limit: 10m
validation:
  spark_connection: spark
"""


@pytest.fixture
def migration_text() -> str:
    """A small valid migration file."""
    return MIGRATION_TEXT


@pytest.fixture
def migration() -> Migration:
    """The migration of that file."""
    return load_migration(MIGRATION_TEXT, where="shop.yaml")
