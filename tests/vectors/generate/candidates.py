"""Documents for the reference to parse: schemas, specs, sort orders, name mappings, table metadata."""

from __future__ import annotations

from typing import Any

from metadata_documents import COLUMN, ORDER, SCHEMA, SPEC, inside, metadata, without


def field(kind: Any, **more: Any) -> dict[str, Any]:
    """Return a schema of one column."""
    return {
        "type": "struct",
        "schema-id": 0,
        "fields": [{"id": 1, "name": "a", "required": False, "type": kind, **more}],
    }


LIST = {"type": "list", "element-id": 2, "element": "int", "element-required": True}
MAP = {"type": "map", "key-id": 2, "key": "string", "value-id": 3, "value": "long", "value-required": False}
STRUCT = {"type": "struct", "fields": [{"id": 2, "name": "b", "required": True, "type": "int"}]}


def schemas() -> dict[str, Any]:
    """Return schemas by what is special about them."""
    primitives = [
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "timestamp_ns",
        "timestamptz_ns",
        "string",
        "uuid",
        "binary",
        "decimal(9,2)",
        "fixed[16]",
        "unknown",
        "Int",
        "STRING",
        "decimal(38,38)",
        "fixed[0]",
    ]
    kinds: list[Any] = [*primitives, "decimal(9, 2)", "decimal( 9 , 2 )", "fixed[ 4 ]", "decimal(39,2)", "decimal(0,0)"]
    kinds += ["decimal(3,4)", "decimal(9)", "fixed", "fixed[-1]", "integer", "varchar", "", "int ", None, 5]
    cases = {f"type {kind!r}": field(kind) for kind in kinds}
    nested = {"list": LIST, "map": MAP, "struct": STRUCT}
    for name, kind in nested.items():
        cases[name] = field(kind)
        for key in kind:
            cases[f"{name} without {key}"] = field(without(kind, key))
    cases["list of map of struct"] = field(
        {
            **LIST,
            "element": {
                **MAP,
                "key-id": 3,
                "value-id": 4,
                "value": {**STRUCT, "fields": [{"id": 5, "name": "x", "required": False, "type": "date"}]},
            },
        }
    )
    whole = field("int")
    for key in ("type", "schema-id", "fields"):
        cases[f"without {key}"] = without(whole, key)
    for key in ("id", "name", "required", "type"):
        cases[f"column without {key}"] = inside(whole, f"fields/0/{key}", ...)
    cases |= {
        "doc": field("int", doc="what\nit is"),
        "null doc": field("int", doc=None),
        "defaults": field("int", **{"initial-default": 1, "write-default": 2}),
        "default of the wrong type": field("int", **{"initial-default": "x"}),
        "date default": field("date", **{"initial-default": "2020-01-01", "write-default": "2020-01-01"}),
        "decimal default": field("decimal(9,2)", **{"initial-default": "1.20"}),
        "unknown key": field("int", colour="red"),
        "no columns": {"type": "struct", "schema-id": 0, "fields": []},
        "text id": inside(whole, "fields/0/id", "1"),
        "fractional id": inside(whole, "fields/0/id", 1.0),
        "text required": inside(whole, "fields/0/required", "true"),
        "identifier": {**SCHEMA, "identifier-field-ids": [2]},
        "optional identifier": {**SCHEMA, "identifier-field-ids": [1]},
        "unknown identifier": {**SCHEMA, "identifier-field-ids": [9]},
        "empty identifiers": {**SCHEMA, "identifier-field-ids": []},
        "id twice": {**SCHEMA, "fields": [COLUMN, {**COLUMN, "name": "b"}]},
        "name twice": {**SCHEMA, "fields": [COLUMN, {**COLUMN, "id": 2}]},
        "names that differ by case": {**SCHEMA, "fields": [COLUMN, {**COLUMN, "id": 2, "name": "A"}]},
        "name with dots": field("int", name="a.b"),
        "names and ids across levels": {
            **SCHEMA,
            "fields": [
                COLUMN,
                {
                    "id": 2,
                    "name": "b",
                    "required": True,
                    "type": {**STRUCT, "fields": [{"id": 3, "name": "a", "required": True, "type": "int"}]},
                },
            ],
        },
        "full name twice": {
            **SCHEMA,
            "fields": [
                {**COLUMN, "name": "b.a"},
                {
                    "id": 2,
                    "name": "b",
                    "required": True,
                    "type": {**STRUCT, "fields": [{"id": 3, "name": "a", "required": True, "type": "int"}]},
                },
            ],
        },
        "empty name": field("int", name=""),
        "schema is a list": [],
    }
    return cases


def specs() -> dict[str, Any]:
    """Return partition specs by what is special about them."""
    transforms = [
        "identity",
        "bucket[16]",
        "Bucket[16]",
        "truncate[3]",
        "year",
        "month",
        "day",
        "hour",
        "void",
        "zorder",
        "zorder[2]",
        "bucket[0]",
        "",
    ]
    cases: dict[str, Any] = {f"transform {name!r}": inside(SPEC, "fields/0/transform", name) for name in transforms}
    for key in ("name", "transform", "source-id", "field-id"):
        cases[f"field without {key}"] = inside(SPEC, f"fields/0/{key}", ...)
    second = {"name": "b", "transform": "identity", "source-id": 1, "field-id": 1005}
    return cases | {
        "without fields": {"spec-id": 0},
        "without id": {"fields": SPEC["fields"]},
        "unpartitioned": {"spec-id": 3, "fields": []},
        "ids with gaps": {"spec-id": 1, "fields": [*SPEC["fields"], second]},
        "only some ids": {"spec-id": 1, "fields": [*SPEC["fields"], without(second, "field-id")]},
        "no ids": {"spec-id": 1, "fields": [without(SPEC["fields"][0], "field-id"), without(second, "field-id")]},
        "unknown key": {**SPEC, "colour": "red"},
        "source-ids": inside(inside(SPEC, "fields/0/source-ids", [2]), "fields/0/source-id", ...),
        "text id": inside(SPEC, "fields/0/field-id", "1000"),
        "odd name": inside(SPEC, "fields/0/name", "a b/c=d"),
        "spec is a list": SPEC["fields"],
    }


def orders() -> dict[str, Any]:
    """Return sort orders by what is special about them."""
    cases: dict[str, Any] = {}
    for key, values in {
        "direction": ["asc", "desc", "ASC", "ascending", "", None],
        "null-order": ["nulls-first", "nulls-last", "NULLS_LAST", "first", None],
        "transform": ["identity", "bucket[4]", "day", "truncate[2]", "void", "zorder", "bucket[0]"],
    }.items():
        cases |= {f"{key} {value!r}": inside(ORDER, f"fields/0/{key}", value) for value in values}
        cases[f"field without {key}"] = inside(ORDER, f"fields/0/{key}", ...)
    return cases | {
        "field without source": inside(ORDER, "fields/0/source-id", ...),
        "unsorted": {"order-id": 0, "fields": []},
        "sorted order 0": {**ORDER, "order-id": 0},
        "unsorted order 1": {"order-id": 1, "fields": []},
        "two fields": {
            "order-id": 2,
            "fields": [
                *ORDER["fields"],
                {"transform": "bucket[4]", "source-id": 2, "direction": "desc", "null-order": "nulls-last"},
            ],
        },
        "without id": {"fields": ORDER["fields"]},
        "without fields": {"order-id": 1},
        "unknown key": {**ORDER, "colour": "red"},
    }


def mappings() -> dict[str, Any]:
    """Return name mappings by what is special about them."""
    return {
        "empty": [],
        "one": [{"field-id": 1, "names": ["a"]}],
        "aliases": [{"field-id": 1, "names": ["a", "A", "a.b"]}],
        "no id": [{"names": ["a"]}],
        "no names": [{"field-id": 1, "names": []}],
        "nested": [{"field-id": 1, "names": ["l"], "fields": [{"field-id": 2, "names": ["element"]}]}],
        "nested without id": [{"names": ["s"], "fields": [{"field-id": 2, "names": ["x"]}]}],
        "names missing": [{"field-id": 1}],
        "an object": {"field-id": 1, "names": ["a"]},
        "text id": [{"field-id": "1", "names": ["a"]}],
        "name that is no text": [{"field-id": 1, "names": [1]}],
        "unknown key": [{"field-id": 1, "names": ["a"], "colour": "red"}],
        "name twice": [{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["a"]}],
        "id twice": [{"field-id": 1, "names": ["a"]}, {"field-id": 1, "names": ["b"]}],
        "empty nested": [{"field-id": 1, "names": ["a"], "fields": []}],
    }


# Where icefloe is not held to the reference, by kind and note: it reads what the reference refuses (True), or refuses what it
# reads (False), or Rust does one and Python the other ("either").
READ: dict[str, dict[str, bool | str]] = {
    "schema": {
        "type 'decimal(0,0)'": False,
        "type 'fixed[0]'": "either",
        "without fields": "either",
        "without type": True,
        "default of the wrong type": True,
        "optional identifier": "either",
        "unknown identifier": "either",
    },
    "partition_spec": {
        "field without field-id": True,
        "without id": True,
        "without fields": "either",
        "only some ids": "either",
        "no ids": True,
        "source-ids": True,
    },
    "sort_order": {
        "sorted order 0": True,
        "unsorted order 1": True,
        "direction None": "either",
        "field without direction": "either",
        "field without null-order": "either",
        "field without transform": "either",
        "without id": "either",
        "without fields": "either",
    },
    "name_mapping": dict.fromkeys(["no id", "nested without id", "name twice", "id twice", "empty nested"], True),
    "metadata": {
        "unknown default spec": False,
        "unknown default order": False,
        "v1 without table-uuid": True,
        **{
            f"v1 in full without {key}": True
            for key in ("table-uuid", "current-schema-id", "default-spec-id", "default-sort-order-id")
        },
        "v1 with table-uuid null": True,
        "v2 without last-sequence-number": True,
        **{f"{version} with {key} null": True for version in ("v1", "v2", "v3") for key in ("refs", "properties")},
        "v3 without next-row-id": True,
        **{f"v2 snapshot with {key} null": True for key in ("sequence-number", "summary", "parent-snapshot-id")},
        "number as summary value": True,
        "summary without operation": True,
        "default spec over a dropped column": True,
    },
}


def candidates() -> list[dict[str, Any]]:
    """Return every document with its kind and note."""
    kinds = {
        "schema": schemas(),
        "partition_spec": specs(),
        "sort_order": orders(),
        "name_mapping": mappings(),
        "metadata": metadata(),
    }
    return [
        {"kind": kind, "note": note, "json": json, "read": READ.get(kind, {}).get(note)}
        for kind, cases in kinds.items()
        for note, json in cases.items()
    ]
