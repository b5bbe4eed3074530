"""Python warnings of procedures: what a plan warns of, and files that could not be deleted."""

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.spark import call
from icefloe.table.maintenance.deletion import Deletion

from tests.unit.table.maintenance.every_file import put


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        made = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
        for number in range(3):
            made.append(pa.table({"id": [number]}))
        yield made


def test_option_without_effect_is_a_warning(table):
    with pytest.warns(UserWarning, match="shuffle_partitions_per_file has no effect"):
        call("rewrite_data_files", table=table, sort_order="id", options={"shuffle-partitions-per-file": "2"})


def test_expiry_of_young_snapshots_is_a_warning(table):
    with pytest.warns(UserWarning, match=r"db\.t: snapshots younger than 6 hours expire"):
        call("expire_snapshots", table=table, older_than="2100-01-01T00:00Z")


def test_expiry_by_the_policy_of_the_table_warns_of_nothing(table, recwarn):
    call("expire_snapshots", table=table)
    call("remove_orphan_files", table=table)
    call("rewrite_data_files", table=table)
    assert list(recwarn) == []


@pytest.mark.parametrize("verb", ["expire_snapshots", "remove_orphan_files"])
def test_files_that_could_not_be_deleted_are_a_warning(table, monkeypatch, verb):
    def refuse(_io, files, *_arguments, **_options):
        return Deletion(
            failures=tuple((location, "access denied") for location in files.column("location").to_pylist())
        )

    put(table, "data/orphan.parquet")
    table.overwrite(pa.table({"id": [9]}))
    package = {"expire_snapshots": "expiry", "remove_orphan_files": "orphans"}[verb]
    monkeypatch.setattr(f"icefloe.table.maintenance.{package}.{verb}.delete_files", refuse)
    arguments = {"older_than": "2100-01-01T00:00Z"} if verb == "expire_snapshots" else {}
    with pytest.warns(UserWarning, match=r"db\.t: \d+ files? could not be deleted, .*: access denied"):
        call(verb, table=table, **arguments)
