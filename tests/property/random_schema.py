"""Random types, and random values of them: structs by field id, so that a value outlives every name."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from random import Random
from typing import Any

from icefloe.types import (
    IcebergType,
    ListType,
    MapType,
    NestedField,
    PrimitiveType,
    StructType,
    type_from_text,
)

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)
PRIMITIVES: dict[str, list[Any]] = {
    "boolean": [True, False],
    "int": [-(2**31), -11, -1, 0, 1, 9, 10, 2**31 - 1],
    "long": [-(2**63), -101, -1, 0, 7, 100, 2**40, 2**63 - 1],
    "float": [-math.inf, -1.5, -0.0, 0.0, 0.25, math.inf, math.nan],
    "double": [-math.inf, -0.1, -0.0, 0.0, 0.1, 1e300, math.nan],
    "decimal(9, 2)": [Decimal("-1234567.89"), Decimal("-0.01"), Decimal("0.00"), Decimal("10.65")],
    "decimal(18, 4)": [Decimal("-1.2800"), Decimal("0.0000"), Decimal("99999999999999.9999")],
    "decimal(30, 3)": [Decimal("-1.280"), Decimal("0.000"), Decimal("123456789012345678901234567.891")],
    "date": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2017, 12, 1), dt.date(9999, 12, 31)],
    "time": [dt.time(0), dt.time(22, 31, 8, 1), dt.time(23, 59, 59, 999999)],
    "timestamp": [
        EPOCH - dt.timedelta(microseconds=1),
        EPOCH,
        dt.datetime(2017, 11, 16, 22, 31, 8),
        dt.datetime(9999, 1, 1),
    ],
    "timestamptz": [
        dt.datetime(1969, 1, 1, tzinfo=UTC),
        EPOCH.replace(tzinfo=UTC),
        dt.datetime(2024, 2, 29, 12, 0, 0, 5, UTC),
    ],
    "string": ["", "ab", "abc", "a\U0001f600b", "é", "x/y=z #%+", "a text of more than sixteen characters"],
    "uuid": [bytes(16), bytes(range(16)), b"\xff" * 16],
    "fixed[3]": [b"\0\0\0", b"abc", b"\xff\xff\xff"],
    "binary": [b"", b"\0", b"abcdef", b"\xff\xff"],
}
TRANSFORMS = ["identity", "bucket[3]", "truncate[2]", "year", "month", "day", "hour"]
PROMOTED = {"int": "long", "float": "double", "decimal(9, 2)": "decimal(20, 2)", "decimal(18, 4)": "decimal(38, 4)"}


def random_primitive(rng: Random) -> PrimitiveType:
    return type_from_text(rng.choice(sorted(PRIMITIVES)))


def random_type(rng: Random, depth: int = 2) -> IcebergType:
    """A type; ids inside are to be assigned by who takes it."""
    kind = rng.choice(["struct", "list", "map"]) if depth and rng.random() < 0.3 else "primitive"
    if kind == "struct":
        names = rng.sample(["x", "y", "z", "b c"], rng.randint(1, 3))
        return StructType(*(NestedField(n, name, random_type(rng, depth - 1)) for n, name in enumerate(names, 1)))
    if kind == "list":
        return ListType(1, random_type(rng, depth - 1), element_required=rng.random() < 0.2)
    if kind == "map":
        key = type_from_text(rng.choice(["string", "int", "date"]))
        return MapType(1, key, 2, random_type(rng, depth - 1), value_required=rng.random() < 0.2)
    return random_primitive(rng)


def random_value(rng: Random, kind: IcebergType, *, required: bool = False) -> Any:
    """A value; structs are dicts of field ids, maps lists of pairs."""
    if not required and rng.random() < 0.2:
        return None
    if isinstance(kind, StructType):
        return {each.field_id: random_value(rng, each.field_type, required=each.required) for each in kind.fields}
    if isinstance(kind, ListType):
        return [random_value(rng, kind.element_type, required=kind.element_required) for _ in range(rng.randint(0, 3))]
    if isinstance(kind, MapType):
        keys = rng.sample(PRIMITIVES[str(kind.key_type)], rng.randint(0, 2))
        return [(key, random_value(rng, kind.value_type, required=kind.value_required)) for key in keys]
    return rng.choice(values_of(kind))


def values_of(kind: IcebergType) -> list[Any]:
    """The values that columns of a type hold, values of promoted types among them."""
    before = [old for old, new in PROMOTED.items() if new == str(kind)]
    found = PRIMITIVES.get(str(kind), [])
    return found if found or not before else PRIMITIVES[before[0]]


def named(value: Any, kind: IcebergType) -> Any:
    """A value as Arrow has it under today's names; fields that it does not have are null."""
    if value is None:
        return None
    if isinstance(kind, StructType):
        return {each.name: named(value.get(each.field_id), each.field_type) for each in kind.fields}
    if isinstance(kind, ListType):
        return [named(each, kind.element_type) for each in value]
    if isinstance(kind, MapType):
        return [(key, named(each, kind.value_type)) for key, each in value]
    return value


def leaves(
    struct: StructType, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], tuple[int, ...], PrimitiveType]]:
    """Every primitive field outside lists and maps: its names, its ids, its type."""
    found = []
    for each in struct.fields:
        if isinstance(each.field_type, StructType):
            inside = leaves(each.field_type, (*path, each.name))
            found += [(names, (each.field_id, *ids), kind) for names, ids, kind in inside]
        elif isinstance(each.field_type, PrimitiveType):
            found.append(((*path, each.name), (each.field_id,), each.field_type))
    return found


def structs(struct: StructType, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], StructType]]:
    """Every struct outside lists and maps, the table itself first."""
    found = [(path, struct)]
    for each in struct.fields:
        if isinstance(each.field_type, StructType):
            found += structs(each.field_type, (*path, each.name))
    return found


def at(row: dict[int, Any], ids: tuple[int, ...]) -> Any:
    """The value of a nested field, null where a struct around it is."""
    value: Any = row
    for each in ids:
        value = None if value is None else value.get(each)
    return value
