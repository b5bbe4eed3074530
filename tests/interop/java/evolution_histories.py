"""Random commits of schema, spec and sort order changes, applied to icefloe as well as to the Java reference."""

from __future__ import annotations

import random
from typing import Any

from icefloe.schema import Schema
from icefloe.table.sorting import NullOrder
from icefloe.types import type_from_json

STRUCT = "struct"


def nested(field_id: int, name: str, kind: Any, required: bool = False) -> dict[str, Any]:
    return {"id": field_id, "name": name, "required": required, "type": kind}


SCHEMA: dict[str, Any] = {
    "type": STRUCT,
    "schema-id": 0,
    "fields": [
        nested(1, "id", "int", True),
        nested(2, "day", "date"),
        nested(3, "at", "timestamp"),
        nested(4, "price", "decimal(9, 2)"),
        nested(5, "ratio", "float"),
        nested(6, "name", "string"),
        nested(7, "point", {"type": STRUCT, "fields": [nested(8, "x", "int", True), nested(9, "y", "float")]}, True),
        nested(
            10,
            "tags",
            {
                "type": "list",
                "element-id": 11,
                "element-required": False,
                "element": {"type": STRUCT, "fields": [nested(12, "k", "string"), nested(13, "n", "int")]},
            },
        ),
        nested(
            14,
            "marks",
            {
                "type": "map",
                "key-id": 15,
                "key": "string",
                "value-id": 16,
                "value-required": False,
                "value": {"type": STRUCT, "fields": [nested(17, "a", "int")]},
            },
        ),
    ],
}
COLUMNS = ["id", "day", "at", "price", "ratio", "name", "point", "tags", "marks"]
INNER = ["point.x", "point.y", "tags.k", "tags.element.n", "marks.value.a", "marks.key", "tags.element", "new.inner"]
NEW = ["new", "other", "z", "id", "name"]
PARENTS = [None, None, "point", "tags", "marks", "name", "tags.element"]
TYPES: list[Any] = [
    "int",
    "string",
    "decimal(4, 1)",
    {
        "type": STRUCT,
        "fields": [
            nested(1, "inner", "int"),
            nested(2, "more", {"type": "list", "element-id": 3, "element": "int", "element-required": True}),
        ],
    },
    {
        "type": "list",
        "element-id": 9,
        "element": {"type": STRUCT, "fields": [nested(1, "e", "int")]},
        "element-required": False,
    },
]
WIDER = ["long", "double", "decimal(18, 2)", "decimal(18, 3)", "string", "int"]
TRANSFORMS = ["identity", "bucket[4]", "bucket[8]", "truncate[3]", "day", "month", "year", "hour"]
UNIONS: list[dict[str, Any]] = [
    {"type": STRUCT, "fields": [nested(1, "id", "long"), nested(2, "extra", "string")]},
    {
        "type": STRUCT,
        "fields": [
            nested(1, "point", {"type": STRUCT, "fields": [nested(2, "z", "double"), nested(3, "y", "double")]})
        ],
    },
    {
        "type": STRUCT,
        "fields": [
            nested(
                1,
                "marks",
                {
                    "type": "map",
                    "key-id": 2,
                    "key": "string",
                    "value-id": 3,
                    "value-required": False,
                    "value": {"type": STRUCT, "fields": [nested(4, "b", "string"), nested(5, "a", "long")]},
                },
            ),
            nested(6, "price", "decimal(12, 2)"),
        ],
    },
    {
        "type": STRUCT,
        "fields": [
            nested(
                1,
                "tags",
                {
                    "type": "list",
                    "element-id": 2,
                    "element-required": False,
                    "element": {
                        "type": STRUCT,
                        "fields": [
                            nested(
                                3, "m", {"type": "list", "element-id": 4, "element": "long", "element-required": False}
                            )
                        ],
                    },
                },
            ),
        ],
    },
    {"type": STRUCT, "fields": [nested(1, "id", "string")]},
    {"type": STRUCT, "fields": [nested(1, "ratio", "double"), nested(2, "id", "int")]},
    {"type": STRUCT, "fields": [nested(1, "point", "int")]},
]
MAPPING = '[{"field-id":1,"names":["id"]},{"field-id":7,"names":["point"],"fields":[{"field-id":8,"names":["x"]}]}]'


def history(seed: int) -> dict[str, Any]:
    """Return a table and commits on it: a schema, a format version, properties, and steps by kind."""
    chance = random.Random(seed)
    properties = {"write.metadata.metrics.column.name": "full"}
    if chance.random() < 0.5:
        properties["schema.name-mapping.default"] = MAPPING
    commits = []
    for _ in range(8):
        kind = chance.choice(["schema", "schema", "schema", "spec", "spec", "order"])
        steps = {"schema": _schema_steps, "spec": _spec_steps, "order": _order_steps}[kind](chance)
        commits.append([kind, steps])
    return {"schema": SCHEMA, "version": chance.choice([1, 2, 2]), "properties": properties, "commits": commits}


SPEC_COLUMNS = ["id", "id", "day", "at", "at", "point.x"]
SPEC_TRANSFORMS = ["identity", "bucket[4]", "truncate[3]", "day", "month", "hour"]
SPEC_NAMES = ["a", "b", "c", "a_1000", "b_1001", "id", "id_bucket_4", "at_day", "day", "point.x"]


def spec_history(seed: int) -> dict[str, Any]:
    """Return a table and commits of several spec changes each, whose names collide often, with columns added and renamed between."""
    chance = random.Random(seed)
    commits = []
    names = list(SPEC_NAMES)
    for _ in range(10):
        if chance.random() < 0.15:
            name = chance.choice(SPEC_NAMES[:-1])
            steps: list[list[Any]] = [["add", None, name, "int", None]]
            commits.append(["schema", chance.choice([steps, [["rename", chance.choice(["id", "day", "name"]), name]]])])
        else:
            commits.append(["spec", [_spec_step(chance, names) for _ in range(chance.choice([1, 1, 2, 3]))]])
    return {"schema": SCHEMA, "version": chance.choice([1, 2]), "properties": {}, "commits": commits}


def _spec_step(chance: random.Random, names: list[str]) -> list[Any]:
    """Return a step; names of added fields and new names become more likely in later steps."""
    verb = chance.choice(["add", "add", "remove", "rename"])
    if verb == "add":
        name = chance.choice([None, *SPEC_NAMES])
        names += [name] * 5 if name is not None else []
        return [verb, chance.choice(SPEC_COLUMNS), chance.choice(SPEC_TRANSFORMS), name]
    if verb == "remove":
        return [verb, chance.choice(names[-20:])]
    new_name = chance.choice(SPEC_NAMES)
    old_name = chance.choice(names[-20:])
    names += [new_name] * 5
    return [verb, old_name, new_name]


def _path(chance: random.Random) -> str:
    return chance.choice([*COLUMNS, *COLUMNS, *INNER, "new", "other"])


def _schema_steps(chance: random.Random) -> list[list[Any]]:
    steps: list[list[Any]] = []
    for _ in range(chance.choice([1, 1, 1, 2])):
        verb = chance.choice(
            [
                "add",
                "add",
                "add",
                "delete",
                "rename",
                "widen",
                "optional",
                "required",
                "doc",
                "first",
                "before",
                "after",
                "union",
                "identifiers",
            ]
        )
        if verb == "add":
            steps.append(
                [verb, chance.choice(PARENTS), chance.choice(NEW), chance.choice(TYPES), chance.choice([None, "text"])]
            )
        elif verb == "union":
            return [[verb, chance.choice(UNIONS)]]
        elif verb == "rename":
            # The reference ignores a new name of a list's element; icefloe refuses it.
            path = _path(chance)
            steps.append([verb, "day" if path == "tags.element" else path, chance.choice(["renamed", "name", "other"])])
        elif verb == "widen":
            path = _path(chance)
            steps.append([verb, "price" if path == "marks.key" else path, chance.choice(WIDER)])
        elif verb == "doc":
            steps.append([verb, _path(chance), "words"])
        elif verb in {"before", "after"}:
            steps.append([verb, _path(chance), _path(chance)])
        elif verb == "identifiers":
            steps.append([verb, *chance.sample(["id", "point.x", "name", "ratio"], chance.choice([0, 1, 1, 2]))])
        else:
            path = _path(chance)
            # The reference ignores a change of a map's key that changes nothing; icefloe refuses every change of a key.
            steps.append([verb, "id" if verb == "required" and path == "marks.key" else path])
    return steps


def _spec_steps(chance: random.Random) -> list[list[Any]]:
    steps: list[list[Any]] = []
    for _ in range(chance.choice([1, 1, 2])):
        verb = chance.choice(["add", "add", "add", "remove", "remove", "rename"])
        name = chance.choice(["id", "day", "id_bucket_4", "at_day", "part", "name_trunc_3", "day_month", "point.x"])
        if verb == "add":
            column = chance.choice(["id", "id", "day", "at", "name", "price", "point.x", "ratio", "tags.k"])
            steps.append([verb, column, chance.choice(TRANSFORMS), chance.choice([None, None, "part", "point"])])
        elif verb == "remove":
            steps.append([verb, name])
        else:
            steps.append([verb, name, chance.choice(["part", "renamed", "name"])])
    return steps


def _order_steps(chance: random.Random) -> list[list[Any]]:
    columns = ["id", "day", "at", "name", "price", "point.x", "tags.k", "point"]
    return [
        [
            "key",
            chance.choice(columns),
            chance.choice(TRANSFORMS),
            chance.choice(["asc", "desc"]),
            chance.choice(["first", "last"]),
        ]
        for _ in range(chance.choice([0, 1, 2]))
    ]


def apply(table: Any, kind: str, steps: list[list[Any]]) -> None:
    """Apply one commit to a table of icefloe."""
    if kind == "schema":
        update = table.update_schema(allow_incompatible_changes=False)
        for verb, *values in steps:
            _SCHEMA_VERBS[verb](update, *values)
    elif kind == "spec":
        update = table.update_spec()
        for verb, *values in steps:
            {"add": update.add_field, "remove": update.remove_field, "rename": update.rename_field}[verb](*values)
    else:
        update = table.update_sort_order()
        for _, column, transform, direction, nulls in steps:
            getattr(update, direction)(column, transform, NullOrder[f"NULLS_{nulls.upper()}"])
    update.commit()


def _path_below(parent: str | None, name: str) -> tuple[str, ...]:
    return (name,) if parent is None else (*parent.split("."), name)


_SCHEMA_VERBS: dict[str, Any] = {
    "add": lambda update, parent, name, kind, doc: update.add_column(
        _path_below(parent, name), type_from_json(kind), doc
    ),
    "delete": lambda update, path: update.delete_column(path),
    "rename": lambda update, path, name: update.rename_column(path, name),
    "widen": lambda update, path, kind: update.update_column(path, kind),
    "optional": lambda update, path: update.make_column_optional(path),
    "required": lambda update, path: update.update_column(path, required=True),
    "doc": lambda update, path, doc: update.update_column(path, doc=doc),
    "first": lambda update, path: update.move_first(path),
    "before": lambda update, path, other: update.move_before(path, other),
    "after": lambda update, path, other: update.move_after(path, other),
    "union": lambda update, value: update.union_by_name(Schema.model_validate(value)),
    "identifiers": lambda update, *names: update.set_identifier_fields(*names),
}
