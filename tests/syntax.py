"""The syntax of source files. Many rules read all files of the package, so each process parses a file once.

A tree stays as it is, because every rule of the process reads the same one.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

from kafka_migration.adapters.system.collector import without_collections


def parsed(text: str, **options: Any) -> Any:
    """Return the tree of a text, as `ast.parse` does with these options.

    No collection runs meanwhile: a finalizer would let other threads run, and Python 3.11 ends with a `SystemError`
    if one of them parses too, for example to print a traceback (python/cpython issue 106905).
    """
    with without_collections():
        return ast.parse(text, **options)


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file."""
    tree: ast.Module = parsed(path.read_text(encoding="utf-8"))
    return tree


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file, as `ast.walk` yields them."""
    return tuple(ast.walk(tree_of(path)))
