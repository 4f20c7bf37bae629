"""The names of topics on the target, as the policy of the source connector makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.aliases import alias_problem
from kafka_migration.core.text.secret_forms import given_unless_secret
from kafka_migration.mirrormaker_files.model.mirror_settings import Flow
from kafka_migration.mirrormaker_import.chosen_flow import not_imported
from kafka_migration.mirrormaker_import.flow_readers import CONNECTOR, FlowReaders
from kafka_migration.mirrormaker_import.line_values import plain, value_with_blanks

Naming = Literal["identity", "prefixed"]
NAMINGS: tuple[Naming, ...] = ("identity", "prefixed")
_MIRROR = "org.apache.kafka.connect.mirror."
# Strimzi's class is older than that of Kafka 3.0, and keeps names too.
_IDENTITY = {f"{_MIRROR}IdentityReplicationPolicy", "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy"}
_DEFAULT = f"{_MIRROR}DefaultReplicationPolicy"


@dataclass(frozen=True, slots=True)
class TargetNames:
    """`alias` is what stands before prefixed names. `reason` says what decides, and `theirs` how MirrorMaker names."""

    naming: Naming
    alias: str = ""
    reason: str = ""
    theirs: str = ""

    def of(self, topic: str) -> str:
        """Return the name of a topic on the target."""
        return f"{self.alias}.{topic}" if self.naming == "prefixed" else topic


@dataclass(frozen=True, slots=True)
class _Policy:
    """The parts of a name: the class on `line` (0: the default one), the alias before it, and what separates them."""

    class_name: str
    alias: str
    separator: str
    line: int


def names_on_target(readers: FlowReaders, flow: Flow, migration: str, asked: Naming | None) -> TargetNames:
    """Return the naming for a migration file. `asked` wins over the files.

    Raises `Refused` if a migration file cannot give the names, or a class makes them that only their MirrorMaker has.
    """
    policy = _policy(readers)
    naming, problem = _naming(policy, migration)
    if asked:
        return _asked(policy, flow, migration, asked, problem)
    if naming is None or problem:
        remedy = "Choose with --naming identity (names are kept) or --naming prefixed (alias and a dot before names)."
        raise _unnamed(flow, problem, remedy)
    return TargetNames(naming, policy.alias if naming == "prefixed" else "", _reason(policy, naming))


def _asked(policy: _Policy, flow: Flow, migration: str, asked: Naming, theirs: str) -> TargetNames:
    alias = (policy.alias or flow.source) if asked == "prefixed" else ""
    if problem := _alias_problem(alias, migration) if asked == "prefixed" else "":
        raise _unnamed(flow, problem, "Choose --naming identity, which keeps names.")
    return TargetNames(asked, alias, f"--naming {asked}", theirs)


def _unnamed(flow: Flow, problem: str, remedy: str) -> Refused:
    return Refused([not_imported(str(flow), problem, "names on the target that a migration file can give", remedy)])


def _policy(readers: FlowReaders) -> _Policy:
    class_name = readers.line(CONNECTOR, "replication.policy.class")
    alias = readers.value(CONNECTOR, "source.cluster.alias")
    separator = readers.line(CONNECTOR, "replication.policy.separator")
    return _Policy(
        plain(class_name) if class_name else _DEFAULT,
        plain(alias.setting) if alias and alias.setting else alias.value if alias else "",
        value_with_blanks(separator) if separator else ".",
        class_name.line if class_name else 0,
    )


def _reason(policy: _Policy, naming: Naming) -> str:
    if naming == "identity" and policy.class_name == _DEFAULT:
        return "alias and separator are blank"
    return f"the policy of line {policy.line}" if policy.line else "MirrorMaker's default policy"


def _naming(policy: _Policy, migration: str) -> tuple[Naming | None, str]:
    """Return how names are made, or what cannot be expressed."""
    if policy.class_name in _IDENTITY:
        return "identity", ""
    if not policy.class_name:
        return None, "names that are not known: replication.policy.class is blank"
    if policy.class_name != _DEFAULT:
        return None, "names that are not known: replication.policy.class is no class of Kafka"
    if not policy.alias and not policy.separator:
        # The way to keep names before IdentityReplicationPolicy.
        return "identity", ""
    if policy.separator != ".":
        return None, "another separator than a dot between alias and topic"
    return "prefixed", _alias_problem(policy.alias, migration)


def _alias_problem(alias: str, migration: str) -> str:
    if not alias:
        return "a blank alias of the source before names"
    problem = alias_problem(alias, migration)
    return problem and f"the alias {given_unless_secret(alias)} before names, where source.alias takes {problem}"
