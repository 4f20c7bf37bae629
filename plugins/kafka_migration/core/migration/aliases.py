"""What MirrorMaker's alias of a source may be."""

from __future__ import annotations

import re

# Dots would make a name such as `a.b.orders` ambiguous: MirrorMaker 2 takes `a` for its source.
ALIAS_FORM = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"
ALIAS_WORDS = "ASCII letters, digits, hyphens and _, at most 63, first a letter or digit"
# MirrorMaker 2 treats a setting that starts with an alias as a setting of that cluster.
MIRROR_WORDS = frozenset(
    {
        "checkpoints",
        "config",
        "dedicated",
        "emit",
        "heartbeats",
        "offset",
        "offset-syncs",
        "refresh",
        "replication",
        "status",
        "sync",
        "task",
        "tasks",
    }
)


def alias_problem(alias: str, migration: str) -> str:
    """Return what is expected instead of an alias of the source; empty for one that can be used."""
    if not re.fullmatch(ALIAS_FORM.removesuffix("$"), alias):
        return ALIAS_WORDS
    if alias == f"{migration}-target":
        return f"an alias other than {alias}, which is the target's"
    if alias in MIRROR_WORDS:
        return f"an alias other than {alias}, because MirrorMaker's own settings start with it"
    return ""
