"""Rules of the DAGs that the factory builds."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG
from airflow.sdk.definitions.context import AirflowParsingContext

from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.migration.task_steps import expected_skips
from kafka_migration.orchestration import factory
from kafka_migration.steps.request import RunRequest

pytestmark = pytest.mark.airflow

KINDS = ("kafka_migration", "kafka_nightly_sync", "kafka_rollback")
ROOT = Path(__file__).parents[2]

TASKS = [
    "preflight",
    "reserve",
    "plan",
    "create_topics",
    "start_mirror",
    "watch_lag",
    "stop_mirror",
    "stop_producers",
    "validate_topics",
    "judge",
    "drain_groups",
    "translate_offsets",
    "plan_offsets",
    "approve",
    "sync_offsets",
    "confirm_cutover",
    "after_cutover",
    "restore_settings",
    "finish",
]
ROLLBACK_TASKS = [
    "preflight",
    "reserve",
    "translate_back",
    "plan_rollback",
    "approve",
    "roll_back",
    "restore_settings",
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


def test_dag_folder_imports_clean() -> None:
    """The DAG file gives the demo's DAG without an import error."""
    bag = DagBag(str(ROOT / "dags"))

    assert {} == bag.import_errors
    assert "kafka_migration__demo" in bag.dags


def test_task_order(dag: DAG) -> None:
    """The tasks run in the order of the lifecycle."""
    assert TASKS == [task.task_id for task in dag.topological_sort()]


def test_arrows(dag: DAG) -> None:
    """Validation waits for the watch and for the stop; finish is below everything but reserve."""
    assert {"watch_lag", "stop_mirror", "stop_producers"} == dag.get_task("validate_topics").upstream_task_ids
    assert set(TASKS) - {"reserve", "finish"} == dag.get_task("finish").upstream_task_ids
    assert ["finish"] == [task.task_id for task in dag.leaves]


def test_tasks_are_grouped(dag: DAG) -> None:
    """Four groups hold every task but `finish`, so that graph and grid fold; the ids of the tasks do not name them."""
    groups = {each: list(getattr(group, "children", ())) for each, group in dag.task_group.children.items()}
    folded = {group_id: children for group_id, children in groups.items() if group_id != "finish"}

    assert ["prepare", "mirror", "validate", "move_consumers", "finish"] == list(groups)
    assert set(dag.task_ids) - {"finish"} == {task for tasks in folded.values() for task in tasks}
    assert {"start_mirror", "watch_lag", "stop_producers", "stop_mirror"} == set(folded["mirror"])


def test_setup_and_teardowns(dag: DAG) -> None:
    """reserve is the setup of stop_mirror; finish is a teardown without a setup that decides the run's state."""
    reserve, stop, finish = (dag.get_task(name) for name in ("reserve", "stop_mirror", "finish"))

    assert reserve.is_setup
    assert (True, False) == (stop.is_teardown, stop.on_failure_fail_dagrun)
    assert (True, True) == (finish.is_teardown, finish.on_failure_fail_dagrun)
    assert not dag.get_task("start_mirror").is_setup


def test_no_time_limit_on_the_run(dag: DAG) -> None:
    """`dagrun_timeout` would skip the teardowns."""
    assert dag.dagrun_timeout is None


def test_manual_dag_has_no_schedule_and_one_run_at_a_time(dag: DAG) -> None:
    """The manual DAG starts nothing by itself."""
    assert (None, 1, False) == (dag.schedule, dag.max_active_runs, dag.catchup)


def test_form_offers_the_modes_and_topics_of_the_file(dag: DAG) -> None:
    """The form's fields come from the migration file; topics outside it are not accepted."""
    mode, topics = (dag.params.get_param(name) for name in ("mode", "topics"))

    assert ["rehearse", "sync", "follow", "validate", "cutover"] == mode.schema["enum"]
    assert set(mode.schema["enum"]) == set(mode.schema["values_display"])
    assert ["orders", "audit"] == topics.schema["items"]["enum"]


def test_form_does_nothing_irreversible_by_default(dag: DAG) -> None:
    """A run triggered without a word rehearses, over all topics and groups."""
    fields = [dag.params[name] for name in RunRequest.MANUAL_FIELDS]
    assert ["rehearse", None, None, None, None, None] == fields


AFTER_HOOKS = {"restore_settings"}


def test_moving_is_one_line_below_judge(dag: DAG) -> None:
    """Each step that moves consumers waits for the one before it to succeed, and the first for the verdict.

    What follows a hook also goes on when that was skipped, but never without the cutover's own success.
    """
    line = TASKS[TASKS.index("judge") : TASKS.index("finish")]

    for before, after in itertools.pairwise(line):
        is_free = after in AFTER_HOOKS
        assert {before, *(["confirm_cutover"] if is_free else [])} == dag.get_task(after).upstream_task_ids
        rule = "none_failed_min_one_success" if is_free else "all_success"
        assert rule == dag.get_task(after).trigger_rule


@pytest.mark.parametrize("hooks", [(), ("after_cutover",)])
@pytest.mark.parametrize("mode", Mode)
def test_expected_skips_are_tasks_and_the_end_of_the_line(dag: DAG, mode: Mode, hooks: tuple[str, ...]) -> None:
    """What a mode skips is there, and a task that is to run has no upstream task whose skip would skip it."""
    skips = expected_skips(mode, hooks=hooks)

    assert skips <= set(TASKS)
    for task_id in set(TASKS) - skips - {"finish"}:
        task = dag.get_task(task_id)
        skipped = task.upstream_task_ids & skips
        assert not skipped or task.trigger_rule == "none_failed_min_one_success"
        assert not skipped or task.upstream_task_ids - skips


def test_rollback_is_one_line(folder: Path) -> None:
    """The way back is one task after the other, run by hand; finish decides how the run ends, whatever happened."""
    dag = factory.migration_dags(folder)["kafka_rollback__shop"]
    line = ROLLBACK_TASKS[:-1]

    assert ROLLBACK_TASKS == [task.task_id for task in dag.topological_sort()]
    for before, after in itertools.pairwise(line):
        assert ({before}, "all_success") == (dag.get_task(after).upstream_task_ids, dag.get_task(after).trigger_rule)
    finish = dag.get_task("finish")
    assert (set(line), True, True) == (finish.upstream_task_ids, finish.is_teardown, finish.on_failure_fail_dagrun)
    assert (None, 1) == (dag.schedule, dag.max_active_runs)


def test_rollback_form_leaves_nothing_behind_by_default(folder: Path) -> None:
    """It offers the two ways back and no other mode; records that only the target has refuse it unless named."""
    form = factory.migration_dags(folder)["kafka_rollback__shop"].params

    assert ["fail_back", "restore"] == form.get_param("mode").schema["enum"]
    assert ("fail_back", None, None) == tuple(form[name] for name in RunRequest.ROLLBACK_FIELDS)


def test_approval_has_no_default_answer(dag: DAG) -> None:
    """Nothing is approved, or rejected, by waiting."""
    assert dag.get_task("approve").defaults is None


def test_form_can_be_sent_as_it_opens(dag: DAG) -> None:
    """Regression: an empty field that may not be null counts as missing, and the form's button stays grey."""
    for name in ("topics", "groups", "generations", "follow_until", "note"):
        field = dag.params.get_param(name)

        assert (None, "null") == (field.value, field.schema["type"][0])


@pytest.mark.parametrize("content", ["nonsense: [", "version: 1", "", "name: !!python/name:os.system"])
def test_invalid_file_still_gives_its_dag(folder: Path, content: str) -> None:
    """A broken file takes nothing away: its DAG is there, tagged, with the findings, and so are the others."""
    (folder / "broken.yaml").write_text(content)

    dags = factory.migration_dags(folder)

    assert {f"{kind}__{name}" for kind in KINDS for name in ("shop", "broken")} == set(dags)
    for kind in KINDS:
        assert "invalid" in dags[f"{kind}__broken"].tags
        assert "MIGRATION_FILE_INVALID" in (dags[f"{kind}__broken"].doc_md or "")
    assert TASKS == [task.task_id for task in dags["kafka_migration__broken"].topological_sort()]


def test_unreadable_file_still_gives_its_dag(folder: Path) -> None:
    """Whatever lies under a migration file's name, the other DAGs stay."""
    (folder / "folder.yaml").mkdir()
    (folder / "latin.yaml").write_bytes(b"\xff\xfe")
    (folder / "Bad Name.yaml").write_text("version: 1")
    (folder / f"{'long' * 60}.yaml").write_text("version: 1")

    dags = factory.migration_dags(folder)

    assert {
        f"{kind}__{name}" for kind in KINDS for name in ("shop", "folder", "latin", "Bad_Name", "long" * 50)
    } == set(dags)
    assert all("invalid" in dag.tags for dag_id, dag in dags.items() if not dag_id.endswith("shop"))


def test_copied_file_with_its_old_name_is_invalid(folder: Path) -> None:
    """Two migrations of one name would share evidence and MirrorMaker's internal topics."""
    (folder / "copy.yaml").write_text((folder / "shop.yaml").read_text())

    copy = factory.migration_dags(folder)["kafka_migration__copy"]

    assert "invalid" in copy.tags
    assert "found 'shop'; expected 'copy', the name of the file" in (copy.doc_md or "")


def test_task_process_builds_only_its_own_dag(
    folder: Path, migration_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a task's process the other migration files are not even read."""
    (folder / "other.yaml").write_text(migration_text.replace("name: shop", "name: other"))
    context = AirflowParsingContext(dag_id="kafka_migration__shop", task_id="plan")
    monkeypatch.setattr(factory, "get_parsing_context", lambda: context)

    assert ["kafka_migration__shop"] == list(factory.migration_dags(folder))


def test_task_process_builds_its_dag_without_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose file was taken away goes on from its frozen copy: its teardowns must be found."""
    context = AirflowParsingContext(dag_id="kafka_migration__gone-for-good", task_id="stop_mirror")
    monkeypatch.setattr(factory, "get_parsing_context", lambda: context)

    (dag,) = factory.migration_dags(folder).values()

    assert ("kafka_migration__gone-for-good", True) == (dag.dag_id, dag.has_task("stop_mirror"))
    assert "gone-for-good" == dag.get_task("stop_mirror").migration


def test_parsing_imports_nothing_heavy() -> None:
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


def test_documented_dag_builds() -> None:
    """The example of the operators' page is a DAG that Airflow takes."""
    page = (ROOT / "docs" / "reference" / "operators.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    dag = names["dag"]

    assert isinstance(dag, DAG)
    assert ["preflight", "validate_topics", "judge", "finish"] == [t.task_id for t in dag.topological_sort()]
    assert dag.get_task("finish").is_teardown
