"""Rules of local evidence that other users may change at any moment: modes, links that appear, and names."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kafka_migration.adapters.store import local_files
from kafka_migration.adapters.store.document_files import (
    create_whole,
    is_there,
    listed,
    read_whole,
    rooted,
    write_whole,
)
from kafka_migration.adapters.store.document_files import flush as flush_document
from kafka_migration.adapters.store.local_files import LocalPath
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.cli.shell.evidence_access import evidence_root as store_root
from kafka_migration.core.findings.errors import EvidenceUnreadable, FindingsError


def test_names_lead_down_only(tmp_path: Path) -> None:
    """A path below a root has no name that leads elsewhere, and is printed as any path."""
    root = rooted(tmp_path)

    assert f"{tmp_path}/shop/a.json" == str(root / "shop" / "a.json") == str(root / "shop/a.json")
    assert ("a.json", root / "shop") == ((root / "shop/a.json").name, (root / "shop/a.json").parent)
    for name in ("", "..", ".", "/", "/etc/passwd", "a/../b", "a//b", "a\0b"):
        with pytest.raises(ValueError, match="no name of a document"):
            root / name


def test_root_may_be_a_link_and_nothing_below(tmp_path: Path) -> None:
    """The root, and what is above it, may be links; without a stated root no part of a path may be one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_whole(rooted(tmp_path / "link") / "shop/a.json", "{}")

    assert b"{}" == read_whole(rooted(tmp_path / "link") / "shop/a.json") == read_whole(tmp_path / "real/shop/a.json")
    with pytest.raises(EvidenceUnreadable, match="a symbolic link instead of the folder link"):
        read_whole(tmp_path / "link" / "shop" / "a.json")


def test_roots_of_airflow_and_of_the_command_line_are_roots(tmp_path: Path) -> None:
    """Every way to name a local evidence root leads to paths that only `local_files` can open."""
    for root in (
        settings.folder_at(str(tmp_path)),
        settings.folder_at(f"file://{tmp_path}"),
        store_root(str(tmp_path)),
    ):
        assert LocalPath(str(tmp_path)) == root
        with pytest.raises(TypeError):
            Path(root)


def test_folder_is_listed_up_to_a_number_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood of names ends the listing instead of filling the memory."""
    monkeypatch.setattr(local_files, "MOST_NAMES", 2)
    for name in "ab":
        (tmp_path / name).touch()
    assert ["a", "b"] == sorted(listed(tmp_path))

    (tmp_path / "c").touch()
    with pytest.raises(FindingsError, match="more than 2 names"):
        listed(tmp_path)


@pytest.fixture(params=[0o000, 0o002, 0o022, 0o077], ids="umask {0:03o}".format)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """A umask of this process."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


@pytest.mark.parametrize("write", [write_whole, create_whole])
@pytest.mark.parametrize("has_links", [True, False])
def test_modes_do_not_depend_on_the_umask(
    tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch, write: Any, has_links: bool
) -> None:
    """Only the owner and the group of a folder can read its documents; a new root is like its folders."""
    if not has_links:
        monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(PermissionError(1, "no links here")))
    write(rooted(tmp_path / "root") / "shop/ledger/000001.json", "{}")

    folder = tmp_path / "root" / "shop" / "ledger"
    assert ["0o750"] * 3 == [mode(each) for each in (folder.parent.parent, folder.parent, folder)]
    assert "0o640" == mode(folder / "000001.json")


@pytest.mark.parametrize("right", [0o2770, 0o2750, 0o770, 0o777])
def test_folders_below_a_folder_of_a_group_are_of_that_group(tmp_path: Path, umask: int, right: int) -> None:
    """A group that may write the root may write the folders in it, so Spark's user can be in it; others never may."""
    tmp_path.chmod(right)
    write_whole(rooted(tmp_path) / "shop/run/attempt-1/a.json", "{}")

    expected = oct(0o750 | right & 0o2020)
    assert [expected] * 3 == [mode(tmp_path / each) for each in ("shop", "shop/run", "shop/run/attempt-1")]
    assert "0o640" == mode(tmp_path / "shop/run/attempt-1/a.json")


class Racing(ModuleType):
    """The module `os`, which lets someone else act before its n-th call."""

    def __init__(self, turn: int, act: Callable[[], None]) -> None:
        super().__init__("os")
        self._left, self._act = turn, act
        self.has_acted = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        if not callable(found) or isinstance(found, type):
            return found

        def called(*arguments: Any, **options: Any) -> Any:
            if self._left == 0:
                self._act()
                self.has_acted = True
            self._left -= 1
            return found(*arguments, **options)

        return called


ACTS: dict[str, Callable[[LocalPath], object]] = {
    "write": lambda path: write_whole(path, "mine"),
    "create": lambda path: create_whole(path, "mine"),
    "read": read_whole,
    "list": lambda path: listed(path.parent),
    "look": is_there,
    "flush": flush_document,
}
# Whether the document, and its folder, exist before.
BEFORE = {"document": True, "folder": False}


@contextmanager
def _world(home: Path, *, has_document: bool) -> Iterator[tuple[LocalPath, Path, Path]]:
    """A document's path, its folder, and a folder outside the root with a document of the same name."""
    root, outside = home / "root", home / "outside"
    (root / "shop").mkdir(parents=True)
    outside.mkdir()
    (outside / "a.json").write_text("SECRET")
    if has_document:
        write_whole(rooted(root) / "shop/run/a.json", "before")
    yield rooted(root) / "shop/run/a.json", root / "shop" / "run", outside
    shutil.rmtree(home)


def _link_folder(folder: Path, outside: Path) -> None:
    with suppress(FileNotFoundError):
        folder.rename(folder.with_name("moved"))
    folder.symlink_to(outside)


def _link_document(folder: Path, outside: Path) -> None:
    (folder / "a.json").unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        (folder / "a.json").symlink_to(outside / "a.json")


@pytest.mark.parametrize("swap", [_link_folder, _link_document])
@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("has_document", [True, False])
def test_link_that_appears_at_any_moment_is_not_followed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    swap: Callable[[Path, Path], None],
    act: Callable[[LocalPath], object],
    has_document: bool,
) -> None:
    """Before each single call of the operating system a folder or a document becomes a link: it leads nowhere."""
    for turn in count():
        with _world(tmp_path / str(turn), has_document=has_document) as (path, folder, outside):
            racing = Racing(turn, lambda folder=folder, outside=outside: swap(folder, outside))  # type: ignore[misc]
            monkeypatch.setattr(local_files, "os", racing)
            found: object = None
            with suppress(FindingsError, FileNotFoundError):
                found = act(path)
            monkeypatch.setattr(local_files, "os", os)
            assert found != b"SECRET"
            assert ["a.json"] == [each.name for each in outside.iterdir()]
            assert "SECRET" == (outside / "a.json").read_text()
        if not racing.has_acted:
            break
    assert turn > 3
