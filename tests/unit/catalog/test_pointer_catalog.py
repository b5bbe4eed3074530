"""What catalogs that swap a pointer promise beyond the interface."""

import pyarrow as pa
import pytest
from icefloe.exceptions import NoSuchTableError, TableAlreadyExistsError, ValidationError

SCHEMA = pa.schema([("id", pa.int64())])


def test_rename_keeps_the_files(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    renamed = pointer_catalog.rename_table("db.a", "db.b")
    assert renamed.metadata_location == table.metadata_location
    with pytest.raises(NoSuchTableError):
        pointer_catalog.load_table("db.a")


def test_rename_to_a_taken_name_is_refused(pointer_catalog):
    pointer_catalog.create_namespace("db")
    pointer_catalog.create_table("db.a", SCHEMA)
    pointer_catalog.create_table("db.b", SCHEMA)
    with pytest.raises(TableAlreadyExistsError):
        pointer_catalog.rename_table("db.a", "db.b")


def test_registered_table_is_the_same_table(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    other = pointer_catalog.register_table("db.b", table.metadata_location)
    assert other.metadata.table_uuid == table.metadata.table_uuid
    with pytest.raises(TableAlreadyExistsError):
        pointer_catalog.register_table("db.b", table.metadata_location)
    pointer_catalog.register_table("db.b", table.metadata_location, overwrite=True)


def test_metadata_files_are_numbered(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    assert table.metadata_location.rsplit("/", 1)[-1].startswith("00000-")
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert table.metadata_location.rsplit("/", 1)[-1].startswith("00001-")


def test_namespace_properties_are_set_and_removed(pointer_catalog):
    pointer_catalog.create_namespace("db", {"owner": "me", "old": "1"})
    summary = pointer_catalog.update_namespace_properties("db", removals={"old", "none"}, updates={"new": "2"})
    assert (summary.removed, summary.updated, summary.missing) == (["old"], ["new"], ["none"])
    assert pointer_catalog.load_namespace_properties("db") == {"owner": "me", "new": "2"}
    with pytest.raises(ValidationError, match="both"):
        pointer_catalog.update_namespace_properties("db", removals={"a"}, updates={"a": "1"})


def test_dropped_metadata_files_are_deleted_when_asked(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table(
        "db.a",
        SCHEMA,
        properties={
            "write.metadata.delete-after-commit.enabled": "true",
            "write.metadata.previous-versions-max": "2",
        },
    )
    first = table.metadata_location
    for number in range(4):
        with table.update_properties() as update:
            update.set_properties({"n": str(number)})
    kept = [entry.metadata_file for entry in table.metadata.metadata_log]
    assert len(kept) == 2
    assert not table.io.core.exists(first)
    assert all(table.io.core.exists(path) for path in kept)
