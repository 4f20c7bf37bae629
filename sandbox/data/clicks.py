"""The topic of the nightly migration: an hour of records, with the same number in each interval of its schedule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sandbox.data.records import Record
from sandbox.data.sending import Sender
from sandbox.data.topics import Topic, create_topics, topic_ends

CLICKS = Topic("clicks", 2)
# The schedule of include/migrations/clicks.yaml.
INTERVAL = timedelta(minutes=10)
RECORDS_PER_INTERVAL = 600
_INTERVALS = 6


def fill_clicks(bootstrap: str) -> datetime:
    """Create the topic and send the records of the last whole hour; return when its first interval begins.

    Raises:
        SandboxError: the topic cannot be created, for example because it exists, or a record was not delivered.
    """
    first = _floor(datetime.now(UTC)) - _INTERVALS * INTERVAL
    create_topics(bootstrap, (CLICKS,))
    moments = (first + number * INTERVAL / RECORDS_PER_INTERVAL for number in range(_INTERVALS * RECORDS_PER_INTERVAL))
    stamps = (int(moment.timestamp() * 1000) for moment in moments)
    clicks = (Record(b"user-%d" % (n % 50), b"%d" % n, (), stamp) for n, stamp in enumerate(stamps))
    Sender(bootstrap).send_all(CLICKS.name, clicks)
    return first


def are_clicks_whole(bootstrap: str) -> bool:
    """True if all records were sent, even if the brokers have since deleted some or received more."""
    return sum(topic_ends(bootstrap, CLICKS).values()) >= _INTERVALS * RECORDS_PER_INTERVAL


def _floor(moment: datetime) -> datetime:
    """Return the tick of the schedule at or before a moment."""
    return moment.replace(minute=moment.minute // 10 * 10, second=0, microsecond=0)
