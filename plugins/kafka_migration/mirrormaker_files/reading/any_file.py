"""Which kind of file a text is, and the configurations in a text of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import LONGEST_NAME, masked
from kafka_migration.core.text.shortened import brief, some
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.formats.properties_reader import (
    Entry,
    client_file,
    entries,
    mirrormaker2_file,
    remarks,
    worker_file,
)
from kafka_migration.mirrormaker_files.model.command_options import PROGRAM
from kafka_migration.mirrormaker_files.model.jaas import is_login_file, refusal_of_login_file
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import refusal
from kafka_migration.mirrormaker_files.model.lint_limits import (
    MOST_COMMANDS,
    MOST_SETTINGS,
    TooMany,
    require_few,
    require_small,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import FieldFault, FileKind, MirrorFile
from kafka_migration.mirrormaker_files.model.readers_of_keys import CLASS, OLD_KEYS, STORAGE_TOPICS
from kafka_migration.mirrormaker_files.model.remarks import Oddity, OtherDocument, Remark, WrongDocument, WrongText

# The readers of JSON, YAML and scripts take time to import, and properties need none of them.
if TYPE_CHECKING:
    from kafka_migration.mirrormaker_files.scripts.scripts import Script
    from kafka_migration.mirrormaker_files.scripts.written_files import TextPart

_COMMANDS = frozenset({FileKind.COMMAND, FileKind.START})
_CLIENTS = {FileKind.CONSUMER, FileKind.PRODUCER}
# So many characters are put in for the names of a here-document.
_MOST_REPLACED = 1_000_000
_VARIABLE = regex(r"\$(?:([A-Za-z_]\w{0,200})|\{([A-Za-z_]\w{0,200})\})")

_LEAVE_OUT, _OR_LEAVE_OUT = "Leave it out.", "Or leave it out."
# The clients of keys that Kafka's tables do not have.
_OF_OLD_CLIENTS = {"zookeeper.connect": "consumer"} | dict.fromkeys(
    ("producer.type", "metadata.broker.list", "request.required.acks"), "producer"
)
# Keys that only workers of Connect have; a client file has none of them.
_WORKER_KEYS = frozenset(
    {
        *STORAGE_TOPICS,
        "offset.storage.file.filename",
        "offset.flush.interval.ms",
        "plugin.path",
    }
)
_START = "\ufeff \t\r\n"
_JSON = regex(r"\{|\[\s*(?:[{\[\]\"]|\Z)")
# A resource of Kubernetes, or a Compose file with or without `services`.
_MANIFEST = regex(
    r"^[ \t-]{0,8}[\"']?kind[\"']?:[ \t]{0,20}[\"']?[A-Z]|^services:[ \t]{0,20}\r?$|"
    r"^[ \t]{1,8}(?:image|build|entrypoint):[ \t]",
    re.MULTILINE,
)
# The program of MirrorMaker or Connect, and what shows that it is called: an option, a file, a continued line, or
# nothing before it.
_CALLED = regex(rf"(?:^|[\s/\\\"'=\[])(?:{PROGRAM})[\"']?(?=[\s,\]]|$)")
_OPTION = regex(r"[\s\"',](?:--?[a-z]|\$|[\w./\\:~-]{0,300}\.(?:properties|config|conf|cfg|json)\b)|[\\^]\s{0,20}$")
_ALONE = regex(
    rf"\s*(?:(?:exec|nohup|CMD|ENTRYPOINT)\s{{1,9}}\[?|(?:ExecStart|command)\s{{0,9}}=)?[\"$\w{{}}./\\-]{{0,300}}(?:{PROGRAM})\"?\]?\s*&?\s*"
)
_CLIENT_FILES = (FileKind.CONSUMER, FileKind.PRODUCER)


class Unrelated(Refused):
    """A file holds nothing of MirrorMaker, so that the other files can be read without it."""


def read_mirror_files(
    name: str, text: str, kind: FileKind | None = None, *, is_utf8: bool = True
) -> tuple[MirrorFile, ...]:
    """Return the configurations of a file: one, or each resource of a YAML file and each command of a script.

    Without `kind` the content decides. `is_utf8` says how the bytes were read. Raises `Refused` with
    `MIRROR_FILE_UNREADABLE` for a text that is of no known kind, or not of the given kind, and `Unrelated` for a file
    that holds nothing of MirrorMaker.
    """
    if not text.strip("\ufeff \t\r\n"):
        raise Refused([_unreadable(name, "an empty file", "settings of MirrorMaker", "Name the file that has them.")])
    kind = kind or kind_of(name, text) or _of_variables(name, text)
    try:
        files = tuple(_read(name, text, kind, is_utf8=is_utf8))
        require_few([each for file in files for each in file.settings], MOST_SETTINGS, "settings")
        for file in files:
            require_small(file)
    except TooMany as error:
        raise Refused([_too_large(name, error)]) from None
    except OtherDocument as error:
        raise Unrelated([_wrong(name, kind, error)]) from None
    except ValueError as error:
        raise Refused([_wrong(name, kind, error)]) from None
    return files


def not_settings(name: str) -> Finding:
    """Return the refusal of variables that no other file uses."""
    remedy = f"Give it together with the script that uses its variables. {_OR_LEAVE_OUT}"
    return _unreadable(masked(name), "variables that no command uses", "settings of MirrorMaker", remedy)


def _of_variables(name: str, text: str) -> FileKind:
    """Return the kind of a file of variables. Raises `Refused` or `Unrelated` for another text."""
    from kafka_migration.mirrormaker_files.manifests.manifests import is_environment, is_image, is_image_file

    if is_image(text) or is_environment(name, text):
        return FileKind.VARIABLES
    if is_image_file(text):
        raise Unrelated([_unreadable(name, "an image's file without variables", "settings of MirrorMaker", _LEAVE_OUT)])
    expected = ", ".join(each.words for each in FileKind)
    remedy = f"Name its kind with --kind. {_OR_LEAVE_OUT}"
    raise Refused([_unreadable(name, "a file of an unknown kind", expected, remedy)])


def _read(name: str, text: str, kind: FileKind, *, is_utf8: bool) -> Iterator[MirrorFile]:
    shown = masked(name)
    if kind is FileKind.STRIMZI or (kind in _COMMANDS and kind_of(name, text) is FileKind.STRIMZI):
        yield from _of_manifest(shown, text)
    elif kind is FileKind.VARIABLES:
        from kafka_migration.mirrormaker_files.manifests.manifests import image_file

        yield image_file(shown, text.replace("\r\n", "\n"))
    elif kind is FileKind.LOGINS:
        yield _of_logins(shown, text)
    elif kind in _COMMANDS:
        from kafka_migration.mirrormaker_files.scripts.scripts import script_of

        yield from _of_script(shown, script_of(text, name))
    elif kind is FileKind.CONNECTORS and is_json(text):
        from kafka_migration.mirrormaker_files.formats.connectors import connectors_file

        file = connectors_file(shown, text.removeprefix("\ufeff"))
        yield file if is_utf8 else replace(file, remarks=(*file.remarks, _first_foreign(text)))
    else:
        yield _of_properties(shown, text, kind, is_utf8=is_utf8)


def _of_logins(name: str, text: str) -> MirrorFile:
    """Return a login file: no setting of MirrorMaker, and what Java refuses."""
    if not is_login_file(text):
        raise WrongDocument("no block of login modules")
    wrong = refusal_of_login_file(text.removeprefix("\ufeff"))
    faults = () if wrong is None else (_login_refused(*wrong),)
    return MirrorFile(name, FileKind.LOGINS, (), faults=faults)


def _login_refused(line: int, found: str) -> FieldFault:
    effect = "Java does not read the file or the block, so the clients that take their login from it do not start"
    fix = 'End each login module with `;`, and the block `KafkaClient` with `};`. Write `name="value"` for an option.'
    return FieldFault(LintCode.LOGIN_REFUSED, line, "", f"the login file has {found}", effect, fix)


def _of_manifest(name: str, text: str) -> Iterator[MirrorFile]:
    from kafka_migration.mirrormaker_files.manifests.manifests import Manifest, variables_file

    manifest = Manifest(name, text)
    found = [*manifest.files, *(file for part in manifest.parts for file in _of_part(name, part))]
    if not found and manifest.variables:
        found = [variables_file(name, manifest.variables)]
    if not found:
        kinds = some(list(dict.fromkeys(manifest.kinds)) or ["ConfigMap"])
        raise OtherDocument(f"only other resources (kind {kinds})")
    yield from found


def _of_script(name: str, script: Script) -> Iterator[MirrorFile]:
    from kafka_migration.mirrormaker_files.formats.mirrormaker1_files import command_files
    from kafka_migration.mirrormaker_files.manifests.manifests import variables_file
    from kafka_migration.mirrormaker_files.scripts.written_files import TextPart

    require_few(script.starts, MOST_COMMANDS, "commands")
    values = {each.name: each.value for each in script.assigned if each.is_known}
    texts = ((each, each.text if each.is_quoted else _replaced(each.text, values)) for each in script.here_documents)
    parts = [TextPart(each.file, text, each.line) for each, text in texts]
    parts += script.written
    found = [*command_files(name, script), *(file for part in parts for file in _of_part(name, part))]
    if not found and (script.facts.filled or script.facts.lists):
        # Another script or an image starts MirrorMaker with the files that this one fills.
        found = [replace(variables_file(name, script.assigned), script=script.facts)]
    if not found:
        raise OtherDocument("no command that starts MirrorMaker")
    yield from found


def _replaced(text: str, values: dict[str, str]) -> str:
    """Return a here-document as its reader gets it; a name without a known value is written as a reference."""
    longest = max(map(len, values.values()), default=0)
    known = values if longest * text.count("$") <= _MOST_REPLACED else {}
    return _VARIABLE.sub(lambda match: known.get(match[1] or match[2], f"${{{match[1] or match[2]}}}"), text)


def _of_part(name: str, part: TextPart) -> Iterator[MirrorFile]:
    """Yield what a part of a file is; a part of another kind is passed over."""
    kind = _kind_of_part(part) if part.text.strip() else None
    if kind is None or kind is FileKind.STRIMZI:
        return
    try:
        files = list(_read(part.name, part.text, kind, is_utf8=True))
    except TooMany:
        raise
    except WrongDocument as error:
        if kind is FileKind.COMMAND or (kind is FileKind.CONNECTORS and CLASS not in part.text):
            return
        raise WrongDocument(str(error), error.line + part.before if error.line else part.before + 1) from None
    yield from (part.in_place(file, name) for file in files)


def _kind_of_part(part: TextPart) -> FileKind | None:
    """Return what a command uses the part for, unless it is a file of the other client."""
    own = kind_of(part.name, part.text)
    return own if part.kind is None or {own, part.kind} == _CLIENTS else part.kind


def _of_properties(name: str, text: str, kind: FileKind, *, is_utf8: bool) -> MirrorFile:
    found = entries(text)
    require_few(found, MOST_SETTINGS, "settings")
    for entry in found:
        require_few(entry.name, LONGEST_NAME, "characters in the name of a setting")
    if kind is FileKind.CONNECTORS and not any(entry.name == CLASS for entry in found):
        raise WrongDocument(f"no key {CLASS}")
    if kind is FileKind.CONNECTORS:
        from kafka_migration.mirrormaker_files.formats.connectors import Connector, file_of_connectors

        file = file_of_connectors(name, [Connector(found)])
    elif kind is FileKind.WORKER:
        file = worker_file(name, found)
    else:
        file = mirrormaker2_file(name, found) if kind is FileKind.MIRRORMAKER2 else client_file(name, kind, found)
    return replace(file, remarks=(*file.remarks, *remarks(text, is_utf8=is_utf8)))


def _first_foreign(text: str) -> Remark:
    before = next((text[:place] for place, sign in enumerate(text) if not sign.isascii()), "")
    return Remark(Oddity.NOT_UTF_8, before.count("\n") + 1)


def _wrong(name: str, kind: FileKind, error: ValueError) -> Finding:
    line = error.line if isinstance(error, WrongText) else 0
    found, place = brief(str(error)), f"{name}:{line}" if line else name
    remedy = "Correct it, or name its kind with --kind."
    remedy = f"{remedy} {_OR_LEAVE_OUT}" if isinstance(error, OtherDocument) else remedy
    return _unreadable(place, found, kind.words, remedy)


def _too_large(name: str, error: TooMany) -> Finding:
    return _unreadable(name, str(error), error.expected, "Split the file, or remove what MirrorMaker ignores.")


def _unreadable(name: str, found: str, expected: str, remedy: str) -> Finding:
    return refusal(Code.MIRROR_FILE_UNREADABLE, name, found, expected, remedy)


def kind_of(name: str, text: str) -> FileKind | None:
    """Return the kind of a file from its content and, for client properties, its name; `None` if it is unknown."""
    if is_json(text):
        return FileKind.CONNECTORS
    is_script = text.lstrip(_START).startswith("#!")
    if _MANIFEST.search(text) and not is_script:
        return FileKind.STRIMZI
    if is_script or any(map(_is_command, text.split("\n"))):
        return FileKind.COMMAND
    return FileKind.LOGINS if is_login_file(text) else kind_of_properties(name, entries(text))


def is_json(text: str) -> bool:
    """Return whether a text starts like JSON; a section such as `[Unit]` is none."""
    return _JSON.match(text.lstrip(_START)) is not None


def _is_command(line: str) -> bool:
    code = line.partition(" #")[0]
    match = None if code.lstrip().startswith(("#", "//")) else _CALLED.search(code)
    return match is not None and (bool(_OPTION.search(code, match.end())) or _ALONE.fullmatch(code) is not None)


def kind_of_properties(name: str, found: Sequence[Entry]) -> FileKind | None:
    """Return the kind of properties; `None` if it is unknown."""
    names = {entry.name for entry in found}
    if "clusters" in names:
        return FileKind.MIRRORMAKER2
    if CLASS in names:
        return FileKind.CONNECTORS
    if any("->" in each or each.startswith("replication.policy.") for each in names):
        return FileKind.MIRRORMAKER2
    if names & _WORKER_KEYS:
        return FileKind.WORKER
    return _client_kind(name.lower(), names)


def _client_kind(name: str, names: set[str]) -> FileKind | None:
    """Return which client a file is for: what its name says if it has keys of clients, or most of its keys."""
    named = [kind for kind in _CLIENT_FILES if kind.value.rpartition("-")[2] in name]
    if len(named) == 1 and any(each in OLD_KEYS or _clients_of(each) for each in names):
        return named[0]
    clients = [_clients_of(each) for each in names]
    consumer, producer = (clients.count({each}) for each in ("consumer", "producer"))
    if consumer != producer:
        return FileKind.CONSUMER if consumer > producer else FileKind.PRODUCER
    return None


def _clients_of(key: str) -> set[str]:
    found = {"consumer", "producer"} & set(kafka_keys().roles_of(key))
    return {_OF_OLD_CLIENTS[key]} if key in _OF_OLD_CLIENTS else found
