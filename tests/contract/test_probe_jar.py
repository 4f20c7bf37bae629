"""The program of a probe is compiled from its source, and runs with Java 8."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.for_tests import COMPILER
from sandbox.jars import KAFKA_VERSION, kafka_home
from sandbox.probe_jar import SECTION, SOURCE, classes_of, compiled, section_of
from tests.programs import run_java

pytestmark = pytest.mark.live

# The form of class files of Java 8.
JAVA_8 = 52


# What Kafka's client reads as the login of each side: the text that it compares, and the options.
_LOGINS = """
import java.lang.reflect.Method;
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.security.JaasContext;

public class ReadLogins {
    public static void main(String[] folders) throws Exception {
        Method settings = Class.forName("ClusterProbe").getDeclaredMethod("settings", Path.class, String.class);
        settings.setAccessible(true);
        for (String side : new String[] {"source", "target"}) {
            Properties found = (Properties) settings.invoke(null, Paths.get(folders[0]), side);
            AdminClientConfig config = new AdminClientConfig(found);
            System.out.println(config.getPassword("sasl.jaas.config").value());
            System.out.println(JaasContext.loadClientContext(config.values()).configurationEntries().get(0).getOptions());
        }
    }
}
"""
LOGIN = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    'clientId="a required b" clientSecret="c";'
)


def test_equal_logins_are_not_shared(tmp_path: Path) -> None:
    """Kafka shares a login, and so its token, between clients of one process whose texts are equal."""
    (tmp_path / "secrets").mkdir()
    for side in ("source", "target"):
        settings = f"bootstrap.servers = b1:9092\nsasl.jaas.config = {LOGIN}\n"
        (tmp_path / "secrets" / f"{side}.properties").write_text(settings)
    for name, code in classes_of(SECTION.read_text()).items():
        (tmp_path / name).write_bytes(code)
    program = tmp_path / "ReadLogins.java"
    program.write_text(_LOGINS)
    source, options, target, others = run_java(
        "-cp", f"{tmp_path}:{kafka_home() / 'libs'}/*", program, tmp_path
    ).splitlines()

    assert LOGIN == source
    assert source != target
    assert options == others
    assert "clientId=a required b" in options


def test_jar_is_its_source() -> None:
    """The classes in mirrorctl are those of the source, byte by byte; `make probe-jar` writes them."""
    carried = classes_of(SECTION.read_text())

    assert compiled() == carried
    assert ["ClusterProbe.class"] == list(carried)
    assert carried == classes_of(section_of(carried))


def test_program_needs_no_newer_java() -> None:
    """The class has the form of Java 8."""
    assert [JAVA_8] == [code[7] for code in classes_of(SECTION.read_text()).values()]


def test_program_uses_only_the_library_of_java_8(tmp_path: Path) -> None:
    """The source compiles with the library of Java 8, which lacks newer methods."""
    clients = kafka_home() / "libs" / f"kafka-clients-{KAFKA_VERSION}.jar"
    main = ("-m", f"{COMPILER}/com.sun.tools.javac.Main")
    run_java(*main, "--release", "8", "-proc:none", "-cp", clients, "-d", tmp_path, SOURCE)

    assert ["ClusterProbe.class"] == [path.name for path in tmp_path.iterdir()]
