"""The Grafana dashboard: its form, and that each expression finds something in what the runs send."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from kafka_migration.core.kafka.offsets import Known
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.report.metrics import MetricName
from kafka_migration.core.watching.progress import ProgressMeter
from tests.monitoring.promtool import RULES, STEP_S, Story, at, input_series, unit_tests
from tests.monitoring.statsd import FILES, every_metric, lines_of, mapped

DASHBOARD = json.loads((FILES / "grafana-dashboard.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
SCHEMAS = Path(__file__).with_name("grafana")
EXPRESSIONS = {f"{panel['title']}/{each['refId']}": each["expr"] for panel in PANELS for each in panel["targets"]}
# What Grafana writes instead of its variables.
VARIABLES = {"$migration": "shop|books", "$__range": "6h"}
HOURS = 12
SENT = [(series.name, dict(series.labels)) for series in mapped(lines_of(every_metric()))]


def schema(name: str, definition: str = "") -> Draft7Validator:
    """Return the validator of a schema of Grafana, or of one of its definitions."""
    found = _with_any_values(json.loads((SCHEMAS / f"{name}.jsonschema.json").read_text()))
    return Draft7Validator({**found, "$ref": f"#/definitions/{definition}"} if definition else found)


def _with_any_values(found: Any) -> Any:
    """Return a schema that allows any value where Grafana's own definition does; the files say *object* there."""
    if isinstance(found, dict):
        is_any = {key: value for key, value in found.items() if key != "description"} == ANY
        return {} if is_any else {key: _with_any_values(value) for key, value in found.items()}
    return [_with_any_values(each) for each in found] if isinstance(found, list) else found


ANY = {"type": "object", "additionalProperties": {}}


def mistakes(validator: Draft7Validator, value: object) -> list[str]:
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in validator.iter_errors(value)]


def test_schemas_are_those_of_grafana() -> None:
    """The schemas are unchanged."""
    listed = dict(line.split()[::-1] for line in (SCHEMAS / "SHA256SUMS").read_text().splitlines())

    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in SCHEMAS.glob("*.json")}


def test_dashboard_fits_its_schema() -> None:
    """The dashboard has what Grafana's schema requires, and no field that Grafana does not know."""
    assert [] == mistakes(schema("dashboard"), DASHBOARD)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_panel_fits_the_schema_of_its_kind(panel: dict[str, Any]) -> None:
    """Options, field settings and queries are those of the kind of panel and of Prometheus."""
    kind, custom = panel["type"].replace("-", ""), panel["fieldConfig"]["defaults"].get("custom")

    assert [] == mistakes(schema(kind, "Options"), panel["options"])
    assert custom is None or [] == mistakes(schema(kind, "FieldConfig"), custom)
    assert [] == [text for target in panel["targets"] for text in mistakes(schema("prometheus"), target)]


def test_schema_finds_a_misspelt_field() -> None:
    """The schemas are closed: a field that Grafana would ignore is a mistake."""
    assert mistakes(schema("dashboard"), {**DASHBOARD, "panel": []})
    assert mistakes(schema("stat", "Options"), {**PANELS[0]["options"], "colourMode": "none"})


def test_panels_explain_themselves() -> None:
    """Each panel has a title of its own, a sentence, a unit or a mapping, and thresholds or a table."""
    assert len(PANELS) == len({panel["title"] for panel in PANELS})
    for panel in PANELS:
        defaults = panel["fieldConfig"]["defaults"]
        assert re.fullmatch(r"[A-Z].*\.", panel["description"]), panel["title"]
        assert panel["type"] == "table" or ("thresholds" in defaults and ("unit" in defaults or "mappings" in defaults))


def test_panels_do_not_overlap() -> None:
    """No two panels are in the same place, and none is wider than the page."""
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)


def test_dashboard_names_no_place() -> None:
    """The data source and the migrations are variables; no host, address or id of an installation is named."""
    text = json.dumps(DASHBOARD)

    assert {"datasource", "migration"} == {each["name"] for each in DASHBOARD["templating"]["list"]}
    assert {"${datasource}"} == set(re.findall(r'"datasource": \{"type": "prometheus", "uid": "(.*?)"\}', text))
    assert not re.search(r"https?:|localhost|\d+\.\d+\.\d+|instance|job=", text)


def test_every_metric_is_shown_or_said_why_not() -> None:
    """Each metric is on the dashboard; of the limit of the next start only the moment is, which stays right."""
    shown = set(re.findall(r"airflow_kafka_migration_(\w+?)(?:_total)?\b", " ".join(EXPRESSIONS.values())))

    assert set(MetricName) - {MetricName.GAP_HEADROOM} == shown


def test_expressions_name_what_is_sent() -> None:
    """Each metric, label and value of a label in dashboard and rules is one that the mapping makes."""
    texts = [*EXPRESSIONS.values(), RULES.read_text()]

    assert [] == [mistake for text in texts for mistake in wrong_names(text)]


@pytest.mark.parametrize(
    "wrong",
    [
        "airflow_kafka_migration_lags",
        'airflow_kafka_migration_lag{mode="sync"}',
        'airflow_kafka_migration_ended{run=~"failed|success_full"}',
        'airflow_kafka_migration_ended{run!="done"}',
        "sum by (migrations) (airflow_kafka_migration_lag)",
    ],
)
def test_wrong_name_is_found(wrong: str) -> None:
    """A metric, a label, a value or a label of a group that is never sent is found."""
    assert list(wrong_names(wrong))


def wrong_names(text: str) -> Iterator[str]:
    """Yield each metric, label or value that the mapping does not make of what is sent."""
    for name, braces in re.findall(r"\b(airflow_kafka_migration_\w+)(?:\{([^}]*)\})?", text):
        for label, operator, values in re.findall(r'(\w+)(=~|!=|=)"([^"]*)"', braces) or [("migration", "=", "shop-1")]:
            for value in ["shop-1"] if values == "$migration" else values.split("|"):
                if not any(name == sent and labels.get(label) == value for sent, labels in SENT):
                    yield f"{name}{{{label}{operator}{value}}}"
    known = {label for _, labels in SENT for label in labels}
    for labels in re.findall(r"\b(?:by|on|ignoring|without) \(([^)]*)\)", text):
        yield from set(re.split(r", ?", labels)) - known


def busy_story() -> Story:
    """Return a migration whose cutover waits for its producers, after a failed run."""
    story, meter = Story("shop"), ProgressMeter(1000)
    for second in range(3):
        meter.add(second, 100 * second)
    of = story.of
    story.then(1, *of.judged("PASS", at(1)), *of.next_start(at(20), at(1)))
    story.then(10, *of.judged("FAIL", at(10)), *of.ended("failed", at(10)), *of.freed(Phase.SYNCING))
    story.then(10, of.alerted(AlertKind.REFUSED), *of.began(Mode.CUTOVER, at(11)))
    return story.then(HOURS, *of.polled(Known(800), meter, at(HOURS), at(11)))


def left_story() -> Story:
    """Return a migration whose MirrorMaker was left running."""
    story = Story("books")
    return story.then(2, story.of.watched(at(2)))


def test_every_expression_finds_something(tmp_path: Path) -> None:
    """Prometheus understands each expression, which has a result where its panel should show one."""
    series = input_series([busy_story(), left_story()], HOURS)

    evaluate(tmp_path, series, [{"labels": "{}", "value": 1}])


def test_unknown_is_no_zero(tmp_path: Path) -> None:
    """Without any metric no panel shows a number: no data is not the same as none."""
    evaluate(tmp_path, [{"series": "up", "values": "1"}], [])


def evaluate(folder: Path, series: list[dict[str, str]], expected: list[dict[str, Any]]) -> None:
    """Let promtool evaluate whether each expression has a result; one that counts must find more than 0."""
    tests = [
        {
            "expr": f"max({found(expr)}) > bool 0" if expr.startswith("count(") else f"count({found(expr)}) > bool 0",
            "eval_time": f"{HOURS}h",
            "exp_samples": expected,
        }
        for expr in EXPRESSIONS.values()
    ]
    unit_tests(folder, [{"interval": f"{STEP_S}s", "input_series": series, "promql_expr_test": tests}])


def found(expression: str) -> str:
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    return expression
