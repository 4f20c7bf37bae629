"""What stands in the code blocks of a page."""

from __future__ import annotations

from collections.abc import Iterator


def blocks(page: str, *languages: str) -> list[str]:
    """Return the content of every fenced block in one of the languages; `""` is a fence that names none."""
    return [text for language, text in all_blocks(page) if language in languages]


def all_blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield what follows the fence, and the content, of every fenced block."""
    language, lines = None, list[str]()
    for line in page.splitlines():
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, lines = line.removeprefix("```").strip(), []
        else:
            yield language, "".join(f"{each}\n" for each in lines)
            language = None


def commands(page: str, *languages: str) -> list[str]:
    """Return the lines of those blocks, what a backslash divides put together."""
    return joined_lines("".join(blocks(page, *languages)))


def joined_lines(block: str) -> list[str]:
    """Return the lines of a block, what a backslash divides put together."""
    return block.replace("\\\n", " ").splitlines()
