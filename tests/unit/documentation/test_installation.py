"""The commands of the installation page that need neither Airflow nor a cluster, run as the page shows them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from kafka_migration.core.spark.spark_versions import PACKAGES, PACKAGES_TESTED
from tests.documents import commands

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "installation.md").read_text()
README = (ROOT / "README.md").read_text()
FIRST = (ROOT / "docs" / "start" / "first-migration.md").read_text()
WALKTHROUGHS = (ROOT / "docs" / "walkthroughs" / "index.md").read_text()


def shell(command: str, folder: Path, **environment: str) -> str:
    """Run a command in a folder, which is also the home; return what it printed."""
    variables = {**os.environ, "HOME": str(folder), **environment}
    return subprocess.run(
        ["sh", "-ec", command], cwd=folder, env=variables, capture_output=True, text=True, check=True
    ).stdout


def with_word(word: str) -> str:
    """Return the one command of the page with this word."""
    (found,) = (line for line in commands(PAGE, "sh") if word in line)
    return found


def test_versions_that_are_installed_are_the_constraints(tmp_path: Path) -> None:
    """Every installed package keeps its version; pyspark and our own package may get another one."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "pip"
    program.write_text(
        "#!/bin/sh\nprintf '%s\\n' apache-airflow==3.3.0 PySpark==3.5.0 pyspark-client==3.5.0 "
        "kafka_migration_airflow==0.1.0 kafka-migration-airflow==0.1.0 apache-airflow-providers-apache-kafka==2.1.0\n"
    )
    program.chmod(0o755)

    shell(with_word("pip list"), tmp_path, PATH=f"{program.parent}:{os.environ['PATH']}")

    kept = (tmp_path / "installed.txt").read_text().split()
    assert ["apache-airflow==3.3.0", "apache-airflow-providers-apache-kafka==2.1.0"] == kept


def test_all_pages_install_in_the_same_way() -> None:
    """All pages that install the wheel have the same commands."""
    install = [line for line in commands(PAGE, "sh") if "pip" in line.split()]

    assert 2 == len(install)
    for page in (FIRST, WALKTHROUGHS, README):
        assert install == [line for line in commands(page, "sh") if "pip" in line.split()]


def test_both_packages_of_spark_get_one_tested_version() -> None:
    """The command names one version for both packages of Spark, which pip would choose one by one."""
    named = {word.partition("==")[0]: word.partition("==")[2] for word in with_word("pip install").split()}

    assert {PACKAGES_TESTED} == {named[package] for package in PACKAGES}
    for package in PACKAGES:
        assert f"\n{package}=={PACKAGES_TESTED} " in (ROOT / "requirements.lock").read_text()


def test_key_has_no_passphrase_and_the_name_that_the_connection_uses(tmp_path: Path) -> None:
    """The command makes the key that the connection of the walkthroughs names, which is used without asking."""
    (tmp_path / ".ssh").mkdir(mode=0o700)

    shell(with_word("ssh-keygen"), tmp_path)

    key = tmp_path / ".ssh" / "id_ed25519"
    assert shell(f"ssh-keygen -y -P '' -f {key}", tmp_path).startswith("ssh-ed25519 ")
    assert "/home/airflow/.ssh/id_ed25519" in WALKTHROUGHS
