"""`make kafka-keys`: write the table of Kafka's configuration keys that `kafka-migration lint` compares files with.

For each version, Maven fetches Kafka's Connect and MirrorMaker, and a Java program prints their ConfigDefs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from sandbox.jars import JARS_FOLDER, PROJECT, JarSet, maven_pom

TABLE = PROJECT / "plugins" / "kafka_migration" / "kafka_tables" / "kafka_keys.json"
PROGRAM = Path(__file__).with_name("KafkaKeys.java")
# The last patch of each minor version that Maven Central has of both artifacts.
VERSIONS = (
    "2.4.1",
    "2.5.1",
    "2.6.3",
    "2.7.2",
    "2.8.2",
    "3.0.2",
    "3.1.2",
    "3.2.0",
    "3.3.2",
    "3.4.0",
    "3.5.1",
    "3.6.2",
    "3.7.2",
    "3.8.1",
    "3.9.1",
    "4.0.2",
    "4.1.2",
    "4.2.0",
    "4.3.1",
)
# Maven Central has no MirrorMaker 2 of these versions. Its sources at their tags have the keys of 2.7.2 without these.
WITHOUT_MIRROR = ("2.4.1", "2.5.1", "2.6.3")
FIRST_MIRROR = "2.7.2"
ADDED_IN_2_7 = frozenset({"topics.exclude", "groups.exclude", "config.properties.exclude"})
ADDED_IN_2_7 |= {"sync.group.offsets.enabled", "sync.group.offsets.interval.seconds"}
# The roles of the parts that Maven Central has of all versions.
CLIENT_ROLES = frozenset({"connect_worker", "connect_source", "consumer", "producer", "admin"})
FETCH_TIMEOUT_S = 1200

Value = TypeVar("Value")
# Of one version: (role, key) to (type, default, accepted); the default is None if there is none.
Keys = Mapping[tuple[str, str], tuple[str, str | None, str]]


def keys_of(version: str) -> Keys:
    """Return all keys of a version."""
    if version in WITHOUT_MIRROR:
        return {**_mirror_before_2_7(), **_printed(version, "clients")}
    return _printed(version)


def _mirror_before_2_7() -> Keys:
    found = _printed(FIRST_MIRROR).items()
    return {(role, key): row for (role, key), row in found if role not in CLIENT_ROLES and key not in ADDED_IN_2_7}


def _printed(version: str, *arguments: str) -> Keys:
    command = ["java", "-cp", f"{_libs(version)}/*", str(PROGRAM), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise SystemExit(f"Kafka {version}: {done.stderr[-2000:]}")
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {
        (role, key): (kind, text if state == "given" else None, accepted)
        for role, key, kind, state, text, accepted in rows
    }


def _libs(version: str) -> Path:
    """Fetch Connect and MirrorMaker of a version once, and return the folder of their jars."""
    place = JARS_FOLDER / f"keys-{version}"
    if place.exists():
        return place
    names = ("connect-runtime",) if version in WITHOUT_MIRROR else ("connect-mirror", "connect-runtime")
    artifacts = tuple(f"org.apache.kafka:{name}:{version}" for name in names)
    with tempfile.TemporaryDirectory(dir=JARS_FOLDER) as folder:
        work = Path(folder)
        (work / "pom.xml").write_text(maven_pom(JarSet(f"keys-{version}", artifacts, transitive=True)))
        goal = ("dependency:copy-dependencies", f"-DoutputDirectory={work / 'libs'}", "-DincludeScope=runtime")
        subprocess.run(["mvn", "-q", "-B", "-f", str(work / "pom.xml"), *goal], timeout=FETCH_TIMEOUT_S, check=True)
        shutil.move(work / "libs", place)
    return place


def table(keys: Mapping[str, Keys]) -> dict[str, object]:
    """Return the document of the keys of all versions."""
    names = sorted({name for each in keys.values() for name in each})
    roles: dict[str, dict[str, object]] = {}
    for role, key in names:
        roles.setdefault(role, {})[key] = _row({v: each[role, key] for v, each in keys.items() if (role, key) in each})
    return {"versions": list(keys), "roles": roles}


def _row(found: Mapping[str, tuple[str, str | None, str]]) -> dict[str, object]:
    """Return type, versions, defaults and accepted values of a key; the last two name each version with a change."""
    types = {kind for kind, _, _ in found.values()}
    # A type that a version changed is not compared with values.
    kind = types.pop() if len(types) == 1 else "STRING"
    row: dict[str, object] = {"type": kind, "in": _ranges(found, VERSIONS)}
    row["defaults"] = _changes({version: default for version, (_, default, _) in found.items()})
    accepted = _changes({version: text for version, (_, _, text) in found.items()})
    return {**row, "accepted": accepted} if any(accepted.values()) else row


def _changes(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the versions that have another value than the version before, with it."""
    changes: dict[str, Value] = {}
    for version, value in values.items():
        if not changes or changes[list(changes)[-1]] != value:
            changes[version] = value
    return changes


def _ranges(found: Iterable[str], versions: Iterable[str]) -> list[list[str]]:
    """Return the versions as [first, last] of each unbroken range."""
    ranges: list[list[str]] = []
    there, is_open = set(found), False
    for version in versions:
        if version in there and is_open:
            ranges[-1][1] = version
        elif version in there:
            ranges.append([version, version])
        is_open = version in there
    return ranges


def text_of(document: Mapping[str, object]) -> str:
    """Return the JSON text with one line per key, so that a change shows as one line."""
    lines = ["{", f' "versions": {json.dumps(document["versions"])},', ' "roles": {']
    roles = document["roles"]
    assert isinstance(roles, dict)
    for role, keys in roles.items():
        rows = [f"   {json.dumps(key)}: {json.dumps(row)}" for key, row in keys.items()]
        end = "" if role == list(roles)[-1] else ","
        lines += [f"  {json.dumps(role)}: {{", ",\n".join(rows), f"  }}{end}"]
    return "\n".join([*lines, " }", "}", ""])


def main() -> None:
    """Write the table."""
    JARS_FOLDER.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(text_of(table({version: keys_of(version) for version in VERSIONS})))


if __name__ == "__main__":
    main()
