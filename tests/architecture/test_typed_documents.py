"""Stored documents are values of classes: no signature and no attribute has one as a mapping of text to anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.syntax import parsed, tree_of

pytestmark = pytest.mark.unit

# The two ends of the codec: each class has its JSON form.
CODEC = {"to_document", "from_document"}
PACKAGE = Path(__file__).parents[2] / "plugins" / "kafka_migration"


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the types of a signature, of an attribute, or of a named type (`Json = dict[str, Any]`)."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name in CODEC:
            return
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        yield from (each.annotation for each in every if each is not None and each.annotation is not None)
        if node.returns is not None:
            yield node.returns
    elif isinstance(node, ast.AnnAssign):
        yield node.annotation
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
        yield node.value


def _untyped(tree: ast.AST) -> int:
    """Return the number of types with `Any` in a tree."""
    types = (each for node in _declarations(tree) for each in _annotations(node))
    return sum(any(isinstance(part, ast.Name) and part.id == "Any" for part in ast.walk(each)) for each in types)


def _declarations(tree: ast.AST, *, is_in_function: bool = False) -> Iterator[ast.AST]:
    """Yield functions, assignments outside functions, and those to attributes: a local variable is no signature."""
    for node in ast.iter_child_nodes(tree):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        is_attribute = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute)
        if is_function or is_attribute or not is_in_function:
            yield node
        yield from _declarations(node, is_in_function=is_in_function or is_function)


@cache
def untyped_files(package: Path) -> dict[str, int]:
    """Return the files with such types, by their path in the package, and how many each has."""
    found = {str(path.relative_to(package)): _untyped(tree_of(path)) for path in package.rglob("*.py")}
    return {path: number for path, number in sorted(found.items()) if number}


# Where a value has another program's form, or any form. A path that ends with `/` stands for all files below it.
FOREIGN = {
    "adapters/connect/": "answers of Kafka Connect",
    "adapters/http/": "answers of HTTP services",
    "adapters/kafka/": "values of Kafka's client library",
    "adapters/store/digest_keeper.py": "what Airflow keeps, as JSON",
    "adapters/store/document_files.py": "JSON objects on their way to their class",
    "adapters/store/evidence_store.py": "JSON objects on their way to their class",
    "adapters/store/ledger_store.py": "entries as JSON, because the digest of an entry is that of its bytes",
    "adapters/store/local_files.py": "JSON objects on their way to their class",
    "adapters/store/run_status_store.py": "JSON objects on their way to their class",
    "airflow_adapters/": "values of Airflow and of its connections",
    "cli/shell/arguments.py": "arguments of Python's parser of command lines",
    "core/discovery/": "answers of Ambari and Cloudera Manager",
    "core/documents/codec.py": "the codec",
    "core/evidence/digests.py": "what Airflow keeps, as JSON",
    "core/evidence/evidence_documents.py": "a JSON object on its way to its class",
    "core/groups/offsets_plan.py": "what an approval covers, as JSON for its digest",
    "core/ledger/chain.py": "entries as JSON, because the digest of an entry is that of its bytes",
    "core/ledger/ledger.py": "entries as JSON on their way to their class",
    "core/migration/alert_settings.py": "arguments of a user's notifier",
    "core/migration/patterns.py": "parts of Python's parsed regular expressions",
    "core/stored/stored_documents.py": "the result of a user's hook",
    "core/text/terminal_text.py": "any JSON value",
    "mirrormaker_files/model/sarif.py": "a log of SARIF",
    "engines/mirrormaker2_topics.py": "records of Kafka Connect's topics",
    "migration_file/": "the migration file before it is read",
    "kafka_tables/": "rows of the tables that are generated from Kafka's and Strimzi's files",
    "page/": "Airflow's users and rows, and the values of templates",
    "orchestration/": "Airflow's context, XCom, arguments of operators and events of triggers",
    "steps/run/deployment.py": "the evidence root as a path, and settings of Kafka's client library",
    "steps/run/run_request.py": "the form of a run in Airflow",
    "preflight/scene/scene.py": "settings of Kafka's client library",
    "steps/run/migration_run.py": "the form of a run in Airflow, and the arguments of a trigger",
    "steps/before/planned_run.py": "the form of a run in Airflow",
}


def _is_foreign(path: str) -> bool:
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in FOREIGN)


def test_documents_are_values_of_classes() -> None:
    """Only values of other programs, and documents on their way to their class, have a type with `Any`."""
    found = {path for path in untyped_files(PACKAGE) if not _is_foreign(path)}

    assert set() == found, "give the document a class that derives from Document"


def test_verbs_name_the_json_form_of_an_answer_once() -> None:
    """Only `JsonObject` of the command line's output is a mapping to anything; no verb has such a type of its own."""
    of_anything = re.compile(r"\b(?:dict|Mapping)\[str, object\]")
    found = {path.name for path in (PACKAGE / "cli").rglob("*.py") if of_anything.search(path.read_text())}

    assert {"output.py"} == found


def test_no_exception_is_left_over() -> None:
    """An exception that no file needs any more is removed, so that the list only gets shorter."""
    found = untyped_files(PACKAGE)

    assert set() == {each for each in FOREIGN if not any(path == each or path.startswith(each) for path in found)}


@pytest.mark.parametrize(
    "text",
    [
        "def f(document: Mapping[str, Any]) -> None: ...",
        "def f(*documents: dict[str, Any]) -> None: ...",
        "def f() -> list[dict[str, Any]]: ...",
        "class A:\n    async def f(self, *, document: Any) -> None: ...",
        "class A:\n    document: Mapping[str, Any] | None = None",
        "class A:\n    def __init__(self) -> None:\n        self.document: dict[str, Any] = {}",
        "Json = dict[str, Any]",
    ],
)
def test_untyped_document_is_found_wherever_it_stands(text: str) -> None:
    """Arguments, results, attributes and named types count."""
    assert 1 == _untyped(parsed(text))


@pytest.mark.parametrize(
    "text",
    [
        "def f(document: Plan) -> None:\n    values: dict[str, Any] = {}",
        "class Plan:\n    def to_document(self) -> dict[str, Any]: ...",
        "class Plan:\n    @classmethod\n    def from_document(cls, document: Mapping[str, Any]) -> Plan: ...",
        "def f(documents: list[Plan]) -> dict[str, int]: ...",
    ],
)
def test_codec_and_local_variables_do_not_count(text: str) -> None:
    """`to_document` and `from_document` are the two ends of the codec."""
    assert 0 == _untyped(parsed(text))
