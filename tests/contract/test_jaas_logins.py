"""The package refuses the logins that Kafka's own class refuses, and no other."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest

from kafka_migration.mirrormaker_files.model.jaas import refusal_of_jaas
from sandbox.jars import fetched_kafka
from tests.programs import run_java

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).with_name("JaasLogins.java")
SEED, GENERATED = 46, 4_000
PARTS = (
    *("a.PlainLoginModule", "Required", "optional", "required", "name", "password", "-", ".", "$", "_", "\u00e9"),
    *("\u0080", "\u2028", "\n", "\r", "\t", "\0", "7", "-1.5", ".5.", "12x", "/x", "//x\n", "/* ; */", "/* x", "*/"),
    *('"x"', "'x'", '"', "'", '"a\\"b"', "'\\7'", "'\\400'", '"\\', '"\\\n"', "#", ":", "{", "}", "%", '""'),
)
OFTEN = ("=", ";", " ", '="v"', ' name="v"', "a.b.C required", "a.b.C required n=v;")
RIGHT = 'a.PlainLoginModule required username="u" password="p\\"q" x=y-z;'


def logins() -> list[str]:
    """Return logins of whole, broken and foreign parts, and right logins with one part more at any place."""
    chance = random.Random(SEED)
    mixed = ["".join(chance.choices(PARTS + OFTEN * 6, k=chance.randint(1, 9))) for _ in range(GENERATED // 2)]
    places = [(part, chance.randrange(len(RIGHT) + 1)) for part in PARTS * 80]
    return ["", *mixed, *(f"{RIGHT[:place]}{part}{RIGHT[place:]}" for part, place in places[: GENERATED // 2])]


@pytest.mark.parametrize("version", ["2.4.1", "3.9.1", "4.2.0"])
def test_logins_are_refused_as_kafka_refuses_them(tmp_path: Path, version: str) -> None:
    """Kafka takes a login with one module; the package says the same of each of thousands of logins."""
    file, every = tmp_path / "logins", logins()
    file.write_text("".join(f"{base64.b64encode(each.encode()).decode()}\n" for each in every))
    printed = run_java("-cp", f"{fetched_kafka(version)}/libs/*", PROGRAM, file).split()

    taken = {True: 0, False: 0}
    for login, modules in zip(every, map(int, printed), strict=True):
        taken[modules == 1] += 1
        assert (refusal_of_jaas(login) == "") == (modules == 1), (login, modules)
    assert min(taken.values()) > GENERATED // 20
