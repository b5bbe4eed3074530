"""Lists of snapshots and log entries whose models are created on first access.

A table may have ten thousand snapshots, of which a scan needs one. A list holds JSON objects and converts each to its model on first
access. An appended list shares all entries with its original and the pieces of its JSON text, so that a commit formats only the entries it adds
and copies little of the others.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from pydantic_core import to_json

from icefloe.exceptions import ValidationError
from icefloe.table.snapshots import MetadataLogEntry, Snapshot, SnapshotLogEntry
from icefloe.typedef import JsonModel

if TYPE_CHECKING:
    from typing_extensions import Self

Model = TypeVar("Model", bound=JsonModel)
JsonObject = dict[str, Any]
# Ids of the snapshots that have a value, by summary key and value.
Holders = dict[str, dict[str, tuple[int, ...]]]

_INTEGER, _MAYBE_INTEGER, _TEXT = (int,), (int, NoneType), (str,)
_JSON_TYPES = {int: "integer", str: "string", list: "array", dict: "object"}


class Entries(Sequence[Model], Generic[Model]):
    """An immutable list of models; equal to any sequence of equal models."""

    __slots__ = ("_items", "_pieces")
    model: ClassVar[type[JsonModel]]
    # The types of each key, checked for all objects at once; NoneType allows null and absence.
    shape: ClassVar[dict[str, tuple[type, ...]]]
    _items: list[Model | JsonObject]
    # The JSON texts of the objects, separated by commas, in pieces; None until a metadata file is written.
    _pieces: tuple[bytes, ...] | None

    def __init__(self, items: Iterable[Model | JsonObject] = (), pieces: tuple[bytes, ...] | None = None) -> None:
        self._items = list(items)
        self._pieces = pieces

    @classmethod
    def read(cls, value: Any) -> Self:
        """Return a list of models or JSON objects as this type; raise ValidationError for an object of the wrong shape."""
        if isinstance(value, cls):
            return value
        if value is None:
            return cls()
        if not isinstance(value, (list, tuple)):
            raise ValidationError(f"must be a list, got {value!r}")
        objects = [item for item in value if not isinstance(item, cls.model)]
        strays = [item for item in objects if type(item) is not dict]
        if strays:
            raise ValidationError(f"must be a list of objects, got {strays[0]!r} in it")
        for key, kinds in cls.shape.items():
            values = [item.get(key) for item in objects]
            if not set(map(type, values)) <= set(kinds):
                cls._refuse(objects, key, kinds)
            if int in kinds:
                _check_bits(key, values)
        return cls(value)

    @classmethod
    def _refuse(cls, objects: list[JsonObject], key: str, kinds: tuple[type, ...]) -> None:
        for position, item in enumerate(objects):
            found = item.get(key)
            if found is None and NoneType not in kinds:
                raise ValidationError(f"`{key}` of entry {position} is missing")
            if type(found) not in kinds:
                raise ValidationError(
                    f"`{key}` of entry {position} must be of type {_JSON_TYPES[kinds[0]]}, got {found!r}"
                )

    def appended(self, *models: Model) -> Self:
        """Return this list with models appended; only these are formatted if this list has its JSON text."""
        pieces = self._pieces
        if pieces is not None and models:
            added = b",".join(to_json(model.model_dump()) for model in models)
            pieces = _with_piece(pieces, b"," + added if self._items else added)
        return type(self)([*self._items, *models], pieces)

    def last(self, count: int) -> Self:
        """Return the last `count` entries as a list of this type; the list itself if it has no more."""
        if len(self) <= count:
            return self
        start = len(self) - count
        # A commit drops one entry of a full log: formatting that one is cheaper than formatting the others. An entry that was read
        # with unknown keys loses them when its model is created, and has another text than in the file.
        dropped = b"".join(to_json(_json_value(item)) + b"," for item in self._items[:start])
        text = None if self._pieces is None else b"".join(self._pieces)
        remaining = (text[len(dropped) :],) if text is not None and text.startswith(dropped) else None
        return type(self)(self._items[start:], remaining)

    def json_values(self) -> list[JsonObject]:
        """Return the JSON objects. Objects that were never accessed are returned as they were read, without nulls."""
        return [_json_value(item) for item in self._items]

    def json_pieces(self) -> tuple[bytes, ...]:
        """Return the JSON objects of `json_values` as pieces of text in UTF-8, separated by commas, without the brackets of a list."""
        if self._pieces is None:
            text = to_json([item if isinstance(item, dict) else item.model_dump() for item in self._items])
            # A null that the file stated is left out, as in `json_values`. Most files have none, and checking every object costs more.
            if b"null" in text:
                text = to_json(self.json_values())
            self._pieces = (text[1:-1],)
        return self._pieces

    def column(self, key: str, default: Any = None) -> list[Any]:
        """Return the value of one JSON key of every object, without creating models."""
        attribute = self._attribute(key)
        values = [item.get(key) if type(item) is dict else getattr(item, attribute) for item in self._items]
        return values if default is None else [default if value is None else value for value in values]

    @classmethod
    @cache
    def _attribute(cls, key: str) -> str:
        """Return the attribute of a JSON key; a method of the model may have the name of the key."""
        fields = cls.model.model_fields.items()
        return next((name for name, field in fields if field.serialization_alias == key), key.replace("-", "_"))

    @overload
    def __getitem__(self, index: int) -> Model: ...
    @overload
    def __getitem__(self, index: slice) -> list[Model]: ...
    def __getitem__(self, index: int | slice) -> Model | list[Model]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        item = self._items[index]
        if isinstance(item, dict):
            made: Any = self.model(**_without_nulls(item))
            self._items[index] = item = made
        return item

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, tuple, Entries)):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return repr(list(self))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls.read, serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.json_values())
        )


class Snapshots(Entries[Snapshot]):
    """A table's snapshots in commit order, indexed by id and by values in their summaries."""

    __slots__ = ("_holders", "_positions")
    model = Snapshot
    shape: ClassVar[dict[str, tuple[type, ...]]] = {
        "snapshot-id": _INTEGER,
        "parent-snapshot-id": _MAYBE_INTEGER,
        "sequence-number": _MAYBE_INTEGER,
        "timestamp-ms": _INTEGER,
        "manifest-list": (str, NoneType),
        "manifests": (list, NoneType),
        "summary": (dict, NoneType),
        "schema-id": _MAYBE_INTEGER,
    }
    _positions: dict[int, int]
    _holders: Holders

    def appended(self, *models: Snapshot) -> Self:
        """Return this list with snapshots appended; it extends the JSON text, and copies the indexes."""
        added = {model.snapshot_id: position for position, model in enumerate(models, len(self))}
        holders = {key: _with_holders(of_key, key, models) for key, of_key in self._held().items()}
        return super().appended(*models).indexed({**self.positions(), **added}, holders)

    def indexed(self, positions: dict[int, int], holders: Holders) -> Self:
        """Set the indexes, which a list of the same snapshots has made already, and return this list.

        Args:
            positions: Position of each snapshot id.
            holders: Ids of the snapshots that have a value, by summary key and value.
        """
        self._positions = positions
        self._holders = holders
        return self

    def by_id(self, snapshot_id: int) -> Snapshot | None:
        """Return the snapshot of an id, or None."""
        position = self.positions().get(snapshot_id)
        return None if position is None else self[position]

    def positions(self) -> dict[int, int]:
        """Return the position of each snapshot id; callers must not modify it."""
        if not hasattr(self, "_positions"):
            self._positions = {key: position for position, key in enumerate(self.column("snapshot-id"))}
        return self._positions

    def having(self, key: str, value: str) -> tuple[int, ...]:
        """Return the ids of the snapshots whose summary has a value, in commit order.

        The first call for a key reads all summaries; an appended list reads those of its new snapshots alone.

        Args:
            key: Key of the summary.
            value: The wanted value.
        """
        holders = self._held()
        if key not in holders:
            summaries = self.column("summary")
            holding = [position for position, summary in enumerate(summaries) if summary is not None and key in summary]
            holders[key] = _with_holders({}, key, [self[position] for position in holding])
        return holders[key].get(value, ())

    def _held(self) -> Holders:
        if not hasattr(self, "_holders"):
            self._holders = {}
        return self._holders

    def without(self, snapshot_ids: set[int]) -> Snapshots:
        """Return the snapshots except the given ids."""
        remaining = [position for key, position in self.positions().items() if key not in snapshot_ids]
        return Snapshots(self._items[position] for position in sorted(remaining))


def _with_holders(
    holders: dict[str, tuple[int, ...]], key: str, snapshots: Iterable[Snapshot]
) -> dict[str, tuple[int, ...]]:
    """Return an index of the values of a summary key with more snapshots."""
    found = dict(holders)
    for snapshot in snapshots:
        value = None if snapshot.summary is None else snapshot.summary[key]
        if value is not None:
            found[value] = (*found.get(value, ()), snapshot.snapshot_id)
    return found


class SnapshotLog(Entries[SnapshotLogEntry]):
    """The times at which snapshots became current, oldest first."""

    __slots__ = ()
    model = SnapshotLogEntry
    shape: ClassVar[dict[str, tuple[type, ...]]] = {"snapshot-id": _INTEGER, "timestamp-ms": _INTEGER}

    def without_history_of(self, snapshot_ids: set[int]) -> SnapshotLog:
        """Return the entries after the last entry of a removed snapshot, since time travel must not skip over it."""
        ids = self.column("snapshot-id")
        start = next((position + 1 for position in reversed(range(len(ids))) if ids[position] in snapshot_ids), 0)
        return SnapshotLog(self._items[start:])

    def snapshot_id_at(self, timestamp_ms: float, *, inclusive: bool = True) -> int | None:
        """Return the id of the snapshot that was current at a time, None if none was.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.
            inclusive: Whether a snapshot that became current exactly then counts.
        """
        times, ids = self.column("timestamp-ms"), self.column("snapshot-id")
        counts = operator.le if inclusive else operator.lt
        newest_first = zip(reversed(times), reversed(ids), strict=True)
        return next((one for time, one in newest_first if counts(time, timestamp_ms)), None)

    def without_heads(self, snapshot_ids: set[int]) -> SnapshotLog:
        """Return the entries except the given snapshots'."""
        return SnapshotLog(
            item for item, key in zip(self._items, self.column("snapshot-id"), strict=True) if key not in snapshot_ids
        )


class MetadataLog(Entries[MetadataLogEntry]):
    """Earlier metadata files, oldest first."""

    __slots__ = ()
    model = MetadataLogEntry
    shape: ClassVar[dict[str, tuple[type, ...]]] = {"metadata-file": _TEXT, "timestamp-ms": _INTEGER}


def _check_bits(key: str, values: list[Any]) -> None:
    """Raise ValidationError for a whole number of more than 64 bits, or of more than 32 bits in a schema id."""
    code, bits = ("i", 32) if key == "schema-id" else ("q", 64)
    numbers = [value for value in values if value is not None] if None in values else values
    try:
        # The conversion compares all numbers in C, since a table may have ten thousand snapshots.
        array(code, numbers)
    except OverflowError as error:
        wrong = next(
            value for value in numbers if value is not None and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
        )
        raise ValidationError(
            f"`{key}` of entry {values.index(wrong)} must be a whole number of {bits} bits, got {wrong}"
        ) from error


def _with_piece(pieces: tuple[bytes, ...], added: bytes) -> tuple[bytes, ...]:
    """Return pieces of a text with one more at the end.

    Pieces at the end are joined until each is longer than all after it: their number grows with the logarithm of the text's length, and
    each byte is copied as often.
    """
    first = len(pieces)
    length = len(added)
    while first > 0 and len(pieces[first - 1]) <= length:
        first -= 1
        length += len(pieces[first])
    return (*pieces[:first], b"".join([*pieces[first:], added]))


def _json_value(item: JsonModel | JsonObject) -> JsonObject:
    return _without_nulls(item) if isinstance(item, dict) else item.model_dump()


def _without_nulls(value: JsonObject) -> JsonObject:
    if None in value.values():
        return {key: part for key, part in value.items() if part is not None}
    return value
