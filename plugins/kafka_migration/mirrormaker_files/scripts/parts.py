"""A text within a file, such as an entry of a ConfigMap or a here-document, that is read like a file of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.model.remarks import Remark


@dataclass(frozen=True, slots=True)
class TextPart:
    """The text and its own name. `before` is the line before its first one; `is_one_line` if all is on the next.

    `numbers` gives the line of each line of the text, if they do not follow each other. `is_filled` and `is_partial`
    are those of `MirrorFile`, `remarks` have lines of the whole file, and `kind` is known if a command uses the file.
    """

    name: str
    text: str
    before: int
    is_one_line: bool = False
    numbers: tuple[int, ...] = ()
    is_filled: bool = False
    is_partial: bool = False
    remarks: tuple[Remark, ...] = ()
    kind: FileKind | None = None

    def in_place(self, file: MirrorFile, name: str) -> MirrorFile:
        """Return what was read from the text, with the name and the lines of the whole file."""
        settings = tuple(replace(each, line=self._line(each.line)) for each in file.settings)
        remarks = tuple(
            replace(each, line=self._line(each.line), other=self._line(each.other) if each.other else 0)
            for each in file.remarks
        )
        line = self._line(file.line or 1)
        return replace(
            file,
            name=name,
            settings=settings,
            faults=tuple(replace(each, line=self._line(each.line)) for each in file.faults),
            remarks=(*remarks, *self.remarks),
            line=line,
            part=file.part or self.name,
            is_filled=self.is_filled,
            is_partial=self.is_partial,
        )

    def _line(self, number: int) -> int:
        if self.numbers:
            return self.numbers[min(max(number, 1), len(self.numbers)) - 1]
        return self.before + (1 if self.is_one_line else number)
