"""The questions to both clusters that a Kafka client on the MirrorMaker host answers, all in one process."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.connections.secrets import without_secrets
from kafka_migration.core.documents.codec import Document, read
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import HostProbe, ProbeSubject
from kafka_migration.core.text.terminal_text import storable_document
from kafka_migration.engines.launching import endpoints_options, render_properties
from kafka_migration.preflight.host.asking_host import tools_of
from kafka_migration.preflight.scene.check import Fact, UnknownFact, without_mirrormaker
from kafka_migration.preflight.scene.scene import SIDES, Scene, asked_once

T = TypeVar("T")
# The longest quote of an error.
LONGEST_REASON = 500
# The exit of a program that was not run, because other probes of the migration were.
LOCKED = "locked"
# The exit of an answer that is not the program's.
UNREADABLE = "unreadable"
_NO_CLIENT = re.compile(r"thread \"main\" java\.lang\.NoClassDefFoundError|main class")
_DENIED = re.compile(r"AuthorizationException|AUTHORIZATION_FAILED|not authorized", re.IGNORECASE)
# Of the cluster's Kafka, and of the host's.
_UNSUPPORTED = re.compile(r"UnsupportedVersion|does not support|UnsupportedOperationException")
_NO_QUESTION = re.compile(r"NoSuchMethodError|NoClassDefFoundError")
_ERROR = re.compile(r"Exception|Error|Caused by:")


@dataclass(frozen=True, slots=True)
class ClientAnswer(Document):
    """The answer to one question about one cluster.

    `exit` is `0` with an output. `timeout`, `large`, `LOCKED` and `UNREADABLE` say why there is none; any other exit is
    that of a failure with its errors.
    """

    exit: str
    output: object = None
    errors: str = ""

    ADDED: ClassVar[frozenset[str]] = frozenset({"output", "errors"})


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A question to the client on the host: its name there, what it tells, and how its output is read.

    `read` raises `ValueError` for another output.
    """

    name: str
    fact: Fact
    read: Callable[[object], T]


def without_tools(scene: Scene) -> str:
    """Return why a check that asks the clusters from the host does not apply; empty if it does."""
    return without_mirrormaker(scene) or ("" if scene.airflow.asks_tools else "[kafka_migration] host_tools is False")


@dataclass(frozen=True, slots=True)
class HostAnswers:
    """The answers by side and question; `other` is the answer to all other questions."""

    by_side: Mapping[str, Mapping[str, ClientAnswer]]
    other: ClientAnswer

    def to(self, question: str, side: Side) -> ClientAnswer:
        """Return the answer to a question about a side."""
        return self.by_side.get(side, {}).get(question, self.other)


def on_host(scene: Scene, question: Question[T]) -> Mapping[Side, T | UnknownFact]:
    """Return the answer about each side, or why it is unknown."""
    answers, settings = answers_of_host(scene), settings_of(scene)
    found: dict[Side, T | UnknownFact] = {}
    for side in SIDES:
        answer = answer_of(question, answers.to(question.name, side), settings)
        found[side] = answer
    return found


@asked_once
def answers_of_host(scene: Scene) -> HostAnswers:
    """Return the answers to all questions about both sides."""
    settings = {side: java_properties(scene.named(side).connection, each) for side, each in settings_of(scene).items()}
    mirror = scene.migration.mirror
    probe = HostProbe(
        ProbeSubject.CLUSTERS,
        kafka_home=mirror.kafka_home,
        java_home=mirror.java_home,
        properties={side: render_properties(each) for side, each in settings.items()},
        # An option of the whole process, which logs in to both clusters.
        java_options=endpoints_options(settings.values()),
        topics=_real_topics(scene),
    )
    return read_answers(_facts(scene, probe))


@asked_once
def settings_of(scene: Scene) -> Mapping[Side, Mapping[str, object]]:
    """Return the settings of both connections."""
    return {side: scene.run.deployment.client_settings(scene.named(side)) for side in SIDES}


def _real_topics(scene: Scene) -> tuple[str, ...]:
    """Return the names of the migration's topics on either side."""
    topics = scene.migration.topics
    return tuple(sorted({*topics, *map(scene.migration.target_topic, topics)}))


def _facts(scene: Scene, probe: HostProbe) -> Mapping[str, str]:
    """Return the facts of the probe. If other probes kept the host busy for too long, only that is known."""
    try:
        return tools_of(scene, scene.run.second_host_tools).probe(probe).facts
    except TransientError as error:
        if Code.HOST_LOCKED not in str(error):
            raise
        return {"exit": LOCKED}


def read_answers(facts: Mapping[str, str]) -> HostAnswers:
    """Return the answers among the facts of a probe; without a document of answers, each is why there is none."""
    whole = ClientAnswer(facts.get("exit", ""), errors=facts.get("errors", ""))
    if whole.exit != "0":
        return HostAnswers({}, whole)
    try:
        document = storable_document(json.loads(facts.get("output", "")))
        answers = read(Mapping[str, Mapping[str, ClientAnswer]], document)
    except (ValueError, RecursionError) as error:
        return HostAnswers({}, unreadable(error))
    return HostAnswers(answers, unreadable(KeyError("no answer to this question")))


def unreadable(error: Exception) -> ClientAnswer:
    """Return what is known of an answer that cannot be read."""
    return ClientAnswer(UNREADABLE, errors=f"{type(error).__name__}: {error}"[:LONGEST_REASON])


def answer_of(
    question: Question[T], answer: ClientAnswer, settings: Mapping[Side, Mapping[str, object]]
) -> T | UnknownFact:
    """Return the output of an answer, or why the fact is unknown, without a secret of the connections' settings."""
    if answer.exit == "0":
        try:
            return question.read(answer.output)
        except ValueError as error:
            answer = unreadable(error)
    # Only the errors may quote a setting. A short password would mutilate an output.
    errors = answer.errors
    for of_side in settings.values():
        errors = without_secrets(errors, of_side)
    return _why(question.fact, answer.exit, errors)


_CORRECT = "Correct the cause that the client names."
# Per exit: why a fact is unknown, and what to do.
_ENDS = {
    LOCKED: (
        "the host answered other preflights of this migration for over two minutes",
        "Run preflight again when they have ended.",
    ),
    "timeout": ("the client on the host got no answer in time", "Check the load and the network of the host."),
}


def _why(fact: Fact, code: str, errors: str) -> UnknownFact:
    if code in _ENDS:
        return UnknownFact(fact, *_ENDS[code], is_failure=True)
    if code == "large":
        return UnknownFact(fact, "the answer is too large for a reply of the host")
    if _NO_CLIENT.search(errors):
        remedy = "Install a whole Kafka distribution on the MirrorMaker host."
        return UnknownFact(fact, "Kafka on the host has no client library", remedy)
    if _DENIED.search(errors):
        return UnknownFact(
            fact, "the login has no right to ask for it", f"Grant {fact.right} to the user of the connection."
        )
    if _UNSUPPORTED.search(errors):
        return UnknownFact(fact, last_error(errors))
    if _NO_QUESTION.search(errors):
        return UnknownFact(fact, "Kafka on the host is too old to ask for it")
    if code == UNREADABLE:
        reason = f"the host answered something else ({errors})"
        return UnknownFact(fact, reason, "Install this version's mirrorctl on the host again.", is_failure=True)
    return UnknownFact(fact, last_error(errors), _CORRECT, is_failure=True)


def last_error(errors: str) -> str:
    """Return the innermost error in what Java printed."""
    lines = [line.strip() for line in errors.splitlines() if _ERROR.search(line) and not line.startswith("\tat ")]
    found = lines[-1] if lines else errors.strip()[-LONGEST_REASON:] or "no reason"
    return found.removeprefix("Caused by: ")[:LONGEST_REASON]
