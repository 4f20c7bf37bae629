"""Rules of `status --topic`: which partitions of a topic are behind now, as both clusters say it."""

from __future__ import annotations

import json

import pytest

from kafka_migration.cli.main import main
from kafka_migration.cli.runs import topic_status
from tests.airflow.world import World
from tests.shown_codes import shown_codes
from tests.steps.world import P0, P1, RECORD


@pytest.fixture
def shown(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world with records in both partitions, which the command sees as its Airflow."""
    monkeypatch.setattr(topic_status, "shown_deployment", lambda migrations: world.deployment)
    world.source.produce("orders", 0, *[RECORD] * 5)
    world.source.produce("orders", 1, *[RECORD] * 9)
    return world


def asked(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[str], list[str]]:
    """Return the exit code, the lines of the answer and the codes of the findings."""
    capsys.readouterr()
    code = main(["status", "shop", "--topic", *options])
    out, err = capsys.readouterr()
    return code, out.splitlines(), shown_codes(err)


def test_partitions_that_are_behind_are_shown_worst_first(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """While MirrorMaker runs, each partition with offsets left up to the source's present end is named."""
    shown.start()
    shown.mirror({P0: 2, P1: 4})
    code, out, codes = asked(capsys, "orders")

    assert (0, []) == (code, codes)
    assert ["Generation  1 is open", "Behind      2 of 2 partitions, up to the present end of the source"] == out[3:5]
    assert [
        "PARTITION  NEXT OFFSET  SOURCE END  OFFSETS LEFT",
        "1          4            9           5",
        "0          2            5           3",
    ] == out[6:]


def test_copied_partition_is_not_behind(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A partition that is copied to its end is only counted, and a topic without others has no table."""
    shown.start()
    shown.mirror({P0: 5, P1: 8})
    assert ["1          8            9           1"] == asked(capsys, "orders")[1][7:]

    shown.mirror({P1: 1})
    assert "Behind      0 of 2 partitions, up to the present end of the source" == asked(capsys, "orders")[1][-1]


def test_end_that_cannot_be_read_is_unknown_and_first(
    shown: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unknown is neither zero nor the end that was known before."""
    shown.start()
    shown.mirror({P0: 2, P1: 4})
    ends = shown.source.log_end_offsets
    monkeypatch.setattr(shown.source, "log_end_offsets", lambda asked, *of: {P1: ends([P1], *of)[P1]})
    out = json.loads("\n".join(asked(capsys, "orders", "-o", "json")[1]))

    assert [(0, None, None), (1, 9, 5)] == [(e["partition"], e["source_end"], e["lag"]) for e in out["behind"]]


def test_without_an_open_generation_nothing_is_read(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """If no MirrorMaker runs, the command that shows what the next run copies is named."""
    shown.source.is_down = True
    line = "Generation  none is open; what the next run copies: kafka-migration plan shop --topic orders"

    assert (0, line) == (asked(capsys, "orders")[0], asked(capsys, "orders")[1][-1])


def test_topic_that_is_not_copied_now_is_refused(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that the running MirrorMaker does not copy is a finding that names those that it does."""
    shown.start()

    assert (3, ["RUN_CONF_INVALID"]) == asked(capsys, "other")[::2]


@pytest.mark.parametrize("wrong", [[], ["shop", "--check"], ["shop", "--watch"]])
def test_topic_needs_a_migration_and_no_other_form(wrong: list[str]) -> None:
    """Wrong usage is refused before anything is read."""
    with pytest.raises(SystemExit, match="2"):
        main(["status", "--topic", "orders", *wrong])
