"""Rules of claims: of several processes that make one try of a task, one gets it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.try_claims import TryClaims
from kafka_migration.core.findings.errors import EvidenceUnreadable
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.try_claim import TryClaim, made_by_another

RUN = RunIdentity("kafka_migration__shop", "manual__1", 1)
FIRST = TryClaim("judge", "2030-01-01T00:00:00+00:00", "worker-1", 7, "a")
SECOND = TryClaim("judge", "2030-01-01T00:00:01+00:00", "worker-2", 8, "b")


@pytest.fixture
def claims(tmp_path: Path) -> Callable[[str], TryClaims]:
    """The claims of a process on a try."""
    return lambda try_id: TryClaims(rooted(tmp_path), "shop", RUN, try_id)


def test_first_process_gets_the_try(claims: Callable[[str], TryClaims]) -> None:
    """The second process does not get the try, and knows which process has it; another try is another matter."""
    assert claims("x").take(FIRST)
    second = claims("x")

    assert not second.take(SECOND)
    assert FIRST == second.first()
    assert claims("xy").take(SECOND)


def test_of_many_processes_one_gets_the_try(claims: Callable[[str], TryClaims]) -> None:
    """Of processes that claim at the same time one gets the try, each time that the process before has left it."""
    for _ in range(20):
        processes = [claims("x") for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            got = [*pool.map(lambda each: each.take(TryClaim("judge", "", "", 1, str(id(each)))), processes)]
        assert 1 == sum(got)
        processes[got.index(True)].leave()


def test_process_that_resumes_the_task_gets_the_try(claims: Callable[[str], TryClaims]) -> None:
    """A try that a waiting task has left goes to the next process, as often as it is left."""
    for _ in range(3):
        mine = claims("x")
        assert mine.take(FIRST)
        assert not claims("x").take(SECOND)
        mine.leave()

    assert claims("x").take(SECOND)
    assert not claims("x").take(FIRST)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff"])
def test_claim_that_cannot_be_read_is_a_claim(
    claims: Callable[[str], TryClaims], tmp_path: Path, content: bytes
) -> None:
    """A claim that was cut, or that another program wrote, keeps the try; its process is unknown."""
    claims("x").take(FIRST)
    (path,) = tmp_path.rglob("x-1.json")
    path.write_bytes(content)
    second = claims("x")

    assert not second.take(SECOND)
    assert second.first() is None
    assert "Another process makes it" in str(made_by_another("judge", second.first()))


def test_link_instead_of_the_folder_is_refused(claims: Callable[[str], TryClaims], tmp_path: Path) -> None:
    """No claim is written through a link, and there is no claim then."""
    (tmp_path / "shop").symlink_to(tmp_path)

    with pytest.raises(EvidenceUnreadable):
        claims("x").take(FIRST)


def test_finding_names_the_process() -> None:
    """A person reads which process makes the try, and since when."""
    assert "Process 7 on worker-1, since 2030-01-01T00:00:00+00:00, makes it." in str(made_by_another("judge", FIRST))
