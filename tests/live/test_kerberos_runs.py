"""Whole cutovers between clusters that accept Kerberos only: Airflow, both engines, and Spark here and there.

`make campaign-kerberos` runs these tests with the Python client that has Kerberos; Airflow uses it as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest

from sandbox.kafka import SHORT_LIVED
from sandbox.security.kdc import Kdc, KerberosLogin
from tests.live.conftest import LiveWorld
from tests.live.spark_cluster import spark_cluster
from tests.live.test_kerberos import PRINCIPAL, running_kdc
from tests.live.test_kerberos_realms import NEW, OLD
from tests.live.test_secured_runs import assert_moved
from tests.live.worlds import own_world

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.kerberos]

USER_OF_BOTH = OLD.principal(PRINCIPAL.partition("@")[0])


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """A Kerberos server with two realms, of which the target's trusts the source's."""
    with running_kdc(tmp_path_factory.mktemp("kerberos"), OLD, NEW) as made:
        yield made


@pytest.fixture(scope="module")
def world(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWorld]:
    """Everything runs; each Java is told where the realms are, as `/etc/krb5.conf` would."""
    root = tmp_path_factory.mktemp("kerberos-runs")
    (root / "spark").mkdir()
    client = str(Path(confluent_kafka.__file__).parents[1])
    environment = {**kdc.environment(USER_OF_BOTH), "PYTHONPATH": os.pathsep.join([client])}
    logins = {"source": KerberosLogin(kdc, OLD, OLD), "target": KerberosLogin(kdc, NEW, OLD)}
    options = (*SHORT_LIVED, kdc.java_option)
    with (
        own_world(root, environment, kerberos=logins, java_options=options) as made,
        spark_cluster(root / "spark") as cluster,
    ):
        java = " ".join(options)
        everywhere = {"spark.driver.extraJavaOptions": java, "spark.executor.extraJavaOptions": java}
        extra = {"deploy-mode": "client", **everywhere}
        made.api.add_connection("local", "spark", extra, host="local[2]")
        made.api.add_connection("standalone", "spark", {**cluster.conf, **extra}, host=cluster.master)
        for side, security in made.sandbox.security.items():
            made.api.add_connection(f"{side}_kerberos", "kafka", security.connection("kerberos"))
        yield made


@pytest.mark.parametrize("place", ["local", "standalone"])
@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_cutover_between_clusters_with_kerberos(world: LiveWorld, engine: str, place: str) -> None:
    """With one principal in two realms, and the rights that `acls` prints, a cutover proves the copy."""
    assert_moved(world, f"kerberos-{engine}-{place}", "kerberos", engine, place)
