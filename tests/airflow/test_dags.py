"""Rules of the DAGs that the factory builds from migration files."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG, CronDataIntervalTimetable
from airflow.sdk.definitions.context import AirflowParsingContext

from bench.orchestration import SEQUENTIAL_TASKS
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.task_steps import DagKind, expected_skips, steps_of
from kafka_migration.orchestration.dag import building
from kafka_migration.steps.run.run_request import RunRequest

KINDS = ("kafka_migration", "kafka_nightly_sync", "kafka_rollback")
ROOT = Path(__file__).parents[2]
NIGHTLY = """\
nightly:
  cron: "0 1 * * *"
  timezone: Europe/Berlin
  until: "05:30"
"""
PLANNING = ["drain_groups", "translate_offsets", "plan_offsets"]
MOVING = ["approve", "sync_offsets", "confirm_cutover", "after_cutover", "restore_settings"]
GROUPS = {
    "prepare": ["preflight", "reserve", "plan", "create_topics"],
    "mirror": ["start_mirror", "watch_lag", "stop_mirror", "stop_producers"],
    "validate": ["validate_topics", "judge"],
    "move_consumers": [*PLANNING, *MOVING],
}
TASKS = [*itertools.chain(*GROUPS.values()), "finish"]
NIGHTLY_TASKS = [task for task in TASKS if task not in {"stop_producers", *PLANNING, *MOVING}]
ROLLBACK_LINE = ["preflight", "reserve", "translate_back", "plan_rollback", "approve", "roll_back", "restore_settings"]


@pytest.fixture
def folder(tmp_path: Path, migration_text: str) -> Path:
    """A folder with one valid migration file, `shop`, which has a section `nightly`."""
    (tmp_path / "shop.yaml").write_text(migration_text + NIGHTLY)
    return tmp_path


@pytest.fixture
def dag(folder: Path) -> DAG:
    """The manual DAG of that file."""
    return building.built_dags(folder)["kafka_migration__shop"]


@pytest.fixture
def nightly_dag(folder: Path) -> DAG:
    """The nightly DAG of that file."""
    return building.built_dags(folder)["kafka_nightly_sync__shop"]


@pytest.fixture(params=["dag", "nightly_dag"])
def either(request: pytest.FixtureRequest) -> DAG:
    """The manual and the nightly DAG of that file."""
    found: DAG = request.getfixturevalue(request.param)
    return found


def test_dag_folder_imports_clean() -> None:
    """The DAG file gives the demo's DAG without an import error."""
    bag = DagBag(str(ROOT / "dags"))

    assert {} == bag.import_errors
    assert "kafka_migration__demo" in bag.dags


@pytest.mark.parametrize("kind", DagKind)
def test_dag_has_the_tasks_of_the_table(folder: Path, kind: DagKind) -> None:
    """Each DAG has exactly the tasks of the table of steps, in its order."""
    ids = dict(zip(DagKind, KINDS, strict=True))
    made = building.built_dags(folder)[f"{ids[kind]}__shop"]
    expected = [step.task for step in steps_of(kind)]

    assert expected == list(made.task_dict)
    assert expected == [task.task_id for task in made.topological_sort()]
    assert all(type(name) is str for name in made.task_dict)


def test_each_dag_asks_its_own_question(folder: Path) -> None:
    """A rollback is approved by its own plan."""
    dags = building.built_dags(folder)
    asks = [type(dags[f"{kind}__shop"].get_task("approve")).__name__ for kind in (KINDS[0], KINDS[2])]

    assert ["ApproveOperator", "ApproveRollbackOperator"] == asks


def test_task_order(dag: DAG, nightly_dag: DAG) -> None:
    """The tasks run in the order of the lifecycle; the nightly DAG has no task that could change a consumer group."""
    assert TASKS == [task.task_id for task in dag.topological_sort()]
    assert NIGHTLY_TASKS == [task.task_id for task in nightly_dag.topological_sort()]


def test_arrows(either: DAG) -> None:
    """Validation waits for the watch and for the stop; finish is downstream of all tasks except reserve."""
    mirroring = {"watch_lag", "stop_mirror", "stop_producers"}.intersection(either.task_ids)

    assert mirroring == either.get_task("validate_topics").upstream_task_ids
    assert set(either.task_ids) - {"reserve", "finish"} == either.get_task("finish").upstream_task_ids
    assert ["finish"] == [task.task_id for task in either.leaves]


def test_tasks_are_grouped(dag: DAG) -> None:
    """Four groups that the graph and the grid can fold hold every task except `finish`; task ids do not name them."""
    groups = {each: sorted(getattr(group, "children", ())) for each, group in dag.task_group.children.items()}

    assert {**{name: sorted(tasks) for name, tasks in GROUPS.items()}, "finish": []} == groups


def test_setup_and_teardowns(either: DAG) -> None:
    """reserve is the setup of stop_mirror; finish is a teardown without a setup that decides the run's state."""
    reserve, stop, finish = (either.get_task(name) for name in ("reserve", "stop_mirror", "finish"))

    assert reserve.is_setup
    assert (True, False) == (stop.is_teardown, stop.on_failure_fail_dagrun)
    assert (True, True) == (finish.is_teardown, finish.on_failure_fail_dagrun)
    assert not either.get_task("start_mirror").is_setup


def test_no_time_limit_on_the_run(either: DAG) -> None:
    """No DAG has a `dagrun_timeout`, which would skip the teardowns."""
    assert either.dagrun_timeout is None


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
    """A run with the form's defaults rehearses all topics and groups."""
    fields = [dag.params[name] for name in RunRequest.MANUAL_FIELDS]
    assert ["rehearse", None, None, None, None, None] == fields


def test_moving_is_one_line_below_judge(dag: DAG) -> None:
    """Each task that moves consumers runs after the success of the task before it, and the first after the verdict.

    The task after a hook also runs if the hook was skipped, but only after a successful cutover.
    """
    for before, after in itertools.pairwise(["judge", *PLANNING, *MOVING]):
        is_free = after == "restore_settings"
        assert {before, *(["confirm_cutover"] if is_free else [])} == dag.get_task(after).upstream_task_ids
        rule = "none_failed_min_one_success" if is_free else "all_success"
        assert rule == dag.get_task(after).trigger_rule


@pytest.mark.parametrize("hooks", [(), ("after_cutover",)])
@pytest.mark.parametrize("mode", Mode)
def test_expected_skips_are_tasks_and_the_end_of_the_line(dag: DAG, mode: Mode, hooks: tuple[str, ...]) -> None:
    """Every task that a mode skips is in the DAG, and no such skip skips a task that must run."""
    skips = expected_skips(mode, hooks=hooks)

    assert skips <= set(TASKS)
    for task_id in set(TASKS) - skips - {"finish"}:
        task = dag.get_task(task_id)
        skipped = task.upstream_task_ids & skips
        assert not skipped or task.trigger_rule == "none_failed_min_one_success"
        assert not skipped or task.upstream_task_ids - skips


def test_rollback_is_one_line(folder: Path) -> None:
    """A rollback is one line of tasks without a schedule, and finish decides the state of the run."""
    dag = building.built_dags(folder)["kafka_rollback__shop"]

    assert [*ROLLBACK_LINE, "finish"] == [task.task_id for task in dag.topological_sort()]
    for before, after in itertools.pairwise(ROLLBACK_LINE):
        assert ({before}, "all_success") == (dag.get_task(after).upstream_task_ids, dag.get_task(after).trigger_rule)
    finish = dag.get_task("finish")
    assert (set(ROLLBACK_LINE), True, True) == (
        finish.upstream_task_ids,
        finish.is_teardown,
        finish.on_failure_fail_dagrun,
    )
    assert (None, 1) == (dag.schedule, dag.max_active_runs)


def test_rollback_form_loses_no_records_by_default(folder: Path) -> None:
    """The form offers the two rollback modes, and by default leaves no records of the target."""
    form = building.built_dags(folder)["kafka_rollback__shop"].params

    assert ["fail_back", "restore"] == form.get_param("mode").schema["enum"]
    assert ("fail_back", None, None) == tuple(form[name] for name in RunRequest.ROLLBACK_FIELDS)


def test_approval_has_no_default_answer(dag: DAG) -> None:
    """A question without an answer is neither approved nor rejected."""
    assert dag.get_task("approve").defaults is None


def test_form_can_be_sent_as_it_opens(dag: DAG) -> None:
    """Regression: an empty field that may not be null counts as missing, and the form's button is disabled."""
    for name in ("topics", "groups", "generations", "follow_until", "note"):
        field = dag.params.get_param(name)

        assert (None, "null") == (field.value, field.schema["type"][0])


def test_dags_of_a_migration_stand_together_in_the_list(folder: Path) -> None:
    """Airflow's list is in order of display names: migration by migration, each DAG with a line on what it does."""
    (folder / "shop-2.yaml").write_text("version: 1")
    dags = building.built_dags(folder).values()
    kinds = ("migrate", "nightly sync", "rollback")

    assert [f"{name} · {kind}" for name in ("shop", "shop-2") for kind in kinds] == sorted(
        dag.dag_display_name for dag in dags
    )
    assert all(dag.description and "\n" not in dag.description for dag in dags)
    assert 3 == len({dag.description for dag in dags})


@pytest.mark.parametrize("content", ["nonsense: [", "version: 1", "", "name: !!python/name:os.system"])
def test_invalid_file_still_gives_its_dag(folder: Path, content: str) -> None:
    """An invalid file still gives its DAGs, tagged and with the findings, and does not affect other files."""
    (folder / "broken.yaml").write_text(content)

    dags = building.built_dags(folder)

    assert {f"{kind}__{name}" for kind in KINDS for name in ("shop", "broken")} == set(dags)
    for kind in KINDS:
        assert "invalid" in dags[f"{kind}__broken"].tags
        assert "MIGRATION_FILE_INVALID" in (dags[f"{kind}__broken"].doc_md or "")
    assert TASKS == [task.task_id for task in dags["kafka_migration__broken"].topological_sort()]


def test_unreadable_file_still_gives_its_dag(folder: Path) -> None:
    """A folder, a file with another encoding or a strange name does not affect the DAGs of other files."""
    (folder / "folder.yaml").mkdir()
    (folder / "latin.yaml").write_bytes(b"\xff\xfe")
    (folder / "Bad Name.yaml").write_text("version: 1")
    (folder / f"{'long' * 60}.yaml").write_text("version: 1")

    dags = building.built_dags(folder)

    assert {
        f"{kind}__{name}" for kind in KINDS for name in ("shop", "folder", "latin", "Bad_Name", "long" * 50)
    } == set(dags)
    assert all("invalid" in dag.tags for dag_id, dag in dags.items() if not dag_id.endswith("shop"))


def test_copied_file_with_its_old_name_is_invalid(folder: Path) -> None:
    """A file must have its migration's name, as two migrations of one name would share evidence and topics."""
    (folder / "copy.yaml").write_text((folder / "shop.yaml").read_text())

    copy = building.built_dags(folder)["kafka_migration__copy"]

    assert "invalid" in copy.tags
    assert "The value of name is 'shop'" in (copy.doc_md or "")


def test_task_process_builds_only_its_own_dag(
    folder: Path, migration_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task's process builds only the task's own DAG."""
    (folder / "other.yaml").write_text(migration_text.replace("name: shop", "name: other"))
    context = AirflowParsingContext(dag_id="kafka_migration__shop", task_id="plan")
    monkeypatch.setattr(building, "get_parsing_context", lambda: context)

    assert ["kafka_migration__shop"] == list(building.built_dags(folder))


def test_task_process_builds_its_dag_without_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose file was removed continues from its frozen copy, so its teardowns must be found."""
    context = AirflowParsingContext(dag_id="kafka_migration__gone-for-good", task_id="stop_mirror")
    monkeypatch.setattr(building, "get_parsing_context", lambda: context)

    (dag,) = building.built_dags(folder).values()

    assert ("kafka_migration__gone-for-good", True) == (dag.dag_id, dag.has_task("stop_mirror"))
    assert "gone-for-good" == dag.get_task("stop_mirror").migration


def test_parsing_imports_nothing_heavy() -> None:
    """Parsing a DAG file loads neither pyspark nor pandas, as every component of Airflow parses often."""
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
    """The example on the page of the operators is a valid DAG."""
    page = (ROOT / "docs" / "reference" / "operators.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    dag = names["dag"]

    assert isinstance(dag, DAG)
    assert ["preflight", "validate_topics", "judge", "finish"] == [t.task_id for t in dag.topological_sort()]
    assert dag.get_task("finish").is_teardown


def test_schedule_is_that_of_the_file(nightly_dag: DAG) -> None:
    """Cron and time zone are those of the migration file, and a run's interval ends with its cron time."""
    assert isinstance(nightly_dag.timetable, CronDataIntervalTimetable)
    assert ("0 1 * * *", "Europe/Berlin") == (nightly_dag.timetable.expression, str(nightly_dag.timetable.timezone))


def test_nothing_blocks_a_backfill_and_nothing_is_caught_up(nightly_dag: DAG) -> None:
    """The nightly DAG has no start date, does not catch up, and has one active run at most."""
    assert (None, False, 1) == (nightly_dag.start_date, nightly_dag.catchup, nightly_dag.max_active_runs)
    assert nightly_dag.is_paused_upon_creation
    assert all(task.start_date is None for task in nightly_dag.tasks)


def test_nightly_dag_cannot_be_triggered(nightly_dag: DAG) -> None:
    """Airflow accepts only scheduled and backfill runs, because each run belongs to an interval."""
    assert {"scheduled", "backfill"} == {str(run_type.value) for run_type in nightly_dag.allowed_run_types or ()}


def test_form_has_the_fields_of_a_backfill(nightly_dag: DAG) -> None:
    """A backfill has two optional fields."""
    assert {"mirror_outside_window": False, "note": None} == nightly_dag.params.dump()
    assert set(RunRequest.NIGHTLY_FIELDS) == set(nightly_dag.params)


def test_doc_tells_when_it_runs_and_how_to_backfill(nightly_dag: DAG) -> None:
    """The DAG's page has its times and the backfill command with its options."""
    for text in (
        "at `0 1 * * *` (Europe/Berlin), until `05:30`",
        "airflow backfill create --dag-id kafka_nightly_sync__shop",
        "`--dry-run`",
        "paused",
        "Each waits at most 4h00m (`nightly.wait_limit`)",
        "`--reprocess-behavior completed`",
    ):
        assert text in (nightly_dag.doc_md or "")


def test_without_the_section_nothing_is_scheduled(tmp_path: Path, migration_text: str) -> None:
    """Without a section `nightly` the nightly DAG exists without a schedule and says what is missing."""
    (tmp_path / "shop.yaml").write_text(migration_text)
    dag = building.built_dags(tmp_path)["kafka_nightly_sync__shop"]

    assert (None, None) == (dag.schedule, dag.allowed_run_types)
    assert "has no section `nightly`" in (dag.doc_md or "")
    assert NIGHTLY_TASKS == [task.task_id for task in dag.topological_sort()]


def test_files_with_a_common_topic_are_invalid(folder: Path, migration_text: str) -> None:
    """The DAGs of both files are tagged invalid, name the other file, and keep their schedule."""
    other = migration_text.replace("name: shop", "name: other").replace("[orders, audit]", "[audit]")
    (folder / "other.yaml").write_text(other)

    found = building.built_dags(folder)

    for name, its_other in (("shop", "other"), ("other", "shop")):
        for kind in ("kafka_migration", "kafka_nightly_sync"):
            assert "invalid" in found[f"{kind}__{name}"].tags
            assert f"MIGRATIONS_OVERLAP · {name}.yaml" in (found[f"{kind}__{name}"].doc_md or "")
            assert f"The files {name}.yaml and {its_other}.yaml both copy" in (found[f"{kind}__{name}"].doc_md or "")
    assert isinstance(found["kafka_nightly_sync__shop"].timetable, CronDataIntervalTimetable)


def test_retries_of_the_stop_are_the_most(nightly_dag: DAG) -> None:
    """Stopping MirrorMaker has more retries than starting it."""
    assert nightly_dag.get_task("stop_mirror").retries > nightly_dag.get_task("start_mirror").retries
    assert timedelta(0) < nightly_dag.get_task("stop_mirror").retry_delay


def test_benchmark_compares_with_as_many_tasks_as_a_sync_runs_in_sequence(dag: DAG) -> None:
    """Regression: the benchmark's empty DAG had one task more, so the overhead of a sync seemed too small."""
    longest: dict[str, int] = {}
    for task in dag.topological_sort():
        if task.task_id not in expected_skips(Mode.SYNC):
            longest[task.task_id] = 1 + max((longest.get(before, 0) for before in task.upstream_task_ids), default=0)

    assert SEQUENTIAL_TASKS == longest["finish"] == len(longest)
