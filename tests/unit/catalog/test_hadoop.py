"""The directory layout of hadoop catalogs."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hadoop.local_warehouse import LocalWarehouse
from icefloe.catalog.hadoop.versions import publish
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    FeatureUnsupportedError,
    ValidationError,
)
from icefloe.io import FileIO
from icefloe.table import StaticTable
from icefloe.table.update import SetPropertiesUpdate

SCHEMA = pa.schema([("id", pa.int64())])


def names(table):
    return sorted(path.name for path in (Path(table.location()) / "metadata").iterdir())


def test_versions_and_hint_are_written(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA)
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert names(table) == ["v1.metadata.json", "v2.metadata.json", "version-hint.text"]
    assert (Path(table.location()) / "metadata" / "version-hint.text").read_text() == "2"


@pytest.mark.parametrize("hint", ["1", "7", "rubbish", None], ids=["behind", "ahead", "rubbish", "missing"])
def test_newest_version_is_found_with_any_hint(hadoop_catalog, hint):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA)
    for number in ("2", "3"):
        with table.update_properties() as update:
            update.set_properties({"n": number})
    path = Path(table.location()) / "metadata" / "version-hint.text"
    path.unlink() if hint is None else path.write_text(hint)
    assert hadoop_catalog.load_table("db.t").properties["n"] == "3"


def test_stale_checksum_of_the_hint_is_removed(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA)
    (Path(table.location()) / "metadata" / ".version-hint.text.crc").write_bytes(b"crc")
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert ".version-hint.text.crc" not in names(table)


def test_two_writers_of_one_version_commit_once(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    first = hadoop_catalog.create_table("db.t", SCHEMA)
    updated = first.metadata.model_copy(update={"properties": {"a": "1"}})
    other = first.metadata.model_copy(update={"properties": {"a": "2", "write.metadata.compression-codec": "gzip"}})
    location = first.metadata_location.replace("v1", "v2")
    publish(FileIO(), updated, location)
    with pytest.raises(CommitFailedException, match="another commit was first"):
        publish(FileIO(), other, location)
    assert hadoop_catalog.load_table("db.t").properties["a"] == "1"


def test_publish_of_the_same_version_twice_is_a_success(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA)
    updated = table.metadata.model_copy(update={"properties": {"a": "1"}})
    location = table.metadata_location.replace("v1", "v2")
    publish(FileIO(), updated, location)
    publish(FileIO(), updated, location)
    assert hadoop_catalog.load_table("db.t").properties["a"] == "1"


def test_name_of_the_next_version_has_the_previous_compression(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA)
    with table.update_properties() as update:
        update.set_properties({"write.metadata.compression-codec": "gzip"})
    assert table.metadata_location.endswith("v2.metadata.json")
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert table.metadata_location.endswith("v3.gz.metadata.json")


def test_metadata_path_and_location_cannot_be_changed(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA)
    with pytest.raises(ValidationError, match=r"write\.metadata\.path"):
        hadoop_catalog.commit_table(table, (), (SetPropertiesUpdate(updates={"write.metadata.path": "/x"}),))
    with pytest.raises(ValidationError, match="cannot be moved"):
        table.transaction().update_location("/x").commit_transaction()


def test_rename_is_unsupported_and_says_what_to_do(hadoop_catalog):
    with pytest.raises(FeatureUnsupportedError, match="append the rows"):
        hadoop_catalog.rename_table("db.a", "db.b")


def test_name_that_leaves_the_warehouse_is_refused(hadoop_catalog):
    with pytest.raises(ValidationError, match="cannot be a directory name"):
        hadoop_catalog.load_table(("db", "../../etc"))


def test_static_table_reads_a_table_directory(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA)
    assert StaticTable.from_metadata(table.location()).metadata.table_uuid == table.metadata.table_uuid
    assert StaticTable.from_metadata(table.metadata_location).metadata_location == table.metadata_location


def test_remote_warehouse_is_refused_by_scheme():
    from icefloe.catalog.hadoop import HadoopCatalog

    with pytest.raises(FeatureUnsupportedError, match="https://"):
        HadoopCatalog("x", warehouse="https://host/warehouse")


def test_relative_file_address_is_refused_with_the_expected_form():
    with pytest.raises(ValidationError, match="a path without it"):
        load_catalog("x", type="hadoop", warehouse="file:lake")


FEW_VERSIONS = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}


def set_number(table, number):
    with table.update_properties() as update:
        update.set_properties({"n": str(number)})


def test_versions_older_than_the_log_are_deleted_when_deletion_is_turned_on(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA, properties={"write.metadata.previous-versions-max": "2"})
    for number in range(5):
        set_number(table, number)
    with table.update_properties() as update:
        update.set_properties({"write.metadata.delete-after-commit.enabled": "true"})
    assert names(table) == ["v5.metadata.json", "v6.metadata.json", "v7.metadata.json", "version-hint.text"]


def test_slow_writer_does_not_take_the_name_of_a_deleted_version(hadoop_catalog):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA, properties=FEW_VERSIONS)
    first = table.metadata_location
    slow = table.metadata.model_copy(update={"properties": {"n": "slow"}})
    with hadoop_catalog._warehouse.committing(("db", "t")) as publish_next:
        for number in range(4):
            set_number(table, number)
        with pytest.raises(CommitStateUnknownException, match=r"v5\.metadata\.json is newer"):
            publish_next(table.io, slow, (first, first.replace("v1", "v2")))
    assert names(table) == ["v4.metadata.json", "v5.metadata.json", "version-hint.text"]
    (Path(table.location()) / "metadata" / "version-hint.text").write_text("2")
    assert hadoop_catalog.load_table("db.t").properties["n"] == "3"


def test_commit_that_others_built_on_before_its_check_has_taken_effect(hadoop_catalog, monkeypatch):
    hadoop_catalog.create_namespace("db")
    table = hadoop_catalog.create_table("db.t", SCHEMA, properties=FEW_VERSIONS)
    other = hadoop_catalog.load_table("db.t")
    check = LocalWarehouse._check_not_dropped

    def commit_first(*arguments):
        monkeypatch.setattr(LocalWarehouse, "_check_not_dropped", check)
        set_number(other.refresh(), "other")
        return check(*arguments)

    monkeypatch.setattr(LocalWarehouse, "_check_not_dropped", commit_first)
    with table.update_properties() as update:
        update.set_properties({"own": "1"})
    loaded = hadoop_catalog.load_table("db.t")
    assert (loaded.properties["own"], loaded.properties["n"]) == ("1", "other")
    assert names(table) == ["v2.metadata.json", "v3.metadata.json", "version-hint.text"]
