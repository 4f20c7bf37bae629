"""An operator walks through the page of a migration in five states, in Airflow's frame, with and without a path prefix.

In each state the page must give each of the ten answers as a witness saw it who does not use the package.
"""

from __future__ import annotations

import itertools
import logging
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import httpx
import pytest

from sandbox.data.damage import Damage, damaged, remake_topic
from sandbox.data.reading import read_records
from sandbox.environment import program
from sandbox.parts import free_ports
from tests.browser import Browser, browser
from tests.live.conftest import LiveWorld
from tests.live.groups import approve, commit, ends, wait_for_question, writing
from tests.live.migrations import LiveMigration
from tests.live.page_witness import Witness
from tests.live.quotas import slow_reads
from tests.page_questions import Asked, Seen, wrong_answers
from tests.page_shown import ShownPage, shown_page
from tests.waiting import ASKING_AIRFLOW_S, wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

log_of_tests = logging.getLogger(__name__)

FENCE_WAIT_S = 600
PREFIX = "/behind/a-proxy"
# A page is made at once. While the source is slow, a poll of the watch takes up to ten seconds, and the page has what
# the last one found: the moment is met in which nothing has changed since.
ANSWERED_WITHIN_S = 180
RECORD_BYTES = 1_000
MANY = 12_000
# So slowly each client reads a cluster that a state lasts while it is looked at. With less than this, Spark's fetch has
# no record for so long that the job gives up.
BYTES_PER_S = 150_000


class Operator:
    """Looks at the tab of a migration, directly and below a path prefix, and compares it with what a witness sees."""

    def __init__(self, page: Browser, urls: tuple[str, ...], witness: Witness) -> None:
        self._page = page
        self._urls = urls
        self._witness = witness

    def look(self, state: str, *, reads: bool = False, findings: tuple[str, ...] = ()) -> ShownPage:
        """Wait until the page answers all ten questions as they are now; return it."""
        for url in self._urls:
            found = self._look_at(url, state, lambda: self._witness.seen(reads=reads, findings=findings))
        return found

    def _look_at(self, url: str, state: str, see: Callable[[], Seen]) -> ShownPage:
        wrong, pages = ["no page"], list[ShownPage]()

        def is_answered() -> bool:
            before, opened = see(), time.monotonic()
            pages.append(self._page_at(url))
            took_s = time.monotonic() - opened
            wrong[:] = wrong_answers(Asked(pages[-1], before, see()))
            log_of_tests.info("%s at %s: page after %.1f s, %s", state, url, took_s, wrong or "all ten answered")
            return not wrong

        try:
            wait_until(is_answered, ANSWERED_WITHIN_S, state)
        except AssertionError as error:
            raise AssertionError(f"{state} at {url}: " + "\n".join(wrong)) from error
        return pages[-1]

    def _page_at(self, url: str) -> ShownPage:
        self._page.open(f"{url}/dags/{self._witness.migration.dag_id}/plugin/kafka-migration")
        wait_until(self._page.framed_text, what="the page")
        return shown_page(self._page)


@contextmanager
def below_a_prefix(live: LiveWorld) -> Iterator[str]:
    """Serve the same Airflow a second time, below a path prefix; yield its address."""
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}{PREFIX}"
    environment = live.sandbox.airflow_env() | {"AIRFLOW__API__BASE_URL": url, "AIRFLOW__API__PORT": str(port)}
    command = (program("airflow"), "api-server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1")
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _answers(url), 400, "the second api-server")
        yield url
    finally:
        server.terminate()
        server.wait(60)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v2/version", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


LookAround = Callable[[LiveMigration, Witness], Operator]


@pytest.fixture
def look_around(live: LiveWorld) -> Iterator[LookAround]:
    """Return an operator in front of a browser that is signed in to both addresses."""
    with browser() as page, below_a_prefix(live) as below:
        urls = (str(live.sandbox.state.airflow_url), below)
        for url in urls:
            page.log_in(url, live.api.token())
        yield lambda migration, witness: Operator(page, urls, witness)


def test_ten_answers_from_idle_to_the_cutover(live: LiveWorld, look_around: LookAround) -> None:
    """Idle, copying, validating, waiting for producers, cut over: each page has the ten answers of that moment."""
    topics = ("walk", "walk-b")
    migration = live.migration("walk", more_topics=", walk-b", fence_wait=f"{FENCE_WAIT_S}s")
    migration.create_topic("walk-b")
    witness = Witness(migration, live.api, topics, ("walk-end", "walk-middle"))
    operator = look_around(migration, witness)
    for topic in topics:
        migration.produce(400, topic=topic)
        at_end = ends(migration.source, topic)
        commit(migration.source, "walk-end", topic, at_end)
        commit(migration.source, "walk-middle", topic, {p: end // 2 for p, end in at_end.items()})
    assert "success" == migration.run("rehearse")["state"]
    operator.look("idle", reads=True)

    for topic, count in zip(topics, (MANY, MANY // 2), strict=True):
        migration.produce(count, first=400, size=RECORD_BYTES, topic=topic)
    with ExitStack() as slow:
        copying = slow.enter_context(ExitStack())
        copying.enter_context(slow_reads(migration.source, BYTES_PER_S))
        run_id = migration.trigger()
        wait_until(lambda: copied(witness.seen()) > 900, 400, "the copy")
        operator.look("copying")
        slow.enter_context(slow_reads(migration.target, BYTES_PER_S))
        copying.close()
        migration.wait_for_task(run_id, "validate_topics", ["running", "deferred"])
        # Spark has to start before it reads.
        wait_until(
            lambda: "records read" in live.api.log(migration.dag_id, run_id, "validate_topics"),
            400,
            "Spark's progress",
            ASKING_AIRFLOW_S,
        )
        operator.look("validating")
    assert "success" == migration.finished(run_id).state

    numbers = itertools.count(400 + MANY)
    with writing(lambda: migration.produce(1, first=next(numbers))):
        run_id = migration.trigger("cutover")
        wait_until(lambda: "stop_producers" in witness.seen().asked, 400, "the question about the producers")
        page = operator.look("waiting for producers")
        asked_at = witness.seen().asked["stop_producers"]
    first = re.match(r"Stop producers of 2 topics on demo_source before (\d\d):(\d\d) UTC", page.banners[0])
    assert first, page.banners
    until = asked_at + timedelta(seconds=FENCE_WAIT_S)
    assert abs(int(first[1]) * 60 + int(first[2]) - until.hour * 60 - until.minute) <= 1
    assert any("stop_producers" in link for link in page.links)
    wait_for_question(migration, run_id)
    operator.look("waiting for the approval")
    approve(live.api, migration, run_id)
    operator.look("cut over")


def copied(seen: Seen) -> int:
    return sum(seen.positions.values())


def test_ten_answers_when_the_copy_differs(live: LiveWorld, look_around: LookAround) -> None:
    """A record that is wrong on the target is the first thing that the page says, with its place and what to do."""
    migration = live.migration("walk-differs")
    migration.produce(300)
    assert "success" == migration.run()["state"]
    target = live.sandbox.state.target_bootstrap
    whole = {p: [each.record for each in found] for p, found in read_records(target, migration.name).items()}
    wrong = max(whole, key=lambda partition: len(whole[partition]))
    damage = damaged(Damage.ALTER, whole[wrong])
    remake_topic(target, migration.name, {**whole, wrong: damage.records})
    assert "failed" == migration.run("validate")["state"]

    operator = look_around(migration, Witness(migration, live.api, (migration.name,), ()))
    operator.look("copy differs", reads=True, findings=("COPY_DIFFERS",))
