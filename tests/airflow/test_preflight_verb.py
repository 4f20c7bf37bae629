"""Rules of the command `preflight`: it runs the checks of a run, and it writes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafka_migration.cli.main import main
from kafka_migration.cli.runs import preflight_verb as preflight_module
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.check import Asked
from tests.airflow.world import World
from tests.checked_scene import OF_CONNECT
from tests.json_fields import undocumented

NOT_ASKED = {
    **dict.fromkeys(
        OF_CONNECT,
        "not applicable: MirrorMaker 2 is a process on a host; engine connect uses a Kafka Connect cluster",
    ),
    "keys": "not applicable: MirrorMaker 2 keeps the partitions of the source",
    "versions": "not applicable: MirrorMaker of Kafka 3.9.1 works with old brokers too",
}


@pytest.fixture
def shown(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world that the command sees as its Airflow."""
    monkeypatch.setattr(preflight_module, "shown_deployment", lambda migrations: world.deployment)
    return world


def files(world: World) -> dict[str, str]:
    """Return all files of the evidence root."""
    return {str(path): path.read_text() for path in world.root.rglob("*") if path.is_file()}


def codes_in(err: str) -> list[str]:
    """Return the codes of the findings on standard error; the sentences of a finding are lines of their own."""
    return [line.split(" · ")[0] for line in err.splitlines() if " · " in line]


def test_each_check_is_shown_in_order(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The command shows the checks of the task in their order, and ends with 0 if all passed."""
    assert 0 == main(["preflight", "shop"])
    out, err = capsys.readouterr()

    rows = [re.split(r" {2,}", line) for line in out.splitlines()]
    assert [["CHECK", "RESULT"], *([check.name, NOT_ASKED.get(check.name, "passed")] for check in CHECKS)] == rows
    assert "" == err


def test_a_person_who_waits_sees_what_is_asked(shown: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line about the progress names each party before its first check asks, also with JSON output.

    A party that the run does not have is not named.
    """
    events: list[str] = []
    monkeypatch.setattr(preflight_module, "working", events.append)
    monkeypatch.setattr(shown.host, "status", lambda: events.append("the host is asked"))
    main(["preflight", "shop", "-o", "json"])

    assert events.index("Checking the MirrorMaker host") < events.index("the host is asked")
    parties = dict.fromkeys(check.party.words for check in CHECKS if check.party is not Asked.CONNECT)
    assert [f"Checking {words}" for words in parties] == [each for each in events if each != "the host is asked"]


def test_junit_has_a_case_for_each_check(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A failed check is a failure with its finding, one that does not apply is skipped with the reason."""
    del shown.connections["spark"]
    assert 3 == main(["preflight", "shop", "-o", "junit"])
    cases = ElementTree.fromstring(capsys.readouterr().out).iter("testcase")
    outcomes = {case.get("name"): [(each.tag, each.get("message")) for each in case] for case in cases}

    assert [check.name for check in CHECKS] == list(outcomes)
    assert [("skipped", "the check connections did not pass")] == outcomes["clusters"]
    assert [("failure", "SPARK_CONNECTION_MISSING · connection spark (validation.spark_connection)")] == outcomes[
        "connections"
    ]
    assert [] == outcomes["schedule"]


def test_nothing_is_written(shown: World) -> None:
    """The command writes no evidence, reserves nothing on the host and creates no topic."""
    shown.do("preflight", "reserve", "plan", "create_topics")
    before = files(shown), set(shown.target.topics), shown.host.holder
    shown.host.calls.clear()

    assert 0 == main(["preflight", "shop"])
    assert before == (files(shown), set(shown.target.topics), shown.host.holder)
    assert {"status", "fingerprint", "probe", "close"} == set(shown.host.calls)


def test_findings_of_all_checks_are_shown(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A check that needs a failed check is not applicable, and every finding is a line of standard error."""
    del shown.connections["spark"]
    shown.source.delete_topics(["audit"])
    shown.target.create_topics([NewTopic("orders", 3, 1, {})])
    assert 3 == main(["preflight", "shop"])
    out, err = capsys.readouterr()

    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "clusters not applicable: the check connections did not pass" in lines
    assert ["SPARK_CONNECTION_MISSING"] == codes_in(err)
    shown.connections["spark"] = "spark"
    assert 3 == main(["preflight", "shop"])
    assert ["SOURCE_TOPIC_MISSING", "TOPIC_PARTITIONS_DIFFER", "TOPIC_CONFIG_DIFFERS"] == codes_in(
        capsys.readouterr()[1]
    )


def test_the_checks_see_the_ledger(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A mode that the phase of the migration does not allow is refused as in a run."""
    shown.run.ledger.append(CutOver("dag/run#1", "then", (), ("orders", "audit"), partly=False).to_document())

    assert 3 == main(["preflight", "shop", "--mode", "cutover"])
    assert capsys.readouterr()[1].startswith("ALREADY_CUT_OVER")
    assert 0 == main(["preflight", "shop", "--mode", "fail_back"])


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (
            ["--topic", "foreign"],
            "RUN_CONF_INVALID · run conf field topics\n"
            "  The run conf field topics is not what the run accepts: 'foreign', instead of",
        ),
        (["--mode", "sync", "--group", "billing"], "RUN_CONF_INVALID · run conf field groups"),
        (["--mode", "follow", "--follow-until", "tomorrow"], "RUN_CONF_INVALID · run conf field follow_until"),
        (["--mode", "validate", "--generations", "3,5"], "RUN_CONF_INVALID · run conf field generations"),
    ],
)
def test_fields_of_the_form_are_checked(
    shown: World, capsys: pytest.CaptureFixture[str], options: list[str], found: str
) -> None:
    """A value that a run would refuse is refused with the words of the run."""
    assert 3 == main(["preflight", "shop", *options])
    assert capsys.readouterr()[1].startswith(found)


def test_patterns_are_resolved(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The topics of a file with patterns are those that the source has now."""
    shown.edit_file("[orders, audit]", "[{pattern: 'o.*'}, {pattern: 'none.*'}]")

    assert 3 == main(["preflight", "shop"])
    assert capsys.readouterr()[1].startswith("PATTERN_MATCHES_NOTHING")


def test_json_has_the_document_of_the_evidence(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Each check is shown as in the evidence of a run."""
    shown.target.brokers = 0
    assert 3 == main(["preflight", "shop", "-o", "json", "--topic", "orders"])
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert set() == undocumented("preflight", document)
    failed = [check for check in document["checks"] if check["state"] == "failed"]

    assert ("", 1, "shop", False) == (err, document["schema"], document["migration"], document["has_passed"])
    assert {"mode": "rehearse", "topics": ["orders"]} == document["conf"]
    assert ["REPLICATION_FACTOR_TOO_HIGH"] == [finding["code"] for finding in failed[0]["findings"]]


def test_accepted_findings_are_shown(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """What the migration file accepts neither refuses nor warns, and is shown with its object in both forms."""
    shown.target.create_topics([NewTopic("orders", 2, 1, {"segment.ms": "3600000"})])
    shown.extend_file("accept: [TOPIC_CONFIG_DIFFERS, CERTIFICATE_ENDS_SOON]\n")
    assert 0 == main(["preflight", "shop"])
    out, err = capsys.readouterr()
    assert 0 == main(["preflight", "shop", "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    (accepted,) = [check for check in document["checks"] if check["state"] == "accepted"]

    assert "topics accepted: TOPIC_CONFIG_DIFFERS" in [" ".join(line.split()) for line in out.splitlines()]
    assert "\naccepted: TOPIC_CONFIG_DIFFERS · topic orders: The target's topic orders has other settings" in out
    assert ("", True, "accepted") == (err, document["has_passed"], accepted["state"])
    assert ["orders" in finding["subject"] for finding in accepted["accepted"]] == [True]


def test_connections_of_this_airflow(tmp_path: Path, migration_text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a test's clusters the command asks Airflow for the connections of the file."""
    (tmp_path / "shop.yaml").write_text(migration_text)

    assert 3 == main(["preflight", "shop", "--migrations", str(tmp_path)])
    missing = [line for line in capsys.readouterr()[1].splitlines() if "CONNECTION_MISSING" in line]
    assert 3 == len(missing)
    assert "connection old_kafka (source.connection), new_kafka (target.connection)" in missing[0]
