"""Rules of the demo's records: the same each time, and of every kind that a migration has to cope with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, pairwise

import pytest

from sandbox.data import records
from sandbox.data.records import BY_KEY, JITTER_MS, SPAN_MS, Record

START_MS = 1_760_000_000_000
COUNT = 5_000
Generate = Callable[..., Iterator[Record]]
GENERATORS = [records.orders, records.payments, records.audit, records.transfers]


def _times() -> list[int]:
    return list(records.spread(START_MS, COUNT))


@pytest.mark.parametrize("generate", GENERATORS)
def test_same_times_give_the_same_records(generate: Generate) -> None:
    """Content depends on nothing but the times and the stream's name."""
    assert list(generate(_times())) == list(generate(_times()))


@pytest.mark.parametrize("generate", GENERATORS)
def test_streams_share_no_value(generate: Generate) -> None:
    """Two streams of one topic never hold the same record, so none can pass for another one's copy."""
    history = {record.value for record in generate(_times())}
    other = {record.value for record in generate(_times(), "other")}

    assert {None, b""} >= history & other


@pytest.mark.parametrize("generate", GENERATORS)
def test_start_moves_the_times_only(generate: Generate) -> None:
    """Another start gives the same keys, values, headers and partitions, that much later."""
    later = generate(records.spread(START_MS + 7, COUNT))

    assert list(generate(_times())) == [record._replace(timestamp_ms=record.timestamp_ms - 7) for record in later]


def test_times_fill_the_span_and_are_not_sorted() -> None:
    """Record times begin at the start, end shortly before the span's end, and go back now and then."""
    times = _times()

    assert min(times) >= START_MS
    assert START_MS + SPAN_MS * 0.99 < max(times) < START_MS + SPAN_MS
    assert max(earlier - later for earlier, later in pairwise(records.spread(START_MS, COUNT, 1_000))) > 0
    assert max(earlier - later for earlier, later in pairwise(times)) < JITTER_MS


def test_orders_are_unique_keyed_json_of_ordinary_size() -> None:
    """Each order event exists once, has a customer as its key and 100 to 200 bytes."""
    found = list(records.orders(_times()))

    assert len({record.value for record in found}) == COUNT
    assert all(record.key and record.partition == BY_KEY for record in found)
    assert all(100 <= len(record.value or b"") <= 200 for record in found)


def test_orders_of_one_key_follow_each_other_at_times() -> None:
    """The order of neighbours matters to consumers where both have one key."""
    neighbours = sum(one.key == other.key for one, other in pairwise(records.orders(_times())))

    assert neighbours > COUNT / 5


def test_payments_have_every_kind_of_header_and_value() -> None:
    """No header, a null one, an empty one, a binary one, a repeated key; tombstones and empty values."""
    found = list(records.payments(_times()))
    values = {value for record in found for _, value in record.headers}

    assert any(record.headers == () for record in found)
    assert {None, b""} <= values
    assert any(len(names) > len(set(names)) for record in found if (names := [name for name, _ in record.headers]))
    assert any(max(value or b"", default=0) > 127 for value in values)
    assert {type(record.value) for record in found} == {bytes, type(None)}
    assert any(record.value == b"" for record in found)


def test_audit_has_no_keys_and_uses_both_partitions() -> None:
    """Null-key records name their partition, else two sandboxes would hold different logs."""
    found = list(records.audit(_times()))

    assert {record.key for record in found} == {None}
    assert {record.partition for record in found} == {0, 1}


def test_transfers_end_with_an_aborted_transaction() -> None:
    """Committed records add up to the number asked for; aborted transactions lie between them and at the end."""
    history = list(records.transactions(START_MS, 1_050))

    assert sum(len(t.records) for t in history if t.is_committed) == 1_050
    assert not history[-1].is_committed
    assert any(not t.is_committed for t in history[:-1])


def test_generators_never_end_by_themselves() -> None:
    """With endless times there are endless records."""
    assert len(list(islice(records.orders(iter(lambda: START_MS, None)), 10))) == 10
