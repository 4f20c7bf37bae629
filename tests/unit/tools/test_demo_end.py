"""How the demo ends: an experiment that succeeded passes, one that failed fails."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from sandbox.connect import workers_on
from sandbox.demo import __main__ as demo
from sandbox.demo.display import PlainDisplay
from sandbox.demo.evidence import Finding, Place, RunEvidence
from sandbox.demo.failure import DemoFailed
from sandbox.demo.runs import FinishedRun
from sandbox.demo.story import Story

PLACE = Place("altered", "orders", 2, 30824, 30824)


@pytest.mark.parametrize(
    ("outcome", "last_line", "exit_code"),
    [
        ("", "DEMO PASS", 0),
        (f"COPY_DIFFERS {PLACE}", f"DEMO PASS: the damage was found: COPY_DIFFERS {PLACE}", 0),
        (DemoFailed("the damage was not found"), "DEMO FAIL: the damage was not found", 1),
        (KeyboardInterrupt(), "DEMO FAIL: interrupted", 130),
        (SystemExit(143), "DEMO FAIL: interrupted", 143),
        (ValueError("odd"), "DEMO FAIL: ValueError: odd", 1),
    ],
)
def test_the_last_line_and_the_exit_code_say_the_same(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcome: str | BaseException,
    last_line: str,
    exit_code: int,
) -> None:
    """PASS goes with 0 and FAIL with anything else; a damage that was found is a PASS that says where."""

    def tell(*_: object) -> str:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(demo, "_demo", tell)

    assert exit_code == demo.main(["--damage", "alter"])
    assert last_line == capsys.readouterr().out.splitlines()[-1]


def test_nights_have_one_engine(capsys: pytest.CaptureFixture[str]) -> None:
    """The nightly sync of the full demo has a migration file of one engine, so another one is wrong usage."""
    with pytest.raises(SystemExit) as ended:
        demo.main(["--full", "--engine", "connect"])

    assert ended.value.code == 2
    assert "--full shows a nightly sync" in capsys.readouterr().err


def test_engines_copy_the_same() -> None:
    """The demo's files differ in `mirror` only, so both engines have to show the same."""
    files = {name: setting.migrations / "demo.yaml" for name, setting in demo.SETTINGS.items()}
    documents = {name: yaml.safe_load(file.read_text()) for name, file in files.items()}
    engines = {name: document.pop("mirror").get("engine", demo.DEFAULT_ENGINE) for name, document in documents.items()}

    assert {name: name for name in files} == engines
    assert all(document == documents[demo.DEFAULT_ENGINE] for document in documents.values())


def test_file_names_the_topics_of_the_workers(tmp_path: Path) -> None:
    """What the file of the engine says about the workers is what the sandbox configures."""
    said = yaml.safe_load((demo.SETTINGS["connect"].migrations / "demo.yaml").read_text())["mirror"]["connect"]
    (worker,) = workers_on((1,), tmp_path, "target:9092")
    kept = worker.properties()

    topics = {f"{kind}_topic": kept[f"{kind}.storage.topic"] for kind in ("status", "config", "offset")}
    assert {**topics, "group": kept["group.id"]} == said


def test_a_damage_is_found_where_it_is() -> None:
    """The run that failed at the damaged place has found it."""
    assert f"COPY_DIFFERS {PLACE}" == found("failed", "FAIL", finding(PLACE))


@pytest.mark.parametrize(
    ("state", "verdict", "places", "text"),
    [
        ("success", "PASS", [], "the damage was not found"),
        ("failed", "PASS", [PLACE], "the damage was not found"),
        ("failed", "FAIL", [], "the damage was not found"),
        ("failed", "FAIL", [PLACE._replace(source_offset=30825)], "the damage is at .*30824.* the run names .*30825"),
    ],
)
def test_a_damage_that_no_run_names_fails_the_demo(state: str, verdict: str, places: list[Place], text: str) -> None:
    """The demo fails without a failed run, its verdict FAIL and a finding that names the place."""
    with pytest.raises(DemoFailed, match=text):
        found(state, verdict, *map(finding, places))


def found(state: str, verdict: str, *findings: Finding) -> str:
    run: Any = SimpleNamespace(state=state)
    sandbox: Any = SimpleNamespace(state=None)
    evidence = RunEvidence(Path("/nowhere"), verdict, "ended", {}, findings)
    story = Story(sandbox, None, PlainDisplay())  # type: ignore[arg-type]
    return story._find(FinishedRun("Validate", run, 1.0, evidence), PLACE)


def finding(place: Place) -> Finding:
    where = f"at source offset {place.source_offset}, target offset {place.target_offset}"
    subject = f"topic {place.topic}, partition {place.partition}"
    return Finding("COPY_DIFFERS", subject, f"first difference {place.kind} {where}", "the same records", "look")
