"""Rules of what differs between versions of Airflow."""

from __future__ import annotations

import importlib.util
import logging
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowFailException

from kafka_migration.airflow_adapters import deployed_airflow as airflow_version
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.run.airflow_version import OLDEST, airflow_findings
from kafka_migration.orchestration import factory
from kafka_migration.orchestration.cutover import hook as asking_producers
from kafka_migration.orchestration.factory import RefusingOperator
from kafka_migration.orchestration.task import failures as failing
from kafka_migration.orchestration.triggers import announcement
from tests.airflow.world import World

pytestmark = pytest.mark.airflow

PLUGINS = Path(__file__).parents[2] / "plugins"


@pytest.mark.parametrize("version", ["3.2.1", "3.1.8", "3.0.6", "2.11.0", "main", ""])
def test_airflow_that_is_too_old_is_named(version: str) -> None:
    """The finding has the version that was found, the one that is needed, and why it is needed."""
    (finding,) = airflow_findings(version)

    assert (Code.AIRFLOW_TOO_OLD, version or "no version", "3.2.2 or newer") == (
        finding.code,
        finding.found,
        finding.expected,
    )
    assert "Airflow 3.1 and older lack what this package needs" in finding.matters


@pytest.mark.parametrize("version", ["3.2.2", "3.2.10", "3.3", "3.3.2rc1", "3.10.0", "4.0.0"])
def test_later_airflow_is_not_refused(version: str) -> None:
    """Versions are compared as numbers, and a newer version is no reason to refuse."""
    assert () == airflow_findings(version)


def test_refused_airflow_is_not_installed_with_the_package() -> None:
    """Preflight refuses exactly the versions that are older than what `pyproject.toml` requires."""
    dependencies = tomllib.loads((PLUGINS.parent / "pyproject.toml").read_text())["project"]["dependencies"]
    (required,) = (each for each in dependencies if each.startswith("apache-airflow>"))

    assert required.startswith(f"apache-airflow>={'.'.join(map(str, OLDEST))},")


def test_dag_file_of_an_old_airflow_has_one_dag_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The DAG file can be parsed; the page of its only DAG and the log of its only task have the finding."""
    monkeypatch.setattr(factory, "AIRFLOW_VERSION", "3.1.8")

    ((dag_id, dag),) = factory.migration_dags().items()

    assert "kafka_migration" == dag_id == dag.dag_id
    assert "invalid" in dag.tags
    (task,) = dag.tasks
    assert isinstance(task, RefusingOperator)
    with caplog.at_level(logging.ERROR), pytest.raises(SystemExit):
        task.execute({})
    for text in (str(dag.doc_md), caplog.text):
        assert "Airflow 3.1.8 is installed, and this package needs 3.2.2 or newer." in text


def test_plugin_and_commands_survive_an_old_airflow() -> None:
    """With an Airflow that is too old the plugin adds nothing, and a command answers with the finding."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import airflow; airflow.__version__ = '3.1.8'\n"
        "for name in ('conf', 'observability'): sys.modules[f'airflow.sdk.{name}'] = None\n"
        "import kafka_migration_plugin as made\n"
        "plugin = made.KafkaMigrationPlugin\n"
        "print([plugin.operator_extra_links, plugin.fastapi_apps, plugin.listeners])\n"
        "from kafka_migration.cli.shell.usage_problems import findings_of\n"
        "print(findings_of(ImportError('conf'))[0].code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(PLUGINS)], capture_output=True, text=True, check=True)

    assert ["[[], [], []]", "AIRFLOW_TOO_OLD"] == done.stdout.splitlines()[-2:]


def test_refusal_without_retry_policies_is_airflows_own_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without retry policies only Airflow's own exception prevents a retry; the text is the same."""
    monkeypatch.setattr(airflow_version, "HAS_RETRY_POLICIES", False)
    spec = importlib.util.spec_from_file_location("failing_again", failing.__file__)
    assert spec is not None
    assert spec.loader is not None
    again: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)

    refusal = again.FailedForGood("COPY_DIFFERS")
    assert isinstance(refusal, AirflowFailException)
    assert "COPY_DIFFERS" == str(refusal)
    assert not isinstance(again.FailedForNow("later"), AirflowFailException)
    operator = SimpleNamespace()
    again.never_again(operator)
    assert {} == vars(operator)


@pytest.mark.parametrize("resumes", [True, False])
def test_trigger_looks_for_the_answer_if_airflow_does_not_bring_it(
    world: World, monkeypatch: pytest.MonkeyPatch, resumes: bool
) -> None:
    """The trigger gets the question of its task only where Airflow does not resume the task with the answer."""
    monkeypatch.setattr(asking_producers, "RESUMES_TASKS_WITH_ANSWERS", resumes)

    world.do("preflight")

    deferred = asking_producers.waiting_for_watch(world.run, "answered", is_over=True, asked=world.context())

    question = None if resumes else world.task_instance.id
    assert question == deferred.trigger.serialize()[1]["question"]


def test_answer_is_that_of_airflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is passed on as Airflow 3.3 passes it; an open question and one that cannot be read are no answer."""
    found: Any = SimpleNamespace(response_received=False)
    monkeypatch.setattr(announcement, "get_hitl_detail_content_detail", lambda ti_id: found)
    question = "0190c6f5-0000-7000-8000-000000000000"
    assert announcement.answer_to(question) is None

    user = SimpleNamespace(id="1", name="ada")
    found = SimpleNamespace(response_received=True, chosen_options=["Yes"], responded_at=5, responded_by_user=user)
    expected = {"chosen_options": ["Yes"], "responded_at": 5, "responded_by_user": {"id": "1", "name": "ada"}}
    assert expected == announcement.answer_to(question)

    monkeypatch.setattr(announcement, "get_hitl_detail_content_detail", lambda ti_id: 1 / 0)
    assert announcement.answer_to(question) is None
