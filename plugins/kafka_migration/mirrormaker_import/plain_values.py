"""Values as they were meant: without the comments and the quotes that `lint` reports."""

from __future__ import annotations

from kafka_migration.mirrormaker_files.model.lint_finding import may_be_secret
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, MirrorSetting


def plain(setting: MirrorSetting) -> str:
    """Return the value without a comment, quotes around it, and blanks."""
    return value_with_blanks(setting).strip()


def value_with_blanks(setting: MirrorSetting) -> str:
    """Return the value without a comment and quotes around it; other blanks remain."""
    if may_be_secret(setting):
        return setting.value
    value, *comment = COMMENT.split(setting.value, maxsplit=1)
    bare = value.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1]
    return bare if comment else value


def says_more(setting: MirrorSetting) -> bool:
    """Return whether MirrorMaker reads more than was meant: a comment or quotes."""
    return plain(setting) != setting.value.strip()
