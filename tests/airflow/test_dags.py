"""Rules of the DAGs that the factory builds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG
from airflow.sdk.definitions.context import AirflowParsingContext

from kafka_migration.orchestration import factory

pytestmark = pytest.mark.airflow

ROOT = Path(__file__).parents[2]

TASKS = [
    "preflight",
    "reserve",
    "plan",
    "create_topics",
    "start_mirror",
    "watch_lag",
    "stop_mirror",
    "validate_topics",
    "judge",
    "finish",
]


@pytest.fixture
def folder(tmp_path: Path, migration_text: str) -> Path:
    """A folder with one valid migration file, `shop`."""
    (tmp_path / "shop.yaml").write_text(migration_text)
    return tmp_path


@pytest.fixture
def dag(folder: Path) -> DAG:
    """The manual DAG of that file."""
    return factory.migration_dags(folder)["kafka_migration__shop"]


def test_dag_folder_imports_clean():
    """The DAG file gives the demo's DAG without an import error."""
    bag = DagBag(str(ROOT / "dags"))

    assert {} == bag.import_errors
    assert "kafka_migration__demo" in bag.dags


def test_task_order(dag: DAG):
    """The tasks run in the order of the lifecycle."""
    assert TASKS == [task.task_id for task in dag.topological_sort()]


def test_arrows(dag: DAG):
    """Validation waits for the watch and for the stop; finish is below everything but reserve."""
    assert {"watch_lag", "stop_mirror"} == dag.get_task("validate_topics").upstream_task_ids
    assert set(TASKS) - {"reserve", "finish"} == dag.get_task("finish").upstream_task_ids
    assert ["finish"] == [task.task_id for task in dag.leaves]


def test_setup_and_teardowns(dag: DAG):
    """reserve is the setup of stop_mirror; finish is a teardown without a setup that decides the run's state."""
    reserve, stop, finish = (dag.get_task(name) for name in ("reserve", "stop_mirror", "finish"))

    assert reserve.is_setup
    assert (True, False) == (stop.is_teardown, stop.on_failure_fail_dagrun)
    assert (True, True) == (finish.is_teardown, finish.on_failure_fail_dagrun)
    assert not dag.get_task("start_mirror").is_setup


def test_no_time_limit_on_the_run(dag: DAG):
    """`dagrun_timeout` would skip the teardowns."""
    assert dag.dagrun_timeout is None


def test_manual_dag_has_no_schedule_and_one_run_at_a_time(dag: DAG):
    """The manual DAG starts nothing by itself."""
    assert (None, 1, False) == (dag.schedule, dag.max_active_runs, dag.catchup)


def test_form_offers_the_modes_and_topics_of_the_file(dag: DAG):
    """The form's fields come from the migration file; topics outside it are not accepted."""
    mode, topics = (dag.params.get_param(name) for name in ("mode", "topics"))

    assert ["sync", "validate"] == mode.schema["enum"]
    assert ["orders", "audit"] == topics.schema["items"]["enum"]


def test_form_can_be_sent_as_it_opens(dag: DAG):
    """Regression: an empty field that may not be null counts as missing, and the form's button stays grey."""
    for name in ("topics", "note"):
        field = dag.params.get_param(name)

        assert (None, "null") == (field.value, field.schema["type"][0])


@pytest.mark.parametrize("content", ["nonsense: [", "version: 1", "", "name: !!python/name:os.system"])
def test_invalid_file_still_gives_its_dag(folder: Path, content: str):
    """A broken file takes nothing away: its DAG is there, tagged, with the findings, and so are the others."""
    (folder / "broken.yaml").write_text(content)

    dags = factory.migration_dags(folder)

    assert {"kafka_migration__shop", "kafka_migration__broken"} == set(dags)
    assert "invalid" in dags["kafka_migration__broken"].tags
    assert "MIGRATION_FILE_INVALID" in (dags["kafka_migration__broken"].doc_md or "")
    assert TASKS == [task.task_id for task in dags["kafka_migration__broken"].topological_sort()]


def test_unreadable_file_still_gives_its_dag(folder: Path):
    """Whatever lies under a migration file's name, the other DAGs stay."""
    (folder / "folder.yaml").mkdir()
    (folder / "latin.yaml").write_bytes(b"\xff\xfe")
    (folder / "Bad Name.yaml").write_text("version: 1")

    dags = factory.migration_dags(folder)

    assert {"shop", "folder", "latin"} == {dag_id.removeprefix("kafka_migration__") for dag_id in dags}


def test_task_process_builds_only_its_own_dag(folder: Path, migration_text: str, monkeypatch: pytest.MonkeyPatch):
    """In a task's process the other migration files are not even read."""
    (folder / "other.yaml").write_text(migration_text.replace("name: shop", "name: other"))
    context = AirflowParsingContext(dag_id="kafka_migration__shop", task_id="plan")
    monkeypatch.setattr(factory, "get_parsing_context", lambda: context)

    assert ["kafka_migration__shop"] == list(factory.migration_dags(folder))


def test_parsing_imports_nothing_heavy():
    """Parsing a DAG file loads neither pyspark nor pandas: every component does it all the time."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from kafka_migration.orchestration.factory import migration_dags\n"
        "print(sorted({'pyspark', 'pandas', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "plugins")], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_documented_dag_builds():
    """The example of the operators' page is a DAG that Airflow takes."""
    page = (ROOT / "docs" / "operators.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    dag = names["dag"]

    assert isinstance(dag, DAG)
    assert ["preflight", "validate_topics", "judge", "finish"] == [t.task_id for t in dag.topological_sort()]
    assert dag.get_task("finish").is_teardown
