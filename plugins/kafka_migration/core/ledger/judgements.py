"""Judgements: the result of one validation in the ledger, with each comparison and its digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.window import Window


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a topic and its result.

    A comparison by position has one window; by key it has one per partition of the topic. Digests are hexadecimal
    digests of the records that were read, `None` if unknown. `unreadable` are the clusters, `source` and `target`, of
    which a part could not be read.
    """

    verdict: Verdict
    windows: tuple[Window, ...]
    source_records: int
    target_records: int
    source_digest: str | None = None
    target_digest: str | None = None
    unreadable: tuple[str, ...] = ()

    @property
    def is_blind(self) -> bool:
        """Whether the only reason for `NOT_VERIFIABLE` is that the source can no longer be read."""
        return self.verdict is Verdict.NOT_VERIFIABLE and self.unreadable == ("source",)

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values.

        A window is `[generation, source_start, source_end, target_start, target_end]`, keyed by partition.
        """
        return {
            "verdict": str(self.verdict),
            "source_records": self.source_records,
            "target_records": self.target_records,
            "source_digest": self.source_digest,
            "target_digest": self.target_digest,
            "unreadable": list(self.unreadable),
            "windows": {
                str(w.partition): [w.generation, w.source_start, w.source_end, w.target_start, w.target_end]
                for w in self.windows
            },
        }

    @classmethod
    def from_document(cls, topic: str, document: Mapping[str, Any]) -> Comparison:
        """Read back what `to_document` wrote for a topic."""
        return cls(
            verdict=Verdict(document["verdict"]),
            windows=tuple(
                Window(generation, topic, topic, int(partition), *ends)
                for partition, (generation, *ends) in document["windows"].items()
            ),
            source_records=document["source_records"],
            target_records=document["target_records"],
            source_digest=document["source_digest"],
            target_digest=document["target_digest"],
            unreadable=tuple(document["unreadable"]),
        )


Comparisons = Mapping[str, tuple[Comparison, ...]]
"""The comparisons per topic."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of one validation: of some generations' windows, or of the whole copy.

    `digest` names the kind of comparison. Older entries have neither `digest` nor `comparisons`; their offsets follow
    from the certificates of their generations.
    """

    run: str
    at: str
    whole: bool
    generations: tuple[int, ...]
    topics: Mapping[str, Verdict]
    source_records: Mapping[str, int]
    digest: str | None = None
    comparisons: Comparisons | None = None

    @property
    def is_good(self) -> bool:
        """Whether every topic has a good verdict."""
        return all(verdict.is_good for verdict in self.topics.values())

    def to_document(self) -> dict[str, Any]:
        """Return the ledger entry."""
        return {
            "kind": "judged",
            "run": self.run,
            "at": self.at,
            "whole": self.whole,
            "generations": list(self.generations),
            "topics": {topic: str(verdict) for topic, verdict in self.topics.items()},
            "source_records": dict(self.source_records),
            "digest": self.digest,
            "comparisons": self.comparisons
            and {t: [c.to_document() for c in cs] for t, cs in self.comparisons.items()},
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Judgement:
        """Read the ledger entry back."""
        known = document.get("comparisons")
        return cls(
            document["run"],
            document["at"],
            document["whole"],
            tuple(document["generations"]),
            {topic: Verdict(verdict) for topic, verdict in document["topics"].items()},
            document["source_records"],
            document.get("digest"),
            known and {topic: tuple(Comparison.from_document(topic, c) for c in made) for topic, made in known.items()},
        )
