"""Configurations as layers: maps that several readers share, the first of which wins.

Kafka copies maps into maps, once for each flow, connector and client. A file may have 10,000 lines and 1,000 flows,
so here each copy is one layer, made once, and a configuration is a row of layers.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.effective.readers import Given
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting

# What `String.trim` removes.
JAVA_BLANKS = "".join(map(chr, range(33)))


class Layer:
    """A map of a configuration that never changes; what is made of it is made once."""

    __slots__ = ("_made", "values")

    def __init__(self, values: dict[str, Given]) -> None:
        self.values = values
        self._made: dict[object, Layer] = {}

    def made(self, name: object, make: Callable[[dict[str, Given]], dict[str, Given]]) -> Layer:
        """Return the layer that the function makes of this one; `name` stands for the function."""
        found = self._made.get(name)
        if found is None:
            values = make(self.values)
            found = self._made[name] = self if values == self.values else Layer(values)
        return found


Layers = tuple[Layer, ...]


def layer_of(file: MirrorFile, settings: Iterable[MirrorSetting]) -> Layer:
    """Return the settings by their whole names; the last one of a name counts."""
    return Layer({each.name: Given(each.value, file.name, each) for each in settings})


def fixed(values: Mapping[str, str]) -> Layer:
    """Return values that Kafka sets itself."""
    return Layer({key: Given(value) for key, value in values.items()})


def stripped(layers: Layers, prefix: str) -> Layers:
    """Return the keys that begin with a prefix and are longer, without it, as `AbstractConfig.originalsWithPrefix`."""
    return _each(
        layers,
        ("stripped", prefix),
        lambda values: {
            key.removeprefix(prefix): given for key, given in values.items() if key.startswith(prefix) and key != prefix
        },
    )


def starting(layers: Layers, prefix: str, may_be_equal: bool = True) -> Layers:
    """Return the keys that start with a prefix, with it; or those that are longer."""
    name = "starting", prefix, may_be_equal
    return those(layers, name, lambda key: key.startswith(prefix) and (may_be_equal or key != prefix))


def prefixed(layers: Layers, prefix: str) -> Layers:
    """Return all keys with a prefix put in front."""
    return _each(
        layers, ("prefixed", prefix), lambda values: {f"{prefix}{key}": given for key, given in values.items()}
    )


def only(layers: Layers, names: frozenset[str]) -> Layers:
    """Return the keys that are among the names."""
    return those(layers, names, names.__contains__)


def those(layers: Layers, name: object, is_meant: Callable[[str], bool]) -> Layers:
    """Return the keys that a function selects; `name` stands for the function."""
    return _each(layers, ("those", name), lambda values: {key: given for key, given in values.items() if is_meant(key)})


def _each(layers: Layers, name: object, make: Callable[[dict[str, Given]], dict[str, Given]]) -> Layers:
    return tuple(made for each in layers if (made := each.made(name, make)).values)


def merged(layers: Layers) -> Mapping[str, Given]:
    """Return one map of the layers, the first of which wins."""
    return ChainMap(*(each.values for each in layers))


def get(layers: Layers, key: str) -> Given | None:
    """Return the value of a key."""
    return next((each.values[key] for each in layers if key in each.values), None)


def is_true(layers: Layers, key: str, default: bool) -> bool:
    """Return a boolean as `ConfigDef.parseType` reads it; what is neither true nor false is the default."""
    given = get(layers, key)
    word = given.value.strip(JAVA_BLANKS).lower() if given else ""
    return word == "true" if word in {"true", "false"} else default


def read_as(role: str, layers: Layers) -> Mapping[str, Given]:
    """Return the values as a role reads them.

    `ConfigDef.parseType` removes blanks around the value of each key that the role defines. Other values stay as they
    are.
    """
    return merged(tuple(each.made(("read", role), lambda values: _trimmed(role, values)) for each in layers))


def _trimmed(role: str, values: dict[str, Given]) -> dict[str, Given]:
    keys = kafka_keys()
    return {key: _trim(given) if keys.get(role, key) else given for key, given in values.items()}


def _trim(given: Given) -> Given:
    value = given.value.strip(JAVA_BLANKS)
    return given if value == given.value else given._replace(value=value)
