"""Which kind of file a text is."""

from __future__ import annotations

import pytest

from kafka_migration.mirrormaker_files.reading.any_file import kind_of
from tests.unit.mirrormaker_files.planted import HEAD

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a", HEAD, "mirrormaker2"),
        ("a", '{"a": 1}', "connectors"),
        ("a", '[\n {"a": 1}]', "connectors"),
        ("a", "\ufeff[]", "connectors"),
        ("a.service", "[Unit]\nA=b\n[Service]\nExecStart=/opt/kafka-mirror-maker.sh\n", "mirrormaker1-command"),
        ("a.conf", "[program:x]\ncommand=kafka-mirror-maker.sh --whitelist a\n", "mirrormaker1-command"),
        ("Dockerfile", 'FROM x\nCMD ["kafka-mirror-maker.sh", "--whitelist", "a"]\n', "mirrormaker1-command"),
        ("a.bat", "kafka-mirror-maker.bat ^\n --whitelist a\n", "mirrormaker1-command"),
        ("a", "kafka-mirror-maker.sh -whitelist a\n", "mirrormaker1-command"),
        ("a", "exec kafka-mirror-maker.sh \\\n  --whitelist a\n", "mirrormaker1-command"),
        ("a", "#!/bin/sh\nexec ./start $@\n", "mirrormaker1-command"),
        ("consumer.properties", "group.id=kafka-mirror-maker\nbootstrap.servers=a:1\n", "mirrormaker1-consumer"),
        ("a", "client.id = kafka-mirror-maker-1\nacks=all\n", "mirrormaker1-producer"),
        ("a", "# kafka-mirror-maker.sh --whitelist a\nacks=all\n", "mirrormaker1-producer"),
        ("consumer.properties", "bootstrap.servers=a:1\n", "mirrormaker1-consumer"),
        ("producer.config", "bootstrap.servers=a:1\n", "mirrormaker1-producer"),
        ("consumer.config", "rebalance.max.retries=4\n", "mirrormaker1-consumer"),
        ("consumer.properties", "bootstrap.servers=a:1\nacks=all\nlinger.ms=5\n", "mirrormaker1-consumer"),
        ("consumer.properties", "hello=world\n", None),
        ("connect-distributed.properties", "group.id=g\nconfig.storage.topic=c\n", "connect-worker"),
        ("connect-standalone.properties", "offset.storage.file.filename=/tmp/o\n", "connect-worker"),
        ("a", "name=x\nconnector.class=y\noffset.flush.interval.ms=4\n", "connectors"),
        ("a", "connector.class=y\nreplication.policy.class=z\n", "connectors"),
        ("a", "connector.class=y\nold->new.topics=z\n", "connectors"),
        ("a", "clusters=a,b\nconnector.class=y\n", "mirrormaker2"),
        ("a", "replication.policy.class=z\n", "mirrormaker2"),
        ("a", "apiVersion: v1\nkind: ConfigMap\n", "strimzi"),
        ("a", "- kind: ConfigMap\n", "strimzi"),
        ("a", "version: '3'\nservices:\n  a:\n    image: b\n", "strimzi"),
        ("a", "mirror:\n  image: kafka\n", "strimzi"),
        ("a", "kind = x\n", None),
        ("a", "hello\n", None),
    ],
)  # fmt: skip
def test_the_content_and_the_name_decide(name: str, text: str, kind: str | None) -> None:
    """A section in brackets is no JSON, and the name of a program is no command."""
    found = kind_of(name, text)

    assert (found.value if found else None) == kind
