"""A real Airflow with the ledger of a large migration, for the parts that look at its pages in real browsers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.airflow_folders import airflow_folders
from bench.ledger import MIGRATION, filled
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.ledger.chain import head_key
from kafka_migration.core.run.run_identity import MANUAL_DAG_PREFIX
from sandbox.airflow_api import AirflowApi
from sandbox.sandbox import Sandbox
from tests.browser import Browser, browser
from tests.contract.memory_anchor import MemoryAnchor
from tests.waiting import wait_until

DAG = f"{MANUAL_DAG_PREFIX}{MIGRATION}"
_READ_WITHIN_S = 1800
_FILE = f"""\
version: 1
name: {MIGRATION}
source:
  connection: demo_source
target:
  connection: demo_target
topics: [topic-000]
mirror:
  connection: demo_mirror_host
validation:
  spark_connection: demo_spark
"""


@dataclass(frozen=True, slots=True)
class Served:
    """The addresses of the package's page and of Airflow's own page of the same DAG, and the api-server's process."""

    page: str
    airflows_own: str
    server_pid: int
    address: str
    token: str

    @contextmanager
    def browser(self) -> Iterator[Browser]:
        """Start a browser that is signed in."""
        with browser() as made:
            made.log_in(self.address, self.token)
            yield made


@contextmanager
def served(partitions: int, nights: int) -> Iterator[Served]:
    """Start Airflow with such a ledger, and wait until the api-server has read it."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        folders = airflow_folders(Path(folder), {MIGRATION: _FILE})
        with Sandbox(Path(folder, "sandbox"), folders=folders) as sandbox, AirflowApi.of(sandbox.state) as api:
            head = MemoryAnchor()
            filled(LedgerStore(sandbox.state.evidence_root, MIGRATION, anchor=head), partitions, nights)
            api.set_variable(head_key(MIGRATION), head.kept.to_text())
            api.wait_for_dag(DAG)
            url = str(sandbox.state.airflow_url)
            pages = f"{url}/kafka-migration/dag/{DAG}", f"{url}/dags/{DAG}"
            made = Served(*pages, sandbox.state.pids["api-server"], url, api.token())
            with made.browser() as page:
                page.open(made.page)
                wait_until(lambda: "Ledger" in page.text(), _READ_WITHIN_S, "the page with the ledger")
            yield made
