"""How large a file of MirrorMaker may be: the rules take time for each setting, and for each pair of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sized

from kafka_migration.core.text.secret_forms import may_be_shown
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, MirrorFile

MOST_SETTINGS = 10_000
MOST_CLUSTERS = 50
# Of so many clusters each pair is taken on its own.
FEW_CLUSTERS = 10
MOST_FLOWS = 1_000
MOST_ITEMS = 10_000
MOST_COMMANDS = 100
# Of any program, in one script.
MOST_SHELL_COMMANDS = 200_000
MOST_EXCLUSIONS = 100
MOST_NODES = 3 * MOST_SETTINGS
LONGEST_ALIAS = 200
LONGEST_COMMAND = 32_768
LONGEST_PATTERN = 10_000


class TooMany(ValueError):
    """A file has more of something than is read; the message says of what and how many, `expected` the limit."""

    def __init__(self, found: int, most: int, of: str) -> None:
        super().__init__(f"{found:,} {of}")
        self.expected = f"at most {most:,}"


def require_few(things: Sized, most: int, of: str) -> None:
    """Raise `TooMany` if there are more things, or if a text has more characters."""
    if len(things) > most:
        raise TooMany(len(things), most, of)


def require_few_clusters(aliases: tuple[str, ...]) -> None:
    """Raise `TooMany` for too many clusters or a long alias, `ValueError` for an alias that looks like a secret.

    Messages and the migration file name the aliases.
    """
    require_few(aliases, MOST_CLUSTERS, "clusters")
    _require_aliases(aliases)


def _require_aliases(aliases: Iterable[str]) -> None:
    for alias in aliases:
        require_few(alias, LONGEST_ALIAS, "characters in the alias of a cluster")
        if not may_be_shown(COMMENT.split(alias, maxsplit=1)[0]):
            raise ValueError("the alias of a cluster looks like a secret, so it is not shown")


def require_small(file: MirrorFile) -> None:
    """Raise `TooMany` if the file has too many settings, clusters or flows, or a list with too many items."""
    require_few(file.settings, MOST_SETTINGS, "settings")
    require_few_clusters(file.clusters)
    require_few(file.flows, MOST_FLOWS, "flows")
    _require_aliases({alias for flow in file.flows for alias in flow.ends})
    for setting in file.settings:
        items = setting.value.count(",") + 1
        if items > MOST_ITEMS:
            raise TooMany(items, MOST_ITEMS, f"items in one list, line {setting.line}")


# A longer name of a class is not compared with others.
LONGEST_CLASS = 200
