"""Clusters of two Kerberos realms, with one user whom both accept, or with a user in each.

`make campaign-kerberos` runs these tests with the Python client that has Kerberos.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.sandbox import Sandbox
from sandbox.security.kdc import USER, Kdc, KerberosLogin, Realm
from tests.live.stage import connect_by, set_the_stage
from tests.live.test_kerberos import assert_copied, clusters, running_kdc

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.kerberos]

OLD = Realm("SOURCE.TEST", "source.localhost")
NEW = Realm("TARGET.TEST", "target.localhost")
ENGINES = pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """A Kerberos server with both realms; the target's trusts the source's."""
    with running_kdc(tmp_path_factory.mktemp("kerberos"), OLD, NEW) as made:
        yield made


@pytest.fixture(scope="module")
def trusting(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Clusters of both realms, to which a user of the source's realm logs in."""
    logins = {"source": KerberosLogin(kdc, OLD, OLD), "target": KerberosLogin(kdc, NEW, OLD)}
    with clusters(tmp_path_factory.mktemp("trusting"), kdc, logins) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def separate(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Clusters of both realms, each with a user of its own realm."""
    logins = {"source": KerberosLogin(kdc, OLD, OLD), "target": KerberosLogin(kdc, NEW, NEW)}
    with clusters(tmp_path_factory.mktemp("separate"), kdc, logins) as sandbox:
        yield sandbox


@ENGINES
def test_copy_with_one_user_of_two_realms(
    trusting: Sandbox, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """One principal copies between two realms if the target's realm trusts its own."""
    set_the_stage(trusting, tmp_path, monkeypatch)
    for name, value in kdc.environment(OLD.principal(USER)).items():
        monkeypatch.setenv(name, value)
    connect_by("kerberos", trusting, monkeypatch)

    assert_copied(trusting, tmp_path, f"trust-{engine}", engine)


@ENGINES
def test_copy_with_a_user_in_each_realm(
    separate: Sandbox, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Airflow has tickets of two principals; the Kerberos library takes the one that `.k5identity` names for a host."""
    set_the_stage(separate, tmp_path, monkeypatch)
    for name, value in kdc.environments(tmp_path, OLD, NEW).items():
        monkeypatch.setenv(name, value)
    connect_by("kerberos", separate, monkeypatch)

    assert_copied(separate, tmp_path, f"separate-{engine}", engine)
