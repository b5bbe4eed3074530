"""The verbs `snapshot-directory` and `migrate`."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.mark.parametrize("verb", ["snapshot-directory", "migrate"])
def test_directory_becomes_a_table(icefloe, table, tmp_path, verb):
    folder = tmp_path / "files" / "p=1"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"id": [7]}), folder / "a.parquet")
    arguments = (verb, str(tmp_path / "files"), "db.imported", "--property", "owner=me")
    plan = icefloe(*arguments, "--dry-run", "-o", "json").json("change")
    assert (plan["plan"]["partition_fields"], plan["result"]) == (["p"], None)
    done = icefloe(*arguments, "--yes", "-o", "json").json("change")
    assert done["result"]["imported_files_count"] == 1
    made = table.catalog.load_table("db.imported")
    assert made.scan().to_arrow().to_pylist() == [{"id": 7, "p": 1}]
    assert made.properties["owner"] == "me"
    assert icefloe(*arguments, "--yes").code == 1


def test_property_without_a_value_is_a_usage_error(icefloe, table, tmp_path):
    assert icefloe("migrate", str(tmp_path), "db.m", "--property", "owner", "--yes").code == 2
