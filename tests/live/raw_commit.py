"""Commits in Kafka's own protocol, for groups with names that no client takes."""

from __future__ import annotations

import socket
import struct

_OFFSET_COMMIT, _VERSION, _ID = 8, 2, 7
NO_ERROR = 0


def commit_raw(bootstrap: str, group: bytes, topic: str, offsets: dict[int, int]) -> dict[int, int]:
    """Commit offsets for a group without members, on a cluster of one broker; return the error code per partition."""
    partitions = b"".join(
        struct.pack(">iq", number, offset) + _string(b"note") for number, offset in sorted(offsets.items())
    )
    # No generation, no member, the broker's retention.
    head = _string(group) + struct.pack(">i", -1) + _string(b"") + struct.pack(">q", -1)
    body = head + struct.pack(">i", 1) + _string(topic.encode()) + struct.pack(">i", len(offsets)) + partitions
    answer = _asked(bootstrap, struct.pack(">hhi", _OFFSET_COMMIT, _VERSION, _ID) + _string(b"raw") + body)
    # Correlation id, one topic with its name, and the partitions.
    at = 4 + 4 + 2 + len(topic.encode()) + 4
    return dict(struct.unpack_from(">ih", answer, at + 6 * number) for number in range(len(offsets)))


def _string(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


def _asked(bootstrap: str, request: bytes) -> bytes:
    host, _, port = bootstrap.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection, connection.makefile("rb") as answers:
        connection.sendall(struct.pack(">i", len(request)) + request)
        (size,) = struct.unpack(">i", answers.read(4))
        return bytes(answers.read(size))
