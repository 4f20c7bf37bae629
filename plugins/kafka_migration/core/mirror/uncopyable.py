"""Records that MirrorMaker cannot copy: which one it is, why, and how the run continues.

MirrorMaker's own words name at most the topic. The record is the first one at or after the stored position that breaks
the rule of which these words speak.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.records import RecordShape
from kafka_migration.core.mirror.log_entries import LONGEST_QUOTE, exceptions_in, from_exception
from kafka_migration.core.target.target_topics import OTHERS_CONTINUE
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import sentence, some

# A time that stands for "none"; every other negative time is refused.
NO_TIME_MS = -1
# Kafka's record format: the header of a batch, and the most that a record needs besides its fields.
_BATCH_BYTES = 61
_RECORD_BYTES = 21
# Attributes, and the shortest deltas of time and offset: what a record has if it is alone in its batch.
_ALONE_BYTES = 3


class Reason(StrEnum):
    """Why MirrorMaker cannot copy a record."""

    TOO_LARGE = "too large"
    NO_KEY = "no key"
    TIME = "time"


CODES = {
    Reason.TOO_LARGE: Code.RECORD_TOO_LARGE,
    Reason.NO_KEY: Code.RECORD_WITHOUT_KEY,
    Reason.TIME: Code.RECORD_TIME_REFUSED,
}
# Names of Java exceptions, and texts of Kafka's clients, brokers and Connect (2.4.1 to 3.9.1).
CERTAIN = {
    Reason.TOO_LARGE: re.compile(r"RecordTooLarge|MESSAGE_TOO_LARGE|splitting and retrying"),
    Reason.NO_KEY: re.compile(r"cannot accept message without key"),
    Reason.TIME: re.compile(r"Invalid (?:record )?timestamp|InvalidTimestamp|INVALID_TIMESTAMP"),
}
# The other records of the batch get a text without the reason, and brokers before 2.4 give none at all.
_POSSIBLE = re.compile(
    r"InvalidRecord|INVALID_RECORD|CorruptRecord|CORRUPT_MESSAGE|part of a batch which had one more more invalid"
)
_NAMED_TOPICS = re.compile(
    r"failed to send record to ([^\s:;]{1,249}):|sending message to topic (\S{1,249}) with key"
    r"|topic[- ]partition (\S{1,249})-\d"
)
_REQUEST_LIMIT = re.compile(r"larger than (\d{1,19}), which is the value of the max\.request\.size")
_OUT_OF_RANGE = re.compile(r"Timestamp (-?\d{1,19}) of message with offset")
# Each log has the name of the setting, among those with which the producer starts.
_BUFFER = "larger than the total memory buffer"


@dataclass(frozen=True, slots=True)
class Complaint:
    """What MirrorMaker says of a record that it could not copy.

    `reasons` are possible, `certain` are known from the words alone. `topics` are names on the target. `request_limit`
    are the bytes that MirrorMaker may send, `refused_ms` the time that the target refused, if the words say so.
    `exceeds_buffer`: the record is larger than the producer's memory.
    """

    reasons: frozenset[Reason]
    certain: frozenset[Reason]
    quote: str
    topics: frozenset[str]
    request_limit: int | None
    refused_ms: int | None
    exceeds_buffer: bool

    @property
    def ends_each_start(self) -> bool:
        """Whether every further start ends like this one: an exception names the record, not a batch that is split."""
        return bool(self.certain) and 0 in exceptions_in(self.quote)


@dataclass(frozen=True, slots=True)
class Takes:
    """What the target takes: `limits` are `max.message.bytes` by topic; `buffer` is the producer's memory in bytes.

    Topics have their names on the source; `names` are those on the target.
    """

    limits: Mapping[str, int]
    compacted: frozenset[str]
    names: Mapping[str, str]
    buffer: int


def complaint_in(text: str) -> Complaint | None:
    """Return what a log or a trace says of a record that cannot be copied; `None` if it says nothing of the kind."""
    certain = frozenset(reason for reason, sign in CERTAIN.items() if sign.search(text))
    possible = frozenset({Reason.NO_KEY, Reason.TIME}) if _POSSIBLE.search(text) else frozenset()
    if not certain | possible:
        return None
    signs = [CERTAIN[reason] for reason in certain] or [_POSSIBLE]
    limit, out_of_range = _REQUEST_LIMIT.search(text), _OUT_OF_RANGE.search(text)
    return Complaint(
        reasons=certain or possible,
        certain=certain,
        quote=_quoted(text, signs)[:LONGEST_QUOTE],
        topics=frozenset(name for found in _NAMED_TOPICS.findall(text) for name in found if name),
        request_limit=int(limit[1]) if limit else None,
        refused_ms=int(out_of_range[1]) if out_of_range else None,
        exceeds_buffer=limit is None and _BUFFER in text,
    )


def _quoted(text: str, signs: Collection[re.Pattern[str]]) -> str:
    """Return the newest line with one of the signs, from the name of its exception on."""
    for line in reversed(text.splitlines()):
        if found := next(filter(None, (sign.search(line) for sign in signs)), None):
            return from_exception(line, found.start())
    return ""


def reason_of(record: RecordShape, complaint: Complaint, takes: Takes) -> Reason | None:
    """Return why MirrorMaker cannot copy a record, out of the reasons that it may mean; `None` for any other record."""
    topic = record.partition.topic
    broken = {
        Reason.TOO_LARGE: _is_too_large(record, complaint, takes),
        Reason.NO_KEY: record.key is None and topic in takes.compacted,
        Reason.TIME: record.timestamp_ms < NO_TIME_MS or record.timestamp_ms == complaint.refused_ms,
    }
    return next((reason for reason in Reason if reason in complaint.reasons and broken[reason]), None)


def _is_too_large(record: RecordShape, complaint: Complaint, takes: Takes) -> bool:
    if complaint.request_limit is not None:
        return sent_bytes(record) > complaint.request_limit
    if complaint.exceeds_buffer:
        return sent_bytes(record) > takes.buffer
    limit = takes.limits.get(record.partition.topic)
    return limit is not None and _alone_bytes(record) > limit


def sent_bytes(record: RecordShape) -> int:
    """Return the size that Kafka's producer compares with its limits: the most that a record may need alone."""
    return _BATCH_BYTES + _RECORD_BYTES + _fields_bytes(record)


def _alone_bytes(record: RecordShape) -> int:
    """Return the size of an uncompressed batch with only this record, which a broker compares."""
    body = _ALONE_BYTES + _fields_bytes(record)
    return _BATCH_BYTES + _varint_bytes(body) + body


def _fields_bytes(record: RecordShape) -> int:
    sizes = [record.key, record.value, *(size for header in record.headers for size in header)]
    return _varint_bytes(len(record.headers)) + sum(_varint_bytes(-1 if s is None else s) + (s or 0) for s in sizes)


def _varint_bytes(number: int) -> int:
    """Return the length of a number in Kafka's format, which is ZigZag with seven bits in each byte."""
    return max(1, -(-((number << 1) ^ (number >> 63)).bit_length() // 7))


def refused_finding(record: RecordShape, reason: Reason, complaint: Complaint, takes: Takes) -> Finding:
    """Return the finding of a record that MirrorMaker cannot copy, with its topic, partition and offset."""
    what, expected, act = _words(record, reason, complaint, takes)
    found = f"the record at offset {record.offset:,}, {what}"
    named = f"the record at offset {record.offset:,} of {record.partition}, {what}"
    return _refused(reason, str(record.partition), found, named, expected, act, complaint.quote)


def unlocated_findings(complaint: Complaint) -> Iterator[Finding]:
    """Yield the findings of a record that is known not to be copied, and was not found on the source in time."""
    subject = f"topic {min(complaint.topics)}" if complaint.topics else "MirrorMaker"
    found = "a record that was not found on the source in time"
    for reason in sorted(complaint.certain):
        expected, act = "records that MirrorMaker can copy", f"{ACTS[reason]} Then trigger the run again."
        yield _refused(reason, subject, found, found, expected, act, complaint.quote)


def _refused(reason: Reason, subject: str, found: str, named: str, expected: str, act: str, quote: str) -> Finding:
    return Finding(
        CODES[reason],
        subject,
        f"{found}; MirrorMaker says: {quote}",
        expected,
        f"{act} {OTHERS_CONTINUE}",
        happened=sentence(f"MirrorMaker cannot copy {named}; it says: {quote}"),
        matters="At each start MirrorMaker gets no further than this record, so no other topic is copied either.",
    )


ACTS = {
    Reason.TOO_LARGE: "Raise max.message.bytes of every target topic of the migration to at least the record's size, "
    "because the smallest limit counts for all.",
    Reason.NO_KEY: "Set cleanup.policy to delete on the target topic until the cutover.",
    Reason.TIME: "If the timestamp is negative, remove the topic from the migration file: no client of Kafka can send "
    "the record. Otherwise remove message.timestamp.* of the target topic until the cutover.",
}


def _words(record: RecordShape, reason: Reason, complaint: Complaint, takes: Takes) -> tuple[str, str, str]:
    """Return what the record is, what was expected, and what to do."""
    if reason is Reason.TOO_LARGE:
        return _large_words(record, complaint, takes)
    name = takes.names.get(record.partition.topic, record.partition.topic)
    if reason is Reason.NO_KEY:
        act = f"Until the cutover: {_command(name, 'cleanup.policy=delete')}. Then trigger the run again."
        return "without a key", f"a key in each record, because topic {name} on the target is compacted", act
    what = f"with the timestamp {record.timestamp_ms}"
    if record.timestamp_ms < NO_TIME_MS:
        act = "No client of Kafka sends this time, so MirrorMaker cannot copy the topic while the source holds it."
        return what, "a timestamp that is not negative, or none", act
    act = f"Remove message.timestamp.* of topic {name} on the target until the cutover, and trigger the run again."
    return what, f"a timestamp that topic {name} on the target takes", act


def _large_words(record: RecordShape, complaint: Complaint, takes: Takes) -> tuple[str, str, str]:
    size = sent_bytes(record)
    what = f"{size:,} bytes when it is sent"
    if complaint.exceeds_buffer:
        act = f"Set producer.buffer.memory in mirror.properties to more than {size}, and trigger the run again."
        return what, f"at most {takes.buffer:,} bytes, the memory of MirrorMaker's producer", act
    names = {topic: takes.names.get(topic, topic) for topic in takes.limits}
    smaller = sorted(names[topic] for topic, limit in takes.limits.items() if limit < size)
    limit = complaint.request_limit or takes.limits.get(record.partition.topic, 0)
    example = f" ({_command(smaller[0], f'max.message.bytes={size}')})" if smaller else ""
    act = (
        f"Raise max.message.bytes on the target to at least {size}{example}, because the smallest limit of all topics "
        f"counts. It is lower on: {some(smaller) or 'none any more'}. Then trigger the run again."
    )
    return what, f"at most {limit:,} bytes, max.message.bytes on the target", act


def _command(topic: str, setting: str) -> str:
    return (
        "`kafka-configs.sh --bootstrap-server <target> --alter --entity-type topics "
        f"--entity-name {shell_word(topic)} --add-config {setting}`"
    )
