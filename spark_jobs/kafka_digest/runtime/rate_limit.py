"""A read rate limit: a Kafka quota on the client id of this job's consumers.

Each broker limits the total bytes per second of all consumers with that client id, on all executors together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from kafka_digest.runtime.admin import admin_client
from kafka_digest.runtime.job_errors import JobError, naming, tell

CLIENT_ID = "kafka.client.id"
_QUOTA = "consumer_byte_rate"
# A fetch that uses the quota of many seconds delays all other readers, and a throttled connection does not answer. So
# fetches are limited to the quota of one second, and consumers wait for as long as a broker may throttle them.
_MAX_FETCH_BYTES = 16 << 20
_PATIENCE_MS = "900000"

Clients = Mapping[str, Mapping[str, str]]


def limited_options(max_bytes_per_s: int | None) -> dict[str, str]:
    """Return the reader options for a limit."""
    if max_bytes_per_s is None:
        return {}
    return {
        "kafka.max.partition.fetch.bytes": str(min(max_bytes_per_s, _MAX_FETCH_BYTES)),
        "kafka.default.api.timeout.ms": _PATIENCE_MS,
        "kafkaConsumer.pollTimeoutMs": _PATIENCE_MS,
    }


@contextmanager
def reading_at_most(jvm: Any, clients: Clients, max_bytes_per_s: int | None) -> Iterator[None]:
    """Limit the body's consumers to this many bytes per second, per broker on both sides; `None` means no limit.

    Raises `JobError` before the body if a cluster refuses, or if a side has no client id for the quota. An existing
    quota of the client id is replaced, and removed afterwards. A failed removal is logged and does not fail the job.
    """
    limits = {} if max_bytes_per_s is None else dict.fromkeys(clients, max_bytes_per_s)
    nameless = [side for side in limits if not clients[side].get(CLIENT_ID)]
    if nameless:
        raise JobError(f"max_bytes_per_s needs {CLIENT_ID} in the clients file; missing for {', '.join(nameless)}")
    with ExitStack() as quotas:
        for side, limit in limits.items():
            quotas.enter_context(_quota(jvm, side, clients[side], limit))
        yield


@contextmanager
def _quota(jvm: Any, side: str, client: Mapping[str, str], max_bytes_per_s: int) -> Iterator[None]:
    what = f"{max_bytes_per_s} bytes/s for client id {client[CLIENT_ID]} on the {side}"
    with naming(f"setting a quota of {what} (needs brokers 2.6 or later, and AlterConfigs on the cluster)"):
        _alter(jvm, client, max_bytes_per_s)
    try:
        yield
    finally:
        try:
            with naming(f"the quota of {what} still exists; remove it manually"):
                _alter(jvm, client, None)
        except JobError as error:
            tell(str(error))


def _alter(jvm: Any, client: Mapping[str, str], max_bytes_per_s: int | None) -> None:
    """Set the quota of a client's id; `None` removes it."""
    quota = jvm.org.apache.kafka.common.quota
    entity = quota.ClientQuotaEntity({quota.ClientQuotaEntity.CLIENT_ID: client[CLIENT_ID]})
    value = None if max_bytes_per_s is None else float(max_bytes_per_s)
    alteration = quota.ClientQuotaAlteration(entity, [quota.ClientQuotaAlteration.Op(_QUOTA, value)])
    with admin_client(jvm, client) as admin:
        admin.alterClientQuotas([alteration]).all().get()
