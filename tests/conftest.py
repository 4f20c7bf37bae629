"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Airflow reads its home when it is first imported: no test may see (or make) the user's own.
os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="kafka-migration-tests-")
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
# No test reads or writes the cache of the user.
os.environ["AIRFLOW__KAFKA_MIGRATION__CLASS_ARCHIVES"] = ""

from kafka_migration.core.migration.settings import Migration
from kafka_migration.migration_file.loading import load_migration
from tests import allowed_skips

# Machines are slow and noisy: no test is judged by how long it takes.
settings.register_profile("project", deadline=None)
settings.load_profile("project")

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


UNFLUSHED = pytest.MonkeyPatch()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Only live tests flush to the disk. What is flushed, and when, is asserted by counting the calls."""
    UNFLUSHED.undo()
    if item.get_closest_marker("live") is None:
        UNFLUSHED.setattr(os, "fsync", lambda descriptor: None)


def pytest_configure(config: pytest.Config) -> None:
    """A skip that is not in the list fails its test."""
    if not config.pluginmanager.is_registered(allowed_skips):
        config.pluginmanager.register(allowed_skips)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while objects are made that all tests need, which took a third of the time, nor in them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a live test that needs Airflow, so that it can run beside those that do not."""
    if item.get_closest_marker("live") and "sandbox" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.runs)


# Spark's tests share a JVM, those of the architecture the syntax of all files.
TOGETHER = ("tests/spark/", "tests/architecture/")


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each file to one process, and all files of a folder whose tests share what is dear to make."""

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    """Divide the tests of `-n` in this way; `--dist` has no effect."""
    return ByFile(config, log)


def pytest_unconfigure() -> None:
    """Leave no Airflow home behind: each worker of a run has made its own."""
    shutil.rmtree(os.environ["AIRFLOW_HOME"], ignore_errors=True)
