"""Random values of every type, schemas, specs, sort orders, name mappings and table metadata, as JSON."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

PLAIN = ["boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz", "timestamp_ns"]
PLAIN += ["timestamptz_ns", "string", "uuid", "binary"]
IDENTITY_ONLY = {"boolean", "float", "double"}
# Years that Python's dates have.
FIRST_DAY, LAST_DAY = -719162, 2932896
MICROS_PER_DAY = 86_400_000_000

integers = st.integers(-(2**31), 2**31 - 1)
longs = st.integers(-(2**63), 2**63 - 1)
decimal_types = st.integers(1, 38).flatmap(
    lambda precision: st.integers(0, precision).map(lambda scale: f"decimal({precision}, {scale})")
)
primitive_types = st.one_of(st.sampled_from(PLAIN), decimal_types, st.integers(1, 20).map("fixed[{}]".format))
texts = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.text(st.characters(codec="utf-8", exclude_characters="."), min_size=1, max_size=8)


def decimal_text(unscaled: int, scale: int) -> str:
    """Return a decimal with all the digits of its scale."""
    digits = f"{abs(unscaled):0{scale + 1}d}"
    point = len(digits) - scale
    text = digits[:point] + ("." + digits[point:] if scale else "")
    return f"-{text}" if unscaled < 0 else text


def ordinals(kind: str) -> st.SearchStrategy[Any]:
    """Return values of a type in the form that Python gives them, ordered as the type is: text of decimals aside."""
    if kind.startswith("decimal"):
        precision = int(kind[8:].split(",", maxsplit=1)[0])
        return st.integers(1 - 10**precision, 10**precision - 1)
    if kind.startswith("fixed"):
        length = int(kind[6:-1])
        return st.binary(min_size=length, max_size=length)
    moments = st.integers(FIRST_DAY * MICROS_PER_DAY, (LAST_DAY + 1) * MICROS_PER_DAY - 1)
    found: dict[str, st.SearchStrategy[Any]] = {
        "boolean": st.booleans(),
        "int": integers,
        "long": longs,
        "float": st.floats(width=32),
        "double": st.floats(),
        "date": st.integers(FIRST_DAY, LAST_DAY),
        "time": st.integers(0, MICROS_PER_DAY - 1),
        "timestamp": moments,
        "timestamptz": moments,
        "timestamp_ns": longs,
        "timestamptz_ns": longs,
        "string": texts,
        "uuid": st.uuids(),
        "binary": st.binary(max_size=20),
    }
    return found[kind]


def is_no_nan(value: Any) -> bool:
    """Whether a value is anything but NaN."""
    return not (isinstance(value, float) and math.isnan(value))


class Ids:
    """Field ids, each given once."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last += 1
        return self.last


@st.composite
def types(draw: st.DrawFn, ids: Ids, depth: int = 2) -> Any:
    """Draw a type, nested at most so deep."""
    kind = draw(st.sampled_from(["plain", "plain", "list", "map", "struct"])) if depth else "plain"
    if kind == "plain":
        return draw(primitive_types)
    if kind == "list":
        number = ids.next()
        element = draw(types(ids, depth - 1))
        return {"type": "list", "element-id": number, "element": element, "element-required": draw(st.booleans())}
    if kind == "map":
        key, value = ids.next(), ids.next()
        return {
            "type": "map",
            "key-id": key,
            "key": draw(primitive_types),
            "value-id": value,
            "value": draw(types(ids, depth - 1)),
            "value-required": draw(st.booleans()),
        }
    return {"type": "struct", "fields": draw(fields(ids, depth - 1))}


@st.composite
def fields(draw: st.DrawFn, ids: Ids, depth: int) -> list[dict[str, Any]]:
    """Draw the fields of a struct, their names unique in any case."""
    found = []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique_by=str.casefold)):
        number = ids.next()
        field: dict[str, Any] = {
            "id": number,
            "name": name,
            "required": draw(st.booleans()),
            "type": draw(types(ids, depth)),
        }
        if draw(st.booleans()):
            field["doc"] = draw(texts)
        found.append(field)
    return found


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a schema, some with identifier columns."""
    columns = draw(fields(Ids(), 2))
    schema: dict[str, Any] = {"type": "struct", "schema-id": draw(st.integers(0, 9)), "fields": columns}
    able = [
        column["id"]
        for column in columns
        if column["required"] and isinstance(column["type"], str) and column["type"] not in {"float", "double"}
    ]
    if able and draw(st.booleans()):
        schema["identifier-field-ids"] = draw(st.lists(st.sampled_from(able), min_size=1, unique=True))
    return schema


def transforms(kind: str) -> st.SearchStrategy[str]:
    """Return the transforms that apply to a type."""
    able = ["identity", "void"]
    if kind.startswith(("date", "timestamp")):
        able += ["year", "month", "day"]
    if kind.startswith("timestamp"):
        able.append("hour")
    numbered = ["bucket"] if kind not in IDENTITY_ONLY else []
    if kind in {"int", "long", "string", "binary"} or kind.startswith("decimal"):
        numbered.append("truncate")
    plain = st.sampled_from(able)
    if not numbered:
        return plain
    return st.one_of(plain, st.builds("{}[{}]".format, st.sampled_from(numbered), st.integers(1, 2**31 - 1)))


def columns_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the columns that may be partitioned or sorted by."""
    return [column for column in schema["fields"] if isinstance(column["type"], str)]


@st.composite
def specs(draw: st.DrawFn, schema: dict[str, Any], spec_id: int = 0) -> dict[str, Any]:
    """Draw a partition spec over a schema."""
    able = columns_of(schema)
    chosen = draw(st.lists(st.sampled_from(able), max_size=4)) if able else []
    found = [
        {
            "name": f"p{number}",
            "transform": draw(transforms(column["type"])),
            "source-id": column["id"],
            "field-id": 1000 + number,
        }
        for number, column in enumerate(chosen)
    ]
    return {"spec-id": spec_id, "fields": found}


@st.composite
def sort_orders(draw: st.DrawFn, schema: dict[str, Any], order_id: int = 1) -> dict[str, Any]:
    """Draw a sort order over a schema."""
    able = columns_of(schema)
    chosen = draw(st.lists(st.sampled_from(able), min_size=1, max_size=3)) if able else []
    found = [
        {
            "transform": draw(transforms(column["type"])),
            "source-id": column["id"],
            "direction": draw(st.sampled_from(["asc", "desc"])),
            "null-order": draw(st.sampled_from(["nulls-first", "nulls-last"])),
        }
        for column in chosen
    ]
    return {"order-id": order_id if found else 0, "fields": found}


@st.composite
def name_mappings(draw: st.DrawFn, depth: int = 2) -> list[dict[str, Any]]:
    """Draw a name mapping."""
    found = []
    for number in range(draw(st.integers(0, 3))):
        field: dict[str, Any] = {"field-id": draw(st.integers(1, 10**9)), "names": [f"{number}{draw(names)}"]}
        inner = draw(name_mappings(depth - 1)) if depth else []
        if inner:
            field["fields"] = inner
        found.append(field)
    return found


@st.composite
def metadata(draw: st.DrawFn) -> dict[str, Any]:
    """Draw table metadata of version 1 or 2, with everything that such a file holds."""
    version = draw(st.sampled_from([1, 2]))
    schema = draw(schemas())
    spec = draw(specs(schema))
    order = draw(sort_orders(schema))
    count = draw(st.integers(0, 4))
    snapshots = [draw(snapshot(number, version, schema["schema-id"])) for number in range(1, count + 1)]
    log = [{"timestamp-ms": s["timestamp-ms"], "snapshot-id": s["snapshot-id"]} for s in snapshots]
    orders = [{"order-id": 0, "fields": []}]
    document: dict[str, Any] = {
        "format-version": version,
        "table-uuid": str(draw(st.uuids())),
        "location": "s3://bucket/" + draw(names).strip("/") + "x",
        "last-updated-ms": 1_600_000_000_000 + count,
        "last-column-id": 10_000,
        "current-schema-id": schema["schema-id"],
        "schemas": [schema],
        "default-spec-id": 0,
        "partition-specs": [spec],
        "last-partition-id": max([999, *(field["field-id"] for field in spec["fields"])]),
        "default-sort-order-id": order["order-id"],
        "sort-orders": [*orders, order] if order["fields"] else orders,
        "properties": draw(st.dictionaries(names, texts, max_size=3)),
        "current-snapshot-id": count or -1,
        "refs": draw(refs(count)),
        "snapshots": snapshots,
        "statistics": [],
        "partition-statistics": [],
        "snapshot-log": log,
        "metadata-log": [
            {"metadata-file": f"s3://bucket/m{number}", "timestamp-ms": 1_600_000_000_000} for number in range(count)
        ],
    }
    if version == 1:
        return {**document, "schema": schema, "partition-spec": spec["fields"]}
    return {**document, "last-sequence-number": count}


@st.composite
def snapshot(draw: st.DrawFn, number: int, version: int, schema_id: int) -> dict[str, Any]:
    """Draw a snapshot after the one before it."""
    summary = draw(st.dictionaries(names.filter(lambda name: name != "operation"), texts, max_size=3))
    operation = draw(st.sampled_from(["append", "overwrite", "replace", "delete"]))
    found: dict[str, Any] = {"sequence-number": number} if version > 1 else {}
    found |= {"snapshot-id": number} | ({"parent-snapshot-id": number - 1} if number > 1 else {})
    return found | {
        "timestamp-ms": 1_600_000_000_000 + number,
        "summary": {"operation": operation, **summary},
        "manifest-list": f"s3://bucket/snap-{number}.avro",
        "schema-id": schema_id,
    }


@st.composite
def refs(draw: st.DrawFn, count: int) -> dict[str, Any]:
    """Draw branches and tags; main is the last snapshot."""
    if not count:
        return {}
    found: dict[str, Any] = {"main": {"snapshot-id": count, "type": "branch"}}
    ages = st.integers(1, 10**12)
    for name in draw(st.lists(names.filter(lambda name: name != "main"), max_size=2, unique=True)):
        kind = draw(st.sampled_from(["branch", "tag"]))
        ref: dict[str, Any] = {"snapshot-id": draw(st.integers(1, count)), "type": kind}
        if kind == "branch" and draw(st.booleans()):
            ref |= {"min-snapshots-to-keep": draw(st.integers(1, 9)), "max-snapshot-age-ms": draw(ages)}
        if draw(st.booleans()):
            ref["max-ref-age-ms"] = draw(ages)
        found[name] = ref
    return found
