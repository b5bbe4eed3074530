"""Each row-level operation follows the isolation level of its own table property."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationException

VERBS = ("delete", "update", "merge")


def change(table, verb, rows):
    """Change the row of key 1, after a read of the rows of that key."""
    if verb == "delete":
        table.delete("id = 1")
    elif verb == "update":
        table.update("id = 1", {"value": 7.0})
    else:
        table.merge(rows((1, "a", 7.0)), on=["id"]).when_matched_update().execute()


def race(catalog, new_table, rows, verb, properties):
    """Change a table after a concurrent append of a row with the same key, and return the values of that key."""
    new_table(properties=properties)
    first, second = catalog.load_table("db.t"), catalog.load_table("db.t")
    first.append(rows((1, "a", 9.0)))
    change(second, verb, rows)
    return sorted(row["value"] for row in catalog.load_table("db.t").scan("id = 1").to_arrow().to_pylist())


def levels(mode, **levels):
    """Return the properties of a mode and of isolation levels by operation."""
    modes = {f"write.{verb}.mode": mode for verb in VERBS}
    return modes | {f"write.{verb}.isolation-level": level for verb, level in levels.items()}


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def mode(request):
    return request.param


@pytest.mark.parametrize("verb", VERBS)
def test_snapshot_level_of_the_operation_tolerates_a_concurrent_append(catalog, new_table, rows, mode, verb):
    found = race(catalog, new_table, rows, verb, levels(mode, **{verb: "snapshot"}))
    assert found == ([9.0] if verb == "delete" else [7.0, 9.0])


@pytest.mark.parametrize("verb", VERBS)
def test_levels_of_other_operations_do_not_apply(catalog, new_table, rows, mode, verb):
    others = {other: "snapshot" for other in VERBS if other != verb}
    with pytest.raises(ValidationException, match="added data"):
        race(catalog, new_table, rows, verb, levels(mode, **others))
    assert sorted(row["value"] for row in catalog.load_table("db.t").scan("id = 1").to_arrow().to_pylist()) == [
        0.5,
        9.0,
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_snapshot_level_refuses_a_concurrent_delete_of_the_same_rows(catalog, new_table, rows, mode, verb):
    new_table(properties=levels(mode, **dict.fromkeys(VERBS, "snapshot")))
    first, second = catalog.load_table("db.t"), catalog.load_table("db.t")
    first.delete("id = 1")
    with pytest.raises(ValidationException):
        change(second, verb, rows)
    assert catalog.load_table("db.t").scan("id = 1").count() == 0
