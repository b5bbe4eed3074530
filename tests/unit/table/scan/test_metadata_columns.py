import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.scan.metadata_columns import partition_struct
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


def test_partition_column_of_a_table_with_a_thousand_columns(catalog):
    wide = [(f"c{number}", pa.int64()) for number in range(1003)]
    schema = pa.schema([("id", pa.int64()), ("kind", pa.string()), *wide])
    table = catalog.create_table("db.wide", schema, properties={"write.delete.mode": "merge-on-read"})
    with table.update_spec() as update:
        update.add_identity("kind").add_field("id", "bucket[1]", "shard")
    # Columns and partition fields have the ids 1000 and 1001.
    assert {field.field_id for field in table.spec().fields} <= table.schema().field_ids
    rows = {"id": [1, 2, 3], "kind": ["a", "c", "c"], **{name: [at] * 3 for at, (name, _) in enumerate(wide)}}
    table.append(pa.table(rows, schema=schema))
    table.delete("id = 2")
    names = ("id", "c997", "c998", "_partition")
    found = table.scan("kind = 'a'", selected_fields=names).to_arrow().to_pylist()
    assert found == [{"id": 1, "c997": 997, "c998": 998, "_partition": {"kind": "a", "shard": 0}}]
    deletes = table.inspect.position_deletes().to_pylist()
    assert [(one["partition"], one["pos"]) for one in deletes] == [({"kind": "c", "shard": 0}, 0)]


@pytest.mark.parametrize("second", [("region", "identity"), ("id", "bucket[8]")])
def test_partition_column_of_specs_with_different_fields_of_one_id_is_refused(catalog, second):
    schema = pa.schema([("id", pa.int64()), ("region", pa.string())])
    table = catalog.create_table("db.reused", schema, partition_spec=spec_of(1, "bucket[4]"))
    table.append(pa.table({"id": [1], "region": ["eu"]}, schema=schema))
    name, transform = second
    other = spec_of(schema.names.index(name) + 1, transform, spec_id=1)
    metadata = table.metadata.with_(partition_specs=(*table.metadata.partition_specs, other), default_spec_id=1)
    with pytest.raises(ValidationError, match=r"_partition: two specs have different partition fields of id 1000"):
        partition_struct(metadata)
    removed = spec_of(1, "void", spec_id=2)
    metadata = table.metadata.with_(partition_specs=(*table.metadata.partition_specs, removed), default_spec_id=2)
    assert [field.field_id for field in partition_struct(metadata).fields] == [1000]


def spec_of(source_id, transform, *, spec_id=0):
    return PartitionSpec(PartitionField(source_id, 1000, transform, "p"), spec_id=spec_id)
