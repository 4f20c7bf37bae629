"""Rules of class archives: what a run may use, and what stays in the folder."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kafka_migration.adapters.system.class_archives import (
    MOST_ARCHIVES,
    MOST_BYTES,
    folder_problem,
    keep,
    new_archive,
    usable_archive,
)
from tests.allowed_skips import lacks_root

KEY = "spark-0123-4567"
NOBODY = 65534


def made(folder: Path, key: str = KEY, content: bytes = b"classes") -> Path:
    """Make an archive and return its path."""
    with new_archive(folder) as path:
        path.write_bytes(content)
        return keep(path, key)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A path at which there is nothing."""
    return tmp_path / "archives"


def test_kept_archive_is_used(folder: Path) -> None:
    """An archive is found by its key, and only its owner may enter its folder or read it."""
    archive = made(folder)

    assert archive == usable_archive(folder, KEY)
    assert [0o700, 0o400] == [path.stat().st_mode & 0o777 for path in (folder, archive)]
    assert usable_archive(folder, "spark-0123-9999") is None


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_missing_folder_has_none(folder: Path) -> None:
    """Without a folder there is no archive, and looking for one makes no folder."""
    assert usable_archive(folder, KEY) is None
    assert not folder.exists()


def cut_off(path: Path) -> None:
    """Remove the end."""
    path.write_bytes(path.read_bytes()[:-1])


def damage(path: Path) -> None:
    """Change a byte, not the size."""
    path.write_bytes(b"C" + path.read_bytes()[1:])


def become_link(path: Path) -> None:
    """Be a link to the same content."""
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def become_pipe(path: Path) -> None:
    """Be a pipe without a writer."""
    path.unlink()
    os.mkfifo(path)


def become_folder(path: Path) -> None:
    """Be a folder."""
    path.unlink()
    path.mkdir()


def become_huge(path: Path) -> None:
    """Be larger than any archive."""
    os.truncate(path, MOST_BYTES + 1)


def be_writable(path: Path) -> None:
    """Let the group write."""
    path.chmod(0o620)


@pytest.mark.parametrize(
    "change", [cut_off, damage, become_link, become_pipe, become_folder, become_huge, be_writable, Path.unlink]
)
def test_damaged_archive_is_not_used(folder: Path, change: Callable[[Path], None]) -> None:
    """A file that is not exactly what was kept is not used, because a JVM can crash with it; an older one is."""
    older = placed(folder, b"older classes", 1)
    newer = placed(folder, b"newer classes", 2)
    assert newer == usable_archive(folder, KEY)
    change(newer)

    assert older == usable_archive(folder, KEY)


def placed(folder: Path, content: bytes, at: int) -> Path:
    """Write an archive of an age next to others, as two makers at the same time would."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{KEY}-{hashlib.sha256(content).hexdigest()}.jsa"
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def open_to_group(folder: Path) -> None:
    """Let the group list it."""
    folder.chmod(0o750)


def let_others_replace_it(folder: Path) -> None:
    """Let all write to the folder above."""
    folder.parent.chmod(0o777)


def let_group_replace_it(folder: Path) -> None:
    """Let the group write to the folder two levels above."""
    folder.parent.parent.chmod(0o770)


def replace_by_link(folder: Path) -> None:
    """Be a link to the folder."""
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def replace_by_file(folder: Path) -> None:
    """Be a file."""
    folder.rename(folder.with_name("elsewhere"))
    folder.touch()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (open_to_group, "has mode 0750, and 0700 is needed"),
        (let_others_replace_it, r"other users may write to \S+ \(mode 0777\)"),
        (let_group_replace_it, r"other users may write to \S+ \(mode 0770\)"),
        (replace_by_link, "is a link"),
        (replace_by_file, "is not a folder"),
    ],
)
def test_folder_that_others_could_change_has_no_archive(
    tmp_path: Path, change: Callable[[Path], None], problem: str
) -> None:
    """No archive is used from a folder that another user could replace, read or fill."""
    folder = tmp_path / "a" / "b" / "archives"
    made(folder)
    change(folder)

    assert usable_archive(folder, KEY) is None
    assert re.search(problem, folder_problem(folder))


def test_link_above_the_folder_is_followed_once(tmp_path: Path) -> None:
    """A folder below a link is used by its real path, whose parents are checked."""
    archive = made(tmp_path / "real" / "archives")
    (tmp_path / "link").symlink_to("real")

    assert archive == usable_archive(tmp_path / "link" / "archives", KEY)
    (tmp_path / "real").chmod(0o777)
    assert usable_archive(tmp_path / "link" / "archives", KEY) is None


@pytest.mark.skipif(lacks_root(), reason="only root can be two users")
def test_folder_of_another_user_is_not_used(folder: Path) -> None:
    """A folder or a file of another user is not used, even by root."""
    archive = made(folder)
    os.chown(archive, NOBODY, NOBODY)
    assert usable_archive(folder, KEY) is None
    os.chown(archive, 0, 0)
    os.chown(folder, NOBODY, NOBODY)

    assert usable_archive(folder, KEY) is None
    assert f"belongs to user {NOBODY}, and this process is user 0" in folder_problem(folder)


@pytest.mark.skipif(lacks_root(), reason="only root can be two users")
@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_second_user_neither_uses_nor_changes_it(reachable: Path, mode: int) -> None:
    """Another user of the worker gets no archive of the first one, and cannot write to its folder."""
    folder = reachable / "archives"
    archive = made(folder)
    folder.chmod(mode)

    assert "None" == as_nobody(lambda: str(usable_archive(folder, KEY)))
    assert ("PermissionError" if mode == 0o700 else "written") == as_nobody(lambda: write_beside(archive))
    assert "PermissionError" == as_nobody(lambda: str(archive.write_bytes(b"classes of nobody")))
    # What others could have filled is of no use for the first user either.
    assert (archive if mode == 0o700 else None) == usable_archive(folder, KEY)


def write_beside(archive: Path) -> str:
    """Write another file to the folder of an archive."""
    archive.with_name("x").touch()
    return "written"


def as_nobody(ask: Callable[[], str]) -> str:
    """Return the answer that another user gets, or the name of the error."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        with os.fdopen(reading) as answer:
            found = answer.read()
        os.waitpid(child, 0)
        return found
    with suppress(BaseException):
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            answered = ask()
        except OSError as error:
            answered = type(error).__name__
        os.write(writing, answered.encode())
    os._exit(0)


def test_new_archive_replaces_those_of_its_spark(folder: Path) -> None:
    """Of one Spark only the newest archive stays; of all together a few stay, the newest."""
    for number in range(MOST_ARCHIVES + 2):
        archive = made(folder, f"spark-{number:04}-0000")
        os.utime(archive, (number, number))
    newest = made(folder, "spark-0005-1111")

    names = sorted(path.name[:15] for path in folder.iterdir())
    assert ["spark-0002-0000", "spark-0003-0000", "spark-0004-0000", "spark-0005-1111"] == names
    assert newest == usable_archive(folder, "spark-0005-1111")


def test_what_a_killed_maker_left_is_removed(folder: Path) -> None:
    """An unfinished file is removed by the next archive if it is old; a younger one is being written."""
    folder.mkdir(mode=0o700)
    for name, at in ((".new-old.jsa", 1), (".new-young.jsa", 1 << 40)):
        (folder / name).touch()
        os.utime(folder / name, (at, at))
    archive = made(folder)

    assert {archive.name, ".new-young.jsa"} == {path.name for path in folder.iterdir()}


def test_unfinished_archive_is_never_used(folder: Path) -> None:
    """While an archive is being written, and after that has failed, there is none."""
    with new_archive(folder) as path:
        path.write_bytes(b"half")
        assert usable_archive(folder, KEY) is None

    assert [] == list(folder.iterdir())
