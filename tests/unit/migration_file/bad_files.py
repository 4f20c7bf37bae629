"""Bad migration files by family; each is a complete good file with one mistake."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

# No finding may show it: it stands where a secret may stand.
CANARY = "CANARY-4711"
HUGE = "9" * 5_000
Path = tuple[str | int, ...]

FULL = """\
version: 1
name: shop
source:
  connection: old_kafka
  alias: old
  insecure: []
target:
  connection: new_kafka
  replication_factor: 2
  insecure: []
topics:
  - orders
  - name: audit
    replication_factor: 1
    configs: {retention.ms: "1000"}
  - pattern: logs-.*
    timestamps: false
  - exclude: .*-tmp
mirror:
  engine: mirrormaker2
  connection: mirror_host
  kafka_home: /opt/kafka
  java_home: /opt/java
  tasks: 2
  heap_mb: 512
  lease: 10m
  stop_grace: 90s
  isolation_level: read_committed
  topic_names: {naming: custom, policy_class: shop.Policy, pattern: "eu.{topic}"}
  exactly_once: false
  restarts: 3
  properties: {producer.compression.type: zstd}
watch: {poll_interval: 15s, stall_after: 10m, unreachable_after: 1h, time_limit: 6h}
validation:
  spark_connection: spark
  max_duplicates: 10
  max_aborted: 0
  max_bytes_per_s: 1000000
  spark_unprotected: false
cutover:
  groups: ["shop-.*"]
  near: 100
  fence_quiet: 60s
  fence_wait: 60m
  drain_groups: 1h
  uncommitted: refuse
  may_be_active: [shop-a]
  may_rewind: [shop-b]
  hooks: {stop_producers: {dag: stop_shop}, after_cutover: {callable: shop.kafka.switch}}
  approval_time_limit: 24h
  approvers: [ada]
  four_eyes: false
nightly:
  cron: "0 1 * * *"
  timezone: Europe/Berlin
  until: "05:30"
  validate_until: "07:00"
  when_late: fail
  when_reserved: wait
  wait_limit: 4h
alerts:
  notifiers:
    - notifier: airflow.providers.smtp.notifications.smtp.SmtpNotifier
      arguments: {to: ada@example.com}
      kinds: [refused]
  too_long_after: 5h
schema_registry: {source: old_registry, target: new_registry, parts: {orders: [value]}}
accept: [TOPIC_CONFIG_DIFFERS]
"""
DOCUMENT = yaml.safe_load(FULL)


def dumped(document: object) -> str:
    """Return a document as a file; libyaml writes it as PyYAML does, in a tenth of the time."""
    return str(yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True))


SECTIONS = {name: dumped({name: section}) for name, section in DOCUMENT.items()}


def _with_section(name: str | int, section: Mapping[Any, Any]) -> str:
    """Return the full file with another text of one section; a new section is the last."""
    return "".join((SECTIONS | {str(name): dumped(section)}).values())


def _place(path: Path) -> tuple[dict[Any, Any], Any]:
    """Return a copy of the section of a path, and what of it holds the last part."""
    section = copy.deepcopy({name: DOCUMENT[name] for name in path[:1] if name in DOCUMENT})
    place: Any = section
    for part in path[:-1]:
        place = place[part]
    return section, place


def with_value(path: Path, value: object) -> str:
    """Return the full file with another value at a place; the last part may be a new field."""
    section, place = _place(path)
    place[path[-1]] = value
    return _with_section(path[0], section)


def with_key(path: Path, key: object) -> str:
    """Return the full file with another key in place of the last part of a path."""
    section, place = _place(path)
    place[key] = place.pop(path[-1])
    return _with_section(path[0], section)


def texts() -> Iterator[Path]:
    """Yield the place of each text of the full file."""
    yield from _texts(DOCUMENT, ())


def _texts(value: object, path: Path) -> Iterator[Path]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


# Texts that may have any printable characters; the tests of injection show that these have no effect.
FREE_TEXTS: set[Path] = {
    ("cutover", "may_be_active", 0),
    ("cutover", "may_rewind", 0),
    ("cutover", "approvers", 0),
    ("alerts", "notifiers", 0, "arguments", "to"),
}
PATTERNS: set[Path] = {("topics", 2, "pattern"), ("topics", 3, "exclude"), ("cutover", "groups", 0)}
# Keys that people choose.
KEYS: tuple[Path, ...] = (
    ("topics", 1, "configs", "retention.ms"),
    ("mirror", "properties", "producer.compression.type"),
    ("schema_registry", "parts", "orders"),
)


def replaced(old: str, *texts_: str) -> dict[str, str]:
    """Return the full file with each of the texts in place of a part, by text."""
    assert FULL.count(old) == 1, old
    return {text: FULL.replace(old, text) for text in texts_}


def valued(dotted: str, *values: object) -> dict[str, str]:
    """Return the full file with each of the values at a place, by place and value."""
    path: Path = tuple(int(part) if part.isdecimal() else part for part in dotted.split("/"))
    return {f"{dotted} = {value!r}": with_value(path, value) for value in values}


def _placed(path: Path) -> str:
    return "/".join(map(str, path))


def shell() -> dict[str, str]:
    """Return a command in every text and key that is not free."""
    command = "x; $(touch /tmp/evil) `id` | sh"
    of_values = {f"{_placed(path)}": with_value(path, command) for path in texts() if path not in FREE_TEXTS | PATTERNS}
    return of_values | {f"key {_placed(path)}": with_key(path, command) for path in KEYS}


# What runs code in a JVM or hands a setting to another part of it.
JVM = (
    valued("mirror/jvm_options", "-javaagent:/tmp/evil.jar", "-XX:OnOutOfMemoryError=touch /tmp/evil")
    | valued("mirror/java_opts", "-Dx=y")
    | valued("mirror/environment", {"KAFKA_OPTS": "-javaagent:/tmp/evil.jar"})
    | valued("mirror/heap_mb", "512 -javaagent:/tmp/evil.jar", "512m", 10**9)
    | valued("mirror/java_home", "/opt/java -javaagent:/tmp/evil.jar", "-XX:+UnlockDiagnosticVMOptions")
    | valued("mirror/kafka_home", "/opt/kafka:/tmp/evil", "/opt/*")
    | valued(
        "mirror/properties",
        {"producer.interceptor.classes": "evil.Evil"},
        {"producer.metric.reporters": "evil.Evil"},
        {"consumer.key.deserializer": "evil.Evil"},
        {"org.apache.kafka.automatic.config.providers": "evil.Evil"},
        {"producer.config.providers": "file"},
        {"producer.partitioner.class": "evil.Evil"},
        {"transforms": "evil"},
    )
    | valued("mirror/topic_names/policy_class", "evil", "evil.Evil; x", "evil..Evil", "1.Evil", "-javaagent:x.Evil")
)

# Logins that Kafka's clients would load or ask, and secrets that belong in connections.
LOGINS = valued(
    "mirror/properties",
    {"producer.sasl.jaas.config": f"com.sun.security.auth.module.JndiLoginModule required x={CANARY};"},
    {"producer.sasl.jaas.config": f"com.sun.security.auth.module.LdapLoginModule required x={CANARY};"},
    {"producer.sasl.login.callback.handler.class": "evil.Evil"},
    {"producer.sasl.oauthbearer.token.endpoint.url": "http://169.254.169.254/"},
    {"producer.sasl.oauthbearer.jwks.endpoint.url": "file:///etc/shadow"},
    {"producer.ssl.engine.factory.class": "evil.Evil"},
    {"producer.ssl.truststore.location": "/etc/shadow"},
    {"producer.security.providers": "evil.Evil"},
    {"producer.bootstrap.servers": "evil:9092"},
) | valued("source/sasl.jaas.config", f'x required password="{CANARY}";')
SECRETS = (
    valued("source/password", CANARY)
    | valued("source/extra", {"sasl.password": CANARY})
    | valued("source/connection", f"kafka://me:{CANARY}@broker:9092", {"password": CANARY})
    | valued("target/sasl_password", CANARY)
    | valued("target/sasl.oauthbearer.client.secret", CANARY)
    | valued("mirror/password", CANARY)
    | valued("mirror/private_key", f"-----BEGIN PRIVATE KEY-----\n{CANARY}")
    | valued("mirror/properties", {"producer.sasl.password": CANARY}, {"producer.ssl.key.password": f"{CANARY} x"})
    | valued("schema_registry/source", f"https://me:{CANARY}@registry")
    | valued("schema_registry/password", CANARY)
    | valued("validation/spark_connection", f"spark://me:{CANARY}@master:7077")
    | valued("alerts/notifiers/0/arguments", {"password": CANARY}, {"slack_token": CANARY})
    | valued("alerts/notifiers/0/notifier", f"https://hooks:{CANARY}@chat/x")
)

# What YAML itself would do: make objects, expand a few lines, read a text as a number or a date.
YAML = replaced(
    "version: 1\n",
    "version: !!python/name:os.system\n",
    "version: !!python/object/apply:os.system [id]\n",
    "version: !!python/object/new:subprocess.Popen [[id]]\n",
    "version: !!binary '%%%'\n",
    "version: !!set {a}\n",
    "version: !!timestamp 5\n",
    "version: !evil 1\n",
    "version: 2024-02-30\n",
    "version: &a 1\n",
    "version: *a\n",
    "version: 1\n<<: {name: x}\n",
    "version: 1\n? {a: b}\n: c\n",
    "version: 1\n%YAML 3\n",
    "version: 1\n---\nname: b\n",
    "version: 1\n\x00\n",
    "version: 1\n\x07\n",
    "version: 1\n\ufffe\n",
    "version: 1\n'\n",
    "version: 1\n{\n",
    f"version: {'[' * 5_000}{']' * 5_000}\n",
    f"version: {'{a: ' * 5_000}{'}' * 5_000}\n",
    f"version: [{'a,' * 60_000}]\n",
    f"version: 0x{HUGE}\n",
    f"version: {'1:' * 5_000}1\n",
)

KEYS_OF_FILES = (
    replaced(
        "version: 1\n",
        "version: 1\nversion: 1\n",
        "version: 1\n\tname: x\n",
        "version: 1\nmirrors: {}\n",
        "version: 1\n1: 2\n",
        "version: 1\nnull: 2\n",
        "version: 1\n'': 2\n",
        f"version: 1\n{'k' * 10_000}: 2\n",
        f"version: 1\n? {'k' * 200_000}\n: 2\n",
        "version: 1\n" + "\n".join(f"k{n}: 1" for n in range(20_000)) + "\n",
        "",
    )
    | replaced("  tasks: 2\n", "  task: 2\n", "  tasks: 2\n  tasks: 3\n", "  Tasks: 2\n", "\ttasks: 2\n")
    | valued("watch/stall_afer", "60s")
    | valued("cutover/hooks/stop_consumers", {"dag": "x"})
    | valued("topics/2/retention", 5)
    | valued("validation/compacted", {"orders": True})
    | valued("validation/timestamps", {"orders": False})
)

TYPES = (
    valued("name", None, 5, True, [], {}, ["shop"])
    | valued("topics", None, "orders", {"orders": "audit"}, 5)
    | valued("topics/0", 5, None, [["orders"]], {}, {"name": "a", "pattern": "b"}, {"configs": {}})
    | valued("topics/1/replication_factor", 0, -1, 1.5, "2", True)
    | valued("topics/1/partitions", 4)
    | valued("topics/1/configs", [], {"retention.ms": 5}, {"Retention": "5"}, {"retention.ms": "a b"})
    | valued("topics/2/timestamps", "no", 0)
    | valued("topics/3/configs", {"a.b": "1"})
    | valued("target/replication_factor", 0, 33, "3", 1e3, True)
    | valued("mirror", None, [], "x")
    | valued("mirror/engine", "mirrormaker3", "MirrorMaker2", 2, None)
    | valued("mirror/tasks", 0, -1, 1001, "2", 2.5, True, [2])
    | valued("mirror/heap_mb", 1, 262_145, "512")
    | valued("mirror/lease", "0s", "8d", "999999999999d", "-5m", 5, "5 m", "٥m", "1.5h", ["10m"], None)
    | valued("mirror/stop_grace", "2h", "")
    | valued("mirror/restarts", -1, 21, True)
    | valued("mirror/exactly_once", 1, "yes")
    | valued("watch", [])
    | valued("watch/poll_interval", "soon", 15)
    | valued("watch/unreachable_after", "5m")
    | valued("validation/max_duplicates", -1, "10")
    | valued("validation/max_bytes_per_s", 99_999, 1e6)
    | valued("cutover/near", -1, 1.5)
    | valued("cutover/uncommitted", "maybe")
    | valued("cutover/four_eyes", "true")
    | valued("cutover/fence_quiet", "367d")
    | valued("nightly/cron", "* * * *", "99 * * * *", "R * * * *", "0 0 30 2 *", "@daily", None)
    | valued("nightly/timezone", "Mars", "Europe/berlin")
    | valued("nightly/until", "24:00", 330, "5:30", "05:30\n", "07:00")
    | valued("nightly/when_late", "shrug")
    | valued("alerts/notifiers", {}, [5], [{}], [{"notifier": "a.B"}] * 21)
    | valued("alerts/notifiers/0/kinds", [], ["never"])
    | valued("alerts/notifiers/0/arguments", {"a": float("nan")}, {1: "a"})
    | valued("schema_registry", [], {"source": "old"})
    | valued("schema_registry/parts", ["orders"], {"orders": "value"}, {"orders": ["header"]}, {"others": ["value"]})
    | valued("accept", "TOPIC_CONFIG_DIFFERS", ["SAME_CLUSTER"], ["topic_config_differs"], [5], [""], {})
    | valued("mirror/properties", {"producer.batch.size": "-5"}, {"producer.acks": "0"}, {"producer.linger.ms": ""}, [])
)

PLACES = (
    valued("name", "../shop", "/etc/shop", "shop/..", "~", "shop\x00", ".", "..")
    | valued("mirror/kafka_home", "relative", "~/kafka", "/opt/\x00", "/opt/a b", "/opt\n/x", "/" + "x" * 600)
    | valued("mirror/java_home", "java", "C:\\java", "/opt/$(id)")
    | valued("source/connection", "../x", "a/b", "a" * 201)
    | valued("source/alias", "../x", "a.b", "offset", "shop-target")
    | valued("topics/0", "../x", ".", "..", "a/b", "t" * 250)
    | valued("nightly/timezone", "../../etc/passwd", "/etc/localtime", "UTC\x00")
)

LETTERS = (
    valued(
        "name",
        "shöp",
        "ѕhop",
        "sh\u200bop",
        "sh\u202eop",
        "ｓhop",
        "shop\u00a0",
        "\x1b]0;x",
    )
    | valued(
        "topics/0",
        "оrders",
        "orders\u200b",
        "orders\u202e",
        "orders\u2028",
        "ördërs",
        "orders\n",
    )
    | valued("source/connection", "оld_kafka", "old\ufeffkafka")
    | valued("cutover/may_be_active", ["a\x1bb"], ["a\nb"], [""])
    | valued("cutover/approvers", ["a\nb"], ["a\x9b"], [""])
    | valued("mirror/tasks", "٥", "２")
)

SIZES = (
    {"an empty file": "", "only a comment": "# shop\n", "a text": "shop", "a list": "- shop\n", "null": "null\n"}
    | valued(
        "topics",
        [],
        [""],
        [{"exclude": ".*"}],
        ["orders", "orders"],
        ["__consumer_offsets"],
        ["orders.internal"],
        [f"t{n}" for n in range(5_001)],
        ["orders"] * 5_000,
        [f"__t{n}" for n in range(4_000)],
    )
    | valued("cutover/groups", [], [""], ["a" * 501], ["a"] * 1_001)
    | valued("cutover/approvers", [f"a{n}" for n in range(101)])
    | valued("cutover/may_be_active", ["g" * 1_001])
    | valued("name", "s" * 64, "s" * 100_000, "")
    | replaced("version: 1\n", f"version: '{'x' * 900_000}'\n", f"version: {HUGE}\n")
)

REGULAR_EXPRESSIONS = (
    valued("topics/2/pattern", "[", "*", "(a+)+", "(a|a)*b", "a{99999999999}", "(?<=a+)b", "\\1", "", 5)
    | valued("topics/3/exclude", "(.*)(.*)(.*)(.*)x", "(?P<a>a)(?P<a>b)", "(?(1)a)", "(" * 250)
    | valued("cutover/groups/0", "(a?){30}a{30}", "a?" * 30 + "a" * 30, "(?i")
)

VERSIONS = valued("version", 2, 3, 99, 0, -1, 10**30, "1", "2", 1.0, True, None, [1], {1: 1}, "latest")

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "shell commands": shell(),
    "JVM options": JVM,
    "login modules": LOGINS,
    "YAML": YAML,
    "keys": KEYS_OF_FILES,
    "types and numbers": TYPES,
    "paths": PLACES,
    "letters": LETTERS,
    "sizes": SIZES,
    "secrets": SECRETS,
    "regular expressions": REGULAR_EXPRESSIONS,
    "versions": VERSIONS,
}
