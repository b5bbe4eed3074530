"""The errors that users of commits, updates and writes cause: subject, expectation, what was given and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import FeatureUnsupportedError, ValidationError, ValidationException
from icefloe.schema import Schema
from icefloe.types import LongType, NestedField, StringType

ROWS = pa.table({"id": [1, 2], "name": ["a", "b"]})
SCHEMA = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType()))
Case = tuple[Callable[[Any], object], type[Exception], str]


@pytest.fixture
def table(tmp_path: Any) -> Any:
    """A table with two snapshots, a tag and a branch."""
    catalog = InMemoryCatalog("cat", str(tmp_path))
    catalog.create_namespace("db")
    made = catalog.create_table("db.t", SCHEMA)
    made.append(rows())
    made.append(rows())
    made.manage_snapshots().create_tag(made.current_snapshot().snapshot_id, "v1").commit()
    return made


def rows() -> pa.Table:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
    return ROWS.cast(schema)


def with_property(name: str, value: str) -> Callable[[Any], None]:
    """Return an append to a table with a property."""

    def append(table: Any) -> None:
        table.transaction().set_properties({name: value}).commit_transaction()
        table.append(rows())

    return append


def delete_with(name: str, value: str) -> Callable[[Any], None]:
    """Return a delete from a table with a property."""

    def delete(table: Any) -> None:
        table.transaction().set_properties({name: value}).commit_transaction()
        table.delete("id = 1")

    return delete


def delete_after_rollback(table: Any) -> None:
    """Delete in a handle whose snapshot was rolled back by another."""
    other = table.catalog.load_table("db.t")
    with other.manage_snapshots() as manage:
        manage.rollback_to_snapshot(table.snapshots()[0].snapshot_id)
    table.delete("id = 1")


def overwrite_after_append(table: Any) -> None:
    table.catalog.load_table("db.t").append(rows())
    table.overwrite(rows())


CASES: dict[str, Case] = {
    "write of something else": (
        lambda table: table.append({"id": [1]}),
        ValidationError,
        (
            "cannot read a dict as Arrow data; pass a pyarrow table or batch reader, a pandas or Polars data frame, or an object "
            "with __arrow_c_stream__"
        ),
    ),
    "write to a tag": (
        lambda table: table.append(rows(), branch="v1"),
        ValidationError,
        "cannot commit to 'v1': expected a branch, got a tag; create a branch with manage_snapshots().create_branch()",
    ),
    "retries that are not a number": (
        with_property("commit.retry.num-retries", "many"),
        ValidationError,
        "table property commit.retry.num-retries: expected a whole number, 0 or above, got 'many'",
    ),
    "write mode that is unknown": (
        delete_with("write.delete.mode", "fast"),
        ValidationError,
        "table property write.delete.mode: expected copy-on-write or merge-on-read, got 'fast'",
    ),
    "isolation level that is unknown": (
        delete_with("write.delete.isolation-level", "none"),
        ValidationError,
        "table property write.delete.isolation-level: expected serializable or snapshot, got 'none'",
    ),
    "conflict with an append": (
        overwrite_after_append,
        ValidationException,
        (
            "a concurrent commit added data that this operation did not read (file <path>); reload the table and repeat the "
            "operation"
        ),
    ),
    "start that was rolled back": (
        delete_after_rollback,
        ValidationException,
        (
            "cannot determine the changes since snapshot <id>: it is not an ancestor of the branch's head <id> any more (rolled "
            "back or expired); reload the table and repeat the operation"
        ),
    ),
    "format version that is lower": (
        lambda table: table.transaction().upgrade_table_version(1),
        ValidationError,
        "cannot lower the format version: expected at least 2, got 1",
    ),
    "format version that is not written": (
        lambda table: table.transaction().upgrade_table_version(3),
        FeatureUnsupportedError,
        "cannot upgrade to format version 3: icefloe writes format versions 1 and 2",
    ),
    "reserved property": (
        lambda table: table.transaction().set_properties({"format-version": "2"}),
        ValidationError,
        "cannot set format-version: reserved table properties are derived from the metadata; leave them out",
    ),
    "tag that exists": (
        lambda table: table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "v1"),
        ValidationError,
        "cannot create 'v1': the table already has a branch or tag of this name",
    ),
    "branch that does not exist": (
        lambda table: table.manage_snapshots().remove_branch("dev"),
        ValidationError,
        "the table has no branch 'dev'",
    ),
    "branch that every table has": (
        lambda table: table.manage_snapshots().remove_branch("main"),
        ValidationError,
        "cannot remove branch 'main': every table has it",
    ),
    "snapshot that does not exist": (
        lambda table: table.manage_snapshots().set_current_snapshot(5),
        ValidationError,
        "the table has no snapshot 5; it may have expired",
    ),
    "snapshot and ref": (
        lambda table: table.manage_snapshots().set_current_snapshot(5, "v1"),
        ValidationError,
        "set_current_snapshot: expected either snapshot_id or ref_name, got both",
    ),
    "ref that does not exist": (
        lambda table: table.manage_snapshots().set_current_snapshot(ref_name="v2"),
        ValidationError,
        "the table has no branch or tag 'v2'; expected one of ['main', 'v1']",
    ),
    "rollback before the first snapshot": (
        lambda table: table.manage_snapshots().rollback_to_timestamp(0),
        ValidationError,
        "cannot roll back: no ancestor of the current snapshot is older than 0 ms",
    ),
    "required column": (
        lambda table: table.update_schema().add_column("n", LongType(), required=True),
        ValidationError,
        (
            "Incompatible change: cannot add required column: n; existing rows have no value for it, so pass "
            "allow_incompatible_changes=True to update_schema() if the table is empty"
        ),
    ),
    "default value": (
        lambda table: table.update_schema().add_column("n", LongType(), default_value=1),
        FeatureUnsupportedError,
        "cannot add column 'n' with a default value: default values need format version 3, which icefloe does not write",
    ),
    "type that is not wider": (
        lambda table: table.update_schema().update_column("id", StringType()),
        ValidationError,
        (
            "Cannot change column type: id: long -> string; "
            "expected int to long, float to double, or a decimal to a higher precision of the same scale"
        ),
    ),
    "transform of another type": (
        lambda table: table.update_spec().add_field("id", "day"),
        ValidationError,
        "transform day does not apply to column 'id' of type long; choose another transform",
    ),
    "partition field that exists": (
        lambda table: table.update_spec().add_identity("id").add_identity("id"),
        ValidationError,
        "cannot add a partition field with transform identity: field 'id' already partitions the column by identity",
    ),
    "partition field that does not exist": (
        lambda table: table.update_spec().remove_field("day"),
        ValidationError,
        "no partition field is named 'day'; the table is unpartitioned",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_error_of_a_change_says_what_to_do(name: str, table: Any) -> None:
    call, error, message = CASES[name]
    with pytest.raises(error) as caught:
        call(table)
    assert type(caught.value) is error
    assert without_names(str(caught.value), table) == message


def without_names(text: str, table: Any) -> str:
    """Return a message with the ids of snapshots and the paths of data files replaced."""
    for snapshot in table.snapshots():
        text = text.replace(str(snapshot.snapshot_id), "<id>")
    newest = table.catalog.load_table("db.t")
    for path in newest.inspect.files().column("file_path").to_pylist():
        text = text.replace(path, "<path>")
    return text
