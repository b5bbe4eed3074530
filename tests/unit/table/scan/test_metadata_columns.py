import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.schema import Schema
from icefloe.types import LongType, NestedField, StringType


def test_metadata_columns_give_file_and_position(new_table):
    table = new_table()
    found = table.scan("id = 5", selected_fields=("id", "_file", "_pos", "_spec_id")).to_arrow().to_pylist()
    paths = table.inspect.files().column("file_path").to_pylist()
    assert found[0].pop("_file") in paths
    assert found == [{"id": 5, "_pos": 1, "_spec_id": 0}]
    assert table.scan(selected_fields=("_pos",)).to_arrow().column_names == ["_pos"]


def test_deleted_column_returns_deleted_rows(new_table, mode):
    table = new_table(properties=mode)
    table.delete("id in (2, 6)")
    rows = {row["id"]: row["_deleted"] for row in table.scan(selected_fields=("id", "_deleted")).to_arrow().to_pylist()}
    if mode["write.delete.mode"] == "merge-on-read":
        assert rows == {number: number in (2, 6) for number in range(1, 7)}
    else:
        assert rows == dict.fromkeys((1, 3, 4, 5), False)
    assert table.scan(selected_fields=("id",)).count() == 4
    assert table.scan(selected_fields=("_deleted",)).count() == len(rows)


def test_partition_column_has_the_fields_of_all_specs(new_table, rows):
    table = new_table()
    with table.update_spec() as update:
        update.add_identity("kind")
    table.append(rows((7, "c", None)))
    with table.update_spec() as update:
        update.rename_field("kind", "sort").add_field("id", "bucket[4]", "shard")
    table.append(rows((8, None, None)))
    found = {r["id"]: r["_partition"] for r in table.scan(selected_fields=("id", "_partition")).to_arrow().to_pylist()}
    assert found[1] == {"sort": None, "shard": None}
    assert found[7] == {"sort": "c", "shard": None}
    assert found[8]["sort"] is None
    assert found[8]["shard"] in range(4)
    with table.update_spec() as update:
        update.remove_field("sort").remove_field("shard")
    with table.update_schema() as update:
        update.delete_column("kind")
    kind = table.scan(selected_fields=("_partition",)).to_arrow().schema.field("_partition").type
    assert kind == pa.struct([("shard", pa.int32())])


def test_partition_column_of_an_unpartitioned_table_is_empty(new_table):
    table = new_table()
    assert table.scan(selected_fields=("_partition",)).to_arrow().column("_partition").null_count == 6


def test_ambiguous_metadata_column_is_refused(catalog):
    schema = Schema(NestedField(1, "_pos", LongType()), NestedField(2, "x", StringType()))
    table = catalog.create_table("db.named", schema)
    table.append(pa.table({"_pos": [70], "x": ["a"]}))
    assert table.scan().to_arrow().to_pylist() == [{"_pos": 70, "x": "a"}]
    assert table.scan("_pos = 70").count() == 1
    with pytest.raises(ValidationError, match="rename the table's column"):
        table.scan(selected_fields=("_pos", "x")).to_arrow()
    assert table.scan(selected_fields=("x", "_file")).to_arrow().num_columns == 2
