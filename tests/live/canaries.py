"""Secrets that are unique texts, and the search for them in everything that a run may leave."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import create_engine

from sandbox.processes import Process, belonging

CHUNK = 1 << 22
SAMPLE_S = 0.1
# A key's line of base64: the first one is the same for many keys.
_LINE_OF_KEY = 2
PROC = Path("/proc")


def forms(secret: str) -> set[bytes]:
    """Return a text as it is, as URLs and JSON write it, in hexadecimal digits, and in base64 at every alignment."""
    raw = secret.encode()
    # PostgreSQL writes bytes in hexadecimal digits.
    found = {raw, raw.hex().encode(), quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode()}
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        # Without the letters that also depend on what stands beside the text.
        found.add(encoded[4 if shift else 0 : -4])
    return {each for each in found if len(each) >= 12}


def of_key(pem: str) -> str:
    """Return a line of a private key that no other key has."""
    return pem.strip().splitlines()[_LINE_OF_KEY]


@dataclass
class Canaries:
    """The secrets by their names, and where they were found."""

    secrets: Mapping[str, str] = field(repr=False)
    hits: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._forms = {form: name for name, secret in self.secrets.items() for form in forms(secret)}
        self._overlap = max(map(len, self._forms))

    def look_at(self, content: bytes, place: str) -> None:
        """Search a text."""
        self.hits.update((name, place) for form, name in self._forms.items() if form in content)

    def look_below(self, folder: Path, *, but: Collection[Path] = (), since: float = 0) -> int:
        """Search all files below a folder that are as new, links not followed; return how many were read."""
        count = 0
        for path in _files(folder, set(but)):
            with suppress(OSError):
                if path.stat().st_mtime >= since:
                    self._look_into(path)
                    count += 1
        return count

    def _look_into(self, path: Path) -> None:
        rest = b""
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                rest += chunk
                # Kafka's indexes are files of 10 MB, almost all zeros.
                self.look_at(rest.strip(b"\0"), str(path))
                rest = rest[-self._overlap :]

    @contextmanager
    def watching_processes(self, sandbox_id: str, tracked: Iterable[Process] = ()) -> Iterator[None]:
        """Search command lines and environments of the sandbox's processes again and again."""
        is_over = threading.Event()

        def sample() -> None:
            while not is_over.is_set():
                for process in belonging(sandbox_id, tracked):
                    self._look_at_process(process.pid)
                time.sleep(SAMPLE_S)

        thread = threading.Thread(target=sample, name="canaries")
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _look_at_process(self, pid: int) -> None:
        for name in ("cmdline", "environ"):
            with suppress(OSError):
                content = (PROC / str(pid) / name).read_bytes()
                self.look_at(content, f"{name} of a process: {_shown(pid)}")


def _shown(pid: int) -> str:
    with suppress(OSError):
        return (PROC / str(pid) / "comm").read_text().strip()
    return "gone"


def _files(folder: Path, but: set[Path]) -> Iterator[Path]:
    with suppress(OSError):
        for path in folder.iterdir():
            if path in but or path.is_symlink():
                continue
            if path.is_dir():
                yield from _files(path, but)
            elif path.is_file():
                yield path


def rows_of(url: str) -> Iterator[tuple[str, bytes]]:
    """Yield each table of a PostgreSQL database with all its rows as text."""
    with closing(create_engine(url).raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            rows = BytesIO()
            cursor.copy_expert(f'COPY "{table}" TO STDOUT', rows)
            yield table, rows.getvalue()
