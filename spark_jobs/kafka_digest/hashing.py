"""What of a record is hashed, and how: the Spark SQL that both digests are made of.

`xxhash64` skips nulls and folds the headers of a list flat: a null key would equal an absent argument, and
`[(a, null), (b, c)]` would equal `[(a, b), (c, null)]`. So null flags are hashed too, and the values of headers also as
JSON, which tells each from the next and null from any value. (A lambda that gives their lengths says as much, but Spark
interprets lambdas, and cuts the code that it generates for the whole pass in two at each.)

xxhash64 is no protection against somebody who forges records on purpose. *Audited* hashes are: they are those of the
SHA-256 of a text that begins with a nonce. Who does not know the nonce when he forges cannot foresee any hash. The text
has the parts in hexadecimal, `-` for null, with `|` between them; headers as their number, `:` and `key=value,…`;
the timestamp in microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class _Part(NamedTuple):
    """A part of a record: as arguments of `xxhash64`, and as a text that no other content gives."""

    arguments: str
    text: str


_PARTS = {
    "key": _Part("key, key is null", "coalesce(hex(key), '-')"),
    "value": _Part("value, value is null", "coalesce(hex(value), '-')"),
    "headers": _Part(
        "if(size(headers) > 0, to_json(headers.value), null), headers",
        "concat(coalesce(size(headers), 0), ':', coalesce(array_join("
        "transform(headers, h -> concat(hex(h.key), '=', coalesce(hex(h.value), '-'))), ','), ''))",
    ),
    "timestamp": _Part("timestamp", "coalesce(cast(unix_micros(timestamp) as string), '-')"),
}
PAYLOAD = ("value", "headers", "timestamp")
RECORD = ("key", *PAYLOAD)


@dataclass(frozen=True, slots=True)
class Hashing:
    """How records are hashed.

    :param nonce: makes hashes that cannot be forged, each run with a nonce of its own; `None` makes quick ones
    """

    nonce: str | None = None

    def of(self, *parts: str, rank: str | None = None) -> str:
        """Return the SQL of the 64-bit hash of parts of a record, with its rank where order counts."""
        ranked = "" if rank is None else f"{rank}, "
        if self.nonce is None:
            return f"xxhash64({ranked}{', '.join(_PARTS[part].arguments for part in parts)})"
        texts = ", ".join(_PARTS[part].text for part in parts)
        return f"xxhash64({ranked}sha2(concat_ws('|', '{self.nonce}', {texts}), 256))"


QUICK = Hashing()
