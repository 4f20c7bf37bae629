"""The classes that Kafka's JVMs load: of a broker, of its tools and of MirrorMaker, each started once."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from sandbox.environment import base_environment
from sandbox.kafka import ONE_REPLICA, SHORT_LIVED, KafkaCluster
from sandbox.parts import Part, PartSpec, free_ports, running

_TOPIC = "classes"
_TOOLS = (
    ("org.apache.kafka.tools.TopicCommand", "--create", "--topic", _TOPIC),
    ("kafka.admin.ConfigCommand", "--describe", "--entity-type", "brokers", "--entity-default"),
)
_MIRROR = "org.apache.kafka.connect.mirror.MirrorMaker"
# One cluster is both sides.
_PROPERTIES = (
    ONE_REPLICA
    + """\
clusters=a,b
a.bootstrap.servers={bootstrap}
b.bootstrap.servers={bootstrap}
a->b.enabled=true
a->b.topics={topic}
"""
)
# A line of the log once a task copies.
_COPIES = "Source task finished initialization and start"
_TOOL_TIMEOUT_S = 240


def class_lists(folder: Path) -> list[str]:
    """Return one list of classes per JVM, as `-XX:DumpLoadedClassList` writes it; `folder` is an empty one."""
    options = (*SHORT_LIVED, f"-XX:DumpLoadedClassList={folder}/%p.classes")
    environment = base_environment("class-lists")
    port, controller_port = free_ports(2)
    cluster = KafkaCluster("classes", folder / "classes", port, controller_port, java_options=options)
    cluster.format(environment)
    with running(Part(cluster.part(environment, folder / "logs"))):
        for tool in _TOOLS:
            command = (*cluster.java_command(environment), *tool, "--bootstrap-server", cluster.bootstrap)
            subprocess.run(command, env=environment, capture_output=True, check=True, timeout=_TOOL_TIMEOUT_S)
        _mirror(cluster, environment, folder)
    return [path.read_text() for path in sorted(folder.glob("*.classes"))]


def _mirror(cluster: KafkaCluster, environment: Mapping[str, str], folder: Path) -> None:
    """Run MirrorMaker until it copies."""
    properties = folder / "mirror.properties"
    properties.write_text(_PROPERTIES.format(bootstrap=cluster.bootstrap, topic=_TOPIC))
    command = (*cluster.java_command(environment), _MIRROR, str(properties), "--clusters", "b")
    mirror = Part(PartSpec("mirror", command, environment, folder / "mirror.log", lambda log: _COPIES in log))
    with running(mirror):
        pass
