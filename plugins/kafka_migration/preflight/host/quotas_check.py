"""No quota slows MirrorMaker; those that may are warnings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.host.asking_host import tool_answer, without_tools
from kafka_migration.preflight.scene.check import Asked, Check, Fact, Findings, warnings_of_sides
from kafka_migration.preflight.scene.scene import SIDES, Scene

_QUOTAS = Fact(
    "which quotas limit MirrorMaker",
    "A quota can make the copy so slow that it does not end before watch.time_limit.",
    "Describe and DescribeConfigs on the cluster",
)
_LINE = re.compile(r"(?:Quota c|C)onfigs for (.*) are ?(.*)")
_USER, _CLIENT = "user-principal", "client-id"
# What slows a copy: reading from the source, writing to the target, and the share of the brokers' threads.
_RATES = {
    "source": ("consumer_byte_rate", "request_percentage"),
    "target": ("producer_byte_rate", "request_percentage"),
}


def _warn(scene: Scene) -> Findings:
    answers = {side: tool_answer(scene, _QUOTAS, ProbeSubject.QUOTAS, side) for side in SIDES}
    principal = scene.airflow.connections.principal
    return warnings_of_sides(answers, lambda side, found: quota_findings(side, found, principal(scene.named(side))))


@dataclass(frozen=True, slots=True)
class Quota:
    """One line of `ConfigCommand`: whom it limits and to what.

    `user` and `client` are `None` if they do not matter, and empty for the default.
    """

    entity: str
    user: str | None
    client: str | None
    rates: str

    def limits(self, principal: str) -> bool:
        """Return whether the quota may limit MirrorMaker, whose clients have many ids: only the default id counts."""
        is_user = self.user in {None, "", principal.removeprefix("User:")}
        return is_user and self.client in {None, ""}


def quotas_of(output: str) -> tuple[Quota, ...]:
    """Return the quotas in the output of `ConfigCommand`."""
    found = filter(None, map(_LINE.fullmatch, output.split("\n")))
    return tuple(_quota(each[1], each[2]) for each in found if each[2].strip())


def _quota(entity: str, rates: str) -> Quota:
    """Read an entity such as `user-principal 'shop', the default client-id`."""
    cut = max(entity.rfind(f", {_CLIENT} '"), entity.rfind(f", the default {_CLIENT}"))
    user, client = (entity[:cut], entity[cut + 2 :]) if cut >= 0 else (entity, entity)
    return Quota(entity, _named(user, _USER), _named(client, _CLIENT), rates)


def _named(text: str, kind: str) -> str | None:
    """Return a name of this kind; empty for the default, `None` for any other text."""
    if text.startswith(f"{kind} '"):
        return text.removeprefix(f"{kind} '").removesuffix("'")
    return "" if text == f"the default {kind}" else None


def quota_findings(side: Side, output: str, principal: str) -> Findings:
    """Yield a warning per quota that may slow MirrorMaker."""
    for quota in quotas_of(output):
        rates = ", ".join(rate for rate in quota.rates.split(", ") if rate.split("=")[0] in _RATES[side])
        if rates and quota.limits(principal):
            yield Finding(
                Code.QUOTA_SLOWS_MIRROR,
                f"{side}.connection",
                f"a quota for {quota.entity}: {rates}",
                f"no quota that limits {principal}, or a run that has time for it",
                "Calculate how long the topics take at this rate per broker. If that is longer than watch.time_limit, "
                "raise the quota with kafka-configs.sh for the time of the migration.",
                happened=f"The quota for {quota.entity} on the {side} limits MirrorMaker ({principal}) to {rates}.",
                matters="The brokers delay MirrorMaker at this rate, so the copy may not end before watch.time_limit.",
            )


CHECK = Check("quotas", asks={Asked.TOOLS}, needs=("clusters", "host"), warn=_warn, unless=without_tools)
