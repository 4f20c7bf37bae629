"""A Kafka cluster as its manager describes it, with every failure as a finding."""

from __future__ import annotations

from collections.abc import Callable

from kafka_migration.core.discovery.described_cluster import ClusterManager, DiscoveredCluster, chosen
from kafka_migration.core.discovery.json_answer import UnexpectedAnswer
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.text.shortened import sentence


def discovered(open_manager: Callable[[], ClusterManager], connection: str, wanted: str | None) -> DiscoveredCluster:
    """Return the cluster that is wanted, or the only one.

    Raises `Refused` if the server refuses a request or does not answer, if its answer is not understood, or if not
    exactly one cluster fits.
    """
    subject = f"connection {connection}"
    try:
        manager = open_manager()
        try:
            return manager.cluster(chosen(manager.clusters(), wanted, subject))
        finally:
            manager.close()
    except UnexpectedAnswer as error:
        raise Refused([_not_understood(subject, error)]) from None
    except TransientError as error:
        raise Refused([_no_answer(subject, error)]) from error


def _not_understood(subject: str, error: UnexpectedAnswer) -> Finding:
    return Finding(
        Code.MANAGER_ANSWER_UNREADABLE,
        subject,
        error.found,
        error.expected,
        "Check that the address is that of Ambari or Cloudera Manager. If it is, create the connections by hand: "
        "kafka-migration discover --preset … --bootstrap …",
        happened=f"The cluster manager of {subject} answered {error.found} where {error.expected} belongs.",
        matters="The cluster's addresses and its login cannot be taken from this answer.",
    )


def _no_answer(subject: str, error: TransientError) -> Finding:
    return Finding(
        Code.MANAGER_UNREACHABLE,
        subject,
        str(error),
        "an answer in time",
        "Check that the server runs and that this machine reaches its address. Then run the command again.",
        happened=sentence(f"The cluster manager of {subject} did not answer: {error}"),
        matters="Without its answer the cluster's addresses and its login are unknown.",
    )
