"""Settings of a probe's client: what this package writes, what it must not bring, and Java's own reading of both."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_migration.adapters.host.mirrorctl_host import mirrorctl_text
from kafka_migration.core.connections.client_settings import SETTINGS
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.connections.mechanisms import LOGIN_SETTINGS, MECHANISMS
from kafka_migration.engines.launching import render_properties
from tests.programs import run_java

PEM = "-----BEGIN {0}-----\nMIIEvQ+/==\r\n\tab\n-----END {0}-----\n"
HOSTILE_TEXT = ' "quoted" \\ \\" # ! = : $ { } $x u0024{ üñ✓😀 ; \' \\\\ \\u0024 end\\'
_BY_FORM = {
    "certificates": PEM.format("CERTIFICATE"),
    "private key": PEM.format("PRIVATE KEY"),
    "principal": "migration/host@EXAMPLE.COM",
    "path": "/etc/security/keytabs/migration.keytab",
    "https address": "https://login.example.com:8443/oauth2/token",
    "token method": "oidc",
    "token extensions": "logicalCluster=lkc-1,identityPoolId=pool-2",
}
_BY_NAME = {
    "bootstrap.servers": "b1:9092, [fe80::1%eth0]:9092",
    "security.protocol": "sasl_ssl",
    "ssl.endpoint.identification.algorithm": "none",
    "sasl.kerberos.service.name": "kafka",
}
# Settings that load a class, read a file, name another configuration or are not of a client.
OTHER_SETTINGS = (
    "config.providers",
    "config.providers.file.class",
    "sasl.login.class",
    "sasl.client.callback.handler.class",
    "ssl.engine.factory.class",
    "ssl.keystore.location",
    "ssl.truststore.location",
    "metric.reporters",
    "interceptor.classes",
    "security.providers",
    "auto.include.jmx.reporter",
    "client.id",
    "client.dns.lookup",
    "sasl.oauthbearer.jwks.endpoint.url",
)
_PLAIN = "sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required "
# Lines that Java reads as another setting, another value or a part of the line above, and values that load or read.
HOSTILE_LINES = (
    *(f"{name}{separator}canary" for name in OTHER_SETTINGS for separator in (" = ", "=", ":", " ", "\t", " : ")),
    "\\u0063onfig.providers = canary",
    "c\\onfig.providers = canary",
    "config\\.providers = canary",
    "client.rack\\ = canary",
    " client.rack = canary",
    "\tconfig.providers = canary",
    "\fconfig.providers = canary",
    "! canary",
    "# canary",
    "",
    "client.rack = canary\\",
    "client.rack = canary\\\\\\",
    "client.rack = canary\rconfig.providers = file",
    "client.rack = canary\fx",
    "client.rack = ${file:/canary:password}",
    "client.rack = \\u0024{file:/canary:password}",
    "client.rack = \\u0024\\u007Bfile:/canary:password}",
    "client.rack = $\\{file:/canary:password}",
    "client.rack = $\\u007bfile:/canary:password}",
    "client.rack = \\u00zzcanary",
    "client.rack = canary\x7f",
    "client.rack = canary ü",
    "client.rack: canary",
    "client.rack =canary",
    "client.rack  = canary",
    "CLIENT.RACK = canary",
    "security.protocol = canary",
    "sasl.mechanism = canary",
    "ssl.truststore.type = JKS",
    "ssl.keystore.type = PKCS12",
    "sasl.login.callback.handler.class = org.canary.Handler",
    "sasl.oauthbearer.token.endpoint.url = file:///canary",
    "sasl.oauthbearer.token.endpoint.url = http://canary/token",
    "sasl.oauthbearer.token.endpoint.url = https://u:canary@host/token",
    "sasl.jaas.config = com.sun.security.auth.module.JndiLoginModule required user.provider.url=canary;",
    "sasl.jaas.config = com.sun.security.auth.module.KeyStoreLoginModule required keyStoreURL=canary;",
    f'{_PLAIN}username="u" password="canary" serviceName="x";',
    f'{_PLAIN}username="u" password="canary"; org.canary.Module required;',
    f'{_PLAIN}username="u" password="canary\\\\\\\\"; org.canary.Module required x="";',
    f'{_PLAIN}username="u" password="canary\\n"; x="";',
    f'{_PLAIN}username="u" password="\\\\44{{canary";',
    f"{_PLAIN}username=u password=canary;",
    "sasl.jaas.config = org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    'clientId="a" clientSecret="canary" ssl.truststore.location="/x";',
    "sasl.jaas.config = com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true "
    'ticketCache="/canary";',
)
_PIECES = ("\\", "\n", "\r", "\f", "\t", " ", "=", ":", "#", "!", "${", "\\u0024", '"', ";")
_READER = """
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

public class ReadSettings {
    public static void main(String[] folders) throws Exception {
        for (String name : new TreeSet<>(Arrays.asList(Path.of(folders[0]).toFile().list()))) {
            Properties read = new Properties();
            try (Reader reader = Files.newBufferedReader(Path.of(folders[0], name), StandardCharsets.ISO_8859_1)) {
                read.load(reader);
            }
            StringBuilder shown = new StringBuilder(name);
            for (String key : new TreeSet<>(read.stringPropertyNames()))
                shown.append(' ').append(hex(key)).append('=').append(hex(read.getProperty(key)));
            System.out.println(shown);
        }
    }

    static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_16BE));
    }
}
"""
# All of mirrorctl but its call; each text is judged by its own function.
_JUDGE = """
refuse() { printf '%s' "$2" >"$judged.refused"; exit 3; }
for judged in "$1"/*; do
    (
        text=$(cat "$judged" && echo .)
        text=${text%.}
        check_client "$text"
        printf '%s' "$text" >"$2/${judged##*/}"
    )
done
"""


def listed_settings() -> set[str]:
    """Return the names of the settings that mirrorctl accepts for a probe."""
    lines = mirrorctl_text().partition("CLIENT_LINES='")[2].partition("\n\n")[0]
    return {name.replace("\\", "") for name in re.findall(r"^([a-z\\.]+) = ", lines, re.MULTILINE)}


def packages_properties() -> Iterator[dict[str, str]]:
    """Yield, for each mechanism and none, every property that the package can write, with hostile values."""
    for mechanism in ("", *MECHANISMS):
        used = MECHANISMS[mechanism].settings if mechanism else ()
        names = (name for name, setting in SETTINGS.items() if setting.in_java in {"same", "built"})
        config = {name: sample(name) for name in names if name not in LOGIN_SETTINGS or name in used}
        config = {name: value for name, value in config.items() if name not in {"sasl.mechanism", "sasl.mechanisms"}}
        yield java_properties("c", {**config, **({"sasl.mechanism": mechanism} if mechanism else {})})


def sample(name: str) -> str:
    """Return a value for a setting of a connection: its form's, or a text with every special character."""
    return _BY_NAME.get(name) or _BY_FORM.get(SETTINGS[name].form, HOSTILE_TEXT)


def mutations(count: int, seed: int) -> list[str]:
    """Return texts of the package, each changed in one to three ways."""
    chance = random.Random(seed)
    texts = [render_properties(properties) for properties in packages_properties()]
    return [_mutated(chance.choice(texts), chance) for _ in range(count)]


def _mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(text) + 1)
        lines = text.split("\n")
        line = chance.randrange(len(lines))
        match chance.randrange(5):
            case 0:
                lines.insert(line, chance.choice(HOSTILE_LINES))
                text = "\n".join(lines)
            case 1:
                piece = chance.choice(_PIECES)
                text = text[:place] + piece + text[place:]
            case 2:
                text = text[:place] + text[place + chance.randint(1, 4) :]
            case 3:
                lines[line] += chance.choice(("\\", "\\\\", "\\\n config.providers = x", "\rconfig.providers=x"))
                text = "\n".join(lines)
            case _:
                text += chance.choice(HOSTILE_LINES) + "\n"
    return text


def judged(sh: Path, folder: Path, texts: Sequence[str]) -> tuple[dict[int, Path], dict[int, str]]:
    """Let mirrorctl judge texts under a shell; return the files of the accepted ones and the others' refusals."""
    asked, accepted = folder / "asked", folder / "accepted"
    asked.mkdir()
    accepted.mkdir()
    for number, text in enumerate(texts):
        (asked / str(number)).write_text(text, encoding="utf-8", newline="")
    script = mirrorctl_text().rpartition("\nif [ ")[0] + _JUDGE
    done = subprocess.run([sh, "-c", script, "judge", asked, accepted], capture_output=True, text=True, check=False)
    assert "" == done.stderr
    refusals = {int(path.stem): path.read_text() for path in asked.glob("*.refused")}
    return {int(path.name): path for path in accepted.iterdir()}, refusals


def read_by_java(folder: Path) -> dict[int, dict[str, str]]:
    """Return the settings that Java's own class reads from each file of a folder."""
    program = folder.parent / "ReadSettings.java"
    program.write_text(_READER)
    printed = run_java(program, folder)
    return {int(number): dict(map(_setting, pairs)) for number, *pairs in map(str.split, printed.splitlines())}


def _setting(pair: str) -> tuple[str, str]:
    name, value = (bytes.fromhex(text).decode("utf-16-be", "surrogatepass") for text in pair.split("="))
    return name, value


def quoted(text: str) -> str:
    """Return a text as JSON, for the message of a failed test."""
    return json.dumps(text)
