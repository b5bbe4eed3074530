"""Maintenance procedures: names, arguments and columns of the Java runtime. No session is needed."""

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.spark import call

from tests.spark.raised_texts import raised_texts, texts_without_a_case


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        made = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
        for number in range(6):
            made.append(pa.table({"id": [number]}))
        yield made


def test_data_files_are_rewritten(table):
    row = call("system.rewrite_data_files", table=table, options={"min-input-files": "2"}, where="id >= 0")
    assert row.pop("rewritten_bytes_count") > 0
    assert row == {
        "rewritten_data_files_count": 6,
        "added_data_files_count": 1,
        "failed_data_files_count": 0,
        "removed_delete_files_count": 0,
    }
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == list(range(6))
    assert call("rewrite_data_files", table=table)["rewritten_data_files_count"] == 0


def test_manifests_are_rewritten(table):
    assert call("system.rewrite_manifests", table=table, use_caching=False) == {
        "rewritten_manifests_count": 6,
        "added_manifests_count": 1,
    }


def test_position_deletes_are_rewritten(table):
    row = call("system.rewrite_position_delete_files", table=table, options={"rewrite-all": "true"})
    assert set(row.values()) == {0}


BAD_ARGUMENTS = [
    ("system.none", {}, "expected one of rewrite_data_files"),
    ("system.rewrite_data_files", {"none": 1}, "expected the arguments strategy, sort_order"),
    ("system.rewrite_data_files", {"strategy": "zip"}, "expected binpack or sort, got 'zip'"),
    ("system.rewrite_data_files", {"strategy": "binpack", "sort_order": "id"}, "expected strategy sort"),
    ("system.rewrite_data_files", {"options": {"none": "1"}}, "no option 'none'; expected delete-file-threshold"),
    ("system.rewrite_data_files", {"options": {"rewrite-all": "1"}}, "expected true or false, got '1'"),
    ("system.rewrite_data_files", {"options": {"min-input-files": "x"}}, "expected a number, got 'x'"),
    ("system.rewrite_data_files", {"options": {"min-input-files": "0"}}, "at least 1, got 0"),
]


@pytest.mark.parametrize(("procedure", "arguments", "message"), BAD_ARGUMENTS)
def test_bad_argument_is_refused(table, procedure, arguments, message):
    with pytest.raises(ValidationError, match=message):
        call(procedure, table=table, **arguments)


def test_every_error_of_the_room_has_a_case(table):
    errors = {}
    for procedure, arguments, message in BAD_ARGUMENTS:
        with pytest.raises(ValidationError) as caught:
            call(procedure, table=table, **arguments)
        errors[message] = caught.value
    assert texts_without_a_case(raised_texts(["maintenance"]), errors, ("nothing",)) == {}
