"""One sandbox for the whole live suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters, the MirrorMaker host and Airflow on the checkout's own DAGs and plugins."""
    with Sandbox(tmp_path_factory.mktemp("sandbox")) as running:
        yield running
