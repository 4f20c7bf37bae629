"""A row of the table of stored documents: the kind of a document and its classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kafka_migration.core.documents.codec import Document, DoesNotFit
from kafka_migration.core.evidence.evidence_documents import Kind

D = TypeVar("D", bound=Document)


@dataclass(frozen=True, slots=True)
class StoredKind(Generic[D]):
    """One kind of evidence document.

    `forms` are the classes of its documents; a document has the first form that it fits. `schema` is the number of its
    shape: it is raised if a field changes its meaning or goes. `core.run.task_steps` has the tasks that write it.
    """

    kind: Kind
    forms: tuple[type[D], ...]
    schema: int = 1

    def read(self, document: Mapping[str, Any]) -> D:
        """Read a JSON object. Raises `DoesNotFit` if it fits no form; the text says why for each form."""
        reasons = []
        for form in self.forms:
            try:
                return form.from_document(document)
            except DoesNotFit as error:
                reasons.append(str(error) if len(self.forms) == 1 else f"as {form.__name__}: {error}")
        raise DoesNotFit("; ".join(reasons))

    def __str__(self) -> str:
        return str(self.kind)
