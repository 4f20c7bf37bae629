"""The report of a run whose every text is hostile: no foreign text becomes Markdown."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import TargetOnly
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_status import run_note
from kafka_migration.core.text import markdown
from kafka_migration.report_formats.markdown_report import render_report
from tests.markdown_text import blocks
from tests.stored_examples import read_run
from tests.unit.report.test_report_of_a_run import APPROVE, P0, TOPIC, WHOLE, document_of, plan_of, with_step

HOSTILE = (
    "<img src=x> [x](http://y.example) ![x](http://y.example/p.png) <http://y.example> *b* __u__ ~~s~~ <!-- --> &lt;",
    "a | b || d \\| e `code` \x1b[2J\x07\x00\u202e\u2066",
    "# heading",
    "1. item",
    "    code",
    "```",
    "a\n# heading\n\n- item\n\n> quote\r\n\r\n## heading\u2028# heading\x85# b\n===",
    "x\n| a | b |\n|---|---|\n| c | d |",
)
WARNING = Finding(Code.GAP, "s", "f", "e", "r", happened="h", matters="m")
FINDING = WARNING.to_document()
DIFFERENCE = {
    "kind": "missing",
    "fields": ["value"],
    "source_partition": 0,
    "source_offset": 5,
    "target_partition": None,
    "target_offset": None,
}
BAD_TOPIC = {
    **TOPIC,
    "verdict": "FAIL",
    "whole": {**WHOLE, "standing": "FAIL", "proved": False, "reasons": ["why"]},
    "differences": {"counts": {"missing": 1}, "first": [DIFFERENCE], "target_topic": "orders"},
}
TARGET_ONLY = TargetOnly("orders", {P0: 5}, records=3, is_exact=True)
CERTIFICATE = {"graceful": True, "generation": 1, "exit_code": 0, "reason": "stopped"}


STILL = {
    "began_at": "then",
    "ended_at": "later",
    "phases": [{"phase": "plan", "seconds": 61}, {"phase": "writing", "seconds": None}],
    "person_s": 5,
}


def whole_run() -> dict[str, Any]:
    """Return a run with every section of the report."""
    run = with_step(
        document_of(
            reason="nothing",
            note="note",
            generations="1-2",
            interval={"start": "2030-01-01T00:00:00+00:00", "end": "2030-01-02T00:00:00+00:00"},
            topics=[BAD_TOPIC],
            findings=[FINDING],
            warnings=[FINDING],
            hooks=[{"hook": "before", "called": "dag", "at": "then", "result": "done"}],
            decommission=[{"condition": "c", "state": "not met", "reasons": ["why"]}],
            stood_still={"producers": STILL, "consumers": STILL},
        ),
        **{
            "topic-list": {"topics": ["a"], "new": ["a"], "vanished": ["b"], "left_out": {"c": "why"}, "unmatched": []},
            "offsets-plan": {"plan": plan_of(Mode.CUTOVER, WARNING).to_document()},
            "rollback-plan": {"plan": plan_of(Mode.RESTORE, target_only=(TARGET_ONLY,)).to_document()},
            "rolled-back": {"next_steps": ["do"]},
            "preflight": {"accepted": [FINDING]},
            "producers": {"chosen": "yes", "by": "eve", "announced_at": "a", "answered_at": "b", "until": "c"},
            "approve": APPROVE,
        },
    )
    run["groups"] = [{**run["groups"][0], "reasons": ["why"]}]
    run["steps"]["watch"]["progress"] = "half"
    run["steps"]["stop"]["certificate"] |= CERTIFICATE
    run["steps"]["stop"]["forecast"] = {"at": "2031-01-01T00:00:00+00:00", "partition": "p", "reason": "r"}
    return run


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each text in a document, and of each key of an object that is free."""
    if isinstance(value, str):
        yield path
    children = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def changed(run: dict[str, Any], path: tuple[Any, ...], text: Any) -> dict[str, Any]:
    """Return the run with another text, or another value, in one place."""
    run = copy.deepcopy(run)
    inner: Any = run
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = text
    return run


RUN = whole_run()


def report_of(document: dict[str, Any]) -> str:
    return render_report(read_run(document))


def is_free(path: tuple[Any, ...]) -> bool:
    """Whether any text may stand in a place; another text in the other places is another form of the document."""
    try:
        return not read_run(changed(RUN, path, "plain")).steps.unfit
    except DoesNotFit:
        return False


EVERY_PLACE = list(places(RUN))


@pytest.fixture(scope="module")
def free_places() -> list[tuple[Any, ...]]:
    """The places where any text may stand."""
    return [path for path in EVERY_PLACE if is_free(path)]


def test_few_places_have_a_fixed_text(free_places: list[tuple[Any, ...]]) -> None:
    """Only words of a fixed set and moments are no free text, so that the next test covers all others."""
    fixed = {path[-1] for path in EVERY_PLACE if path not in free_places}

    states = {"mode", "proof", "verdict", "whole_verdict", "state", "phase", "run_type", "outcome"}
    assert {"code", "kind", "start", "end", *states} == fixed


@pytest.fixture(params=[1, 10**6], ids=["narrow", "wide"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window in which each word has a line and each table is a list, or one in which nothing is."""
    monkeypatch.setattr(markdown, "WIDTH", request.param)


@pytest.mark.usefixtures("width")
def test_no_text_of_a_run_becomes_markup(free_places: list[tuple[Any, ...]]) -> None:
    """Whatever text stands in any field, the report keeps its headings, lists and cells, and gets no link or HTML."""
    assert len(free_places) > 100
    for path in free_places:
        shapes = [blocks(report_of(changed(RUN, path, text))) for text in ("plain", *HOSTILE)]
        # Another mode or outcome has other sections.
        if path not in {("mode",), ("groups", 0, "outcome")}:
            assert [] == [text for text, each in zip(HOSTILE, shapes[1:], strict=True) if each != shapes[0]], path


@pytest.mark.parametrize(
    "path",
    [
        ("steps", "topic-list", "left_out"),
        ("tasks",),
    ],
    ids=str,
)
@pytest.mark.usefixtures("width")
def test_no_name_in_a_run_becomes_markup(path: tuple[str, ...]) -> None:
    """Names that are keys of an object are escaped too."""
    inner: Any = RUN
    for key in path:
        inner = inner[key]
    plain = blocks(report_of(changed(RUN, path, {**inner, "plain": next(iter(inner.values()))})))
    for text in HOSTILE:
        assert plain == blocks(report_of(changed(RUN, path, {**inner, text: next(iter(inner.values()))})))


OTHER_VALUES: list[Any] = [
    None,
    True,
    10**400,
    float("nan"),
    "9999-12-31T23:59:59+00:00",
    "\ud800",
    [],
    {"a": {"": {}}},
]


def every_path(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in a document."""
    children = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from every_path(child, (*path, key))


def test_no_value_stops_the_report() -> None:
    """Whatever value stands anywhere, the run is refused as a whole, or its report, note and JSON are written."""
    random = Random(1)
    paths = list(every_path(RUN))
    for _ in range(400):
        path, value = random.choice(paths), random.choice(OTHER_VALUES)
        try:
            run = read_run(changed(RUN, path, value))
        except DoesNotFit:
            continue
        assert render_report(run).encode()
        assert run_note(run)
        assert json.dumps(run.to_document())
