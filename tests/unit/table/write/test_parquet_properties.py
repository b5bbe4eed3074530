"""Table properties of Parquet files, each read back from the footer or the pages of the written file."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import FeatureUnsupportedError

ROWS = 60_000
NUMBERS = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "few": [f"value {n % 50}" for n in range(ROWS)],
        "text": [f"text {n * 7}" for n in range(ROWS)],
    }
)


@pytest.fixture
def create(catalog):
    """Return a function that creates a table with the rows, and returns the table and its files."""
    count = itertools.count()

    def make(**properties: str) -> tuple[Any, list[dict[str, Any]]]:
        table = catalog.create_table(f"db.t{next(count)}", NUMBERS.schema, properties=properties)
        table.append(NUMBERS)
        assert table.scan().to_arrow().sort_by("id").equals(NUMBERS)
        return table, table.inspect.files().to_pylist()

    return make


def footer(file: dict[str, Any]) -> pq.FileMetaData:
    return pq.read_metadata(file["file_path"])


def column(file: dict[str, Any], name: str) -> pq.ColumnChunkMetaData:
    return footer(file).row_group(0).column(NUMBERS.column_names.index(name))


@pytest.mark.parametrize(
    ("codec", "stored"),
    [("zstd", "ZSTD"), ("gzip", "GZIP"), ("snappy", "SNAPPY"), ("brotli", "BROTLI"), ("uncompressed", "UNCOMPRESSED")],
)
def test_codec_is_that_of_the_property(create, codec, stored):
    _, (file,) = create(**{"write.parquet.compression-codec": codec})
    assert {column(file, name).compression for name in NUMBERS.column_names} == {stored}


@pytest.mark.parametrize(("codec", "highest"), [("zstd", "19"), ("gzip", "9"), ("brotli", "9")])
def test_higher_level_makes_smaller_files(create, codec, highest):
    sizes = []
    for level in ("1", highest):
        _, (file,) = create(**{"write.parquet.compression-codec": codec, "write.parquet.compression-level": level})
        sizes.append(file["file_size_in_bytes"])
    assert sizes[1] < sizes[0]


def test_row_groups_follow_their_size(create):
    _, (file,) = create(**{"write.parquet.row-group-size-bytes": "100000"})
    groups = [footer(file).row_group(n) for n in range(footer(file).num_row_groups)]
    assert len(groups) > 3
    starts = [group.column(0).dictionary_page_offset or group.column(0).data_page_offset for group in groups]
    assert file["split_offsets"] == starts
    sizes = [sum(group.column(n).total_compressed_size for n in range(group.num_columns)) for group in groups]
    assert all(size <= 200_000 for size in sizes)


@pytest.mark.parametrize(
    "properties", [{"write.parquet.page-size-bytes": "4096"}, {"write.parquet.page-row-limit": "500"}]
)
def test_small_pages_make_larger_page_indexes(create, properties):
    _, (plain,) = create()
    _, (paged,) = create(**properties)

    def overhead(file: dict[str, Any]) -> int:
        metadata = footer(file)
        stored = sum(metadata.row_group(0).column(n).total_compressed_size for n in range(metadata.num_columns))
        return int(file["file_size_in_bytes"]) - stored

    assert overhead(paged) > 2 * overhead(plain)


def test_dictionary_larger_than_its_limit_is_abandoned(create):
    _, (large,) = create(**{"write.parquet.dict-size-bytes": "100000"})
    assert column(large, "few").has_dictionary_page
    _, (small,) = create(**{"write.parquet.dict-size-bytes": "64"})
    assert "PLAIN" in column(small, "few").encodings
    assert column(small, "few").total_uncompressed_size > 2 * column(large, "few").total_uncompressed_size


@pytest.mark.parametrize(("version", "encoding"), [("v1", "RLE"), ("v2", "DELTA_BINARY_PACKED")])
def test_page_version_selects_the_encodings(create, version, encoding):
    _, (file,) = create(**{"write.parquet.page-version": version})
    encodings = {each for name in NUMBERS.column_names for each in column(file, name).encodings}
    assert encoding in encodings
    assert ("DELTA_BINARY_PACKED" in encodings) == (version == "v2")


def test_bloom_filters_are_of_the_enabled_columns_and_grow_with_precision(create):
    enabled = {"write.parquet.bloom-filter-enabled.column.text": "true"}
    _, (without,) = create(**{"write.parquet.bloom-filter-enabled.column.text": "false"})
    _, (rough,) = create(**enabled, **{"write.parquet.bloom-filter-fpp.column.text": "0.2"})
    _, (fine,) = create(**enabled, **{"write.parquet.bloom-filter-fpp.column.text": "0.0001"})
    sizes = [file["file_size_in_bytes"] for file in (without, rough, fine)]
    assert sizes[0] + 10_000 < sizes[1]
    assert sizes[1] + 10_000 < sizes[2]


def test_files_roll_at_the_target_size(create):
    target = 60_000
    sizes = {"write.target-file-size-bytes": str(target), "write.parquet.row-group-size-bytes": "50000"}
    _, files = create(**sizes)
    found = sorted(file["file_size_in_bytes"] for file in files)
    # Sizes of open row groups are estimates, which weigh less in larger files.
    assert len(found) > 2
    assert all(0.7 * target <= size <= 1.2 * target for size in found[1:])


def test_metrics_modes_are_of_their_columns(create):
    modes = {
        "write.metadata.metrics.default": "none",
        "write.metadata.metrics.column.id": "full",
        "write.metadata.metrics.column.few": "counts",
        "write.metadata.metrics.column.text": "truncate(3)",
    }
    _, (file,) = create(**modes)
    assert {key for key, _ in file["value_counts"]} == {1, 2, 3}
    assert {key for key, _ in file["lower_bounds"]} == {1, 3}
    assert dict(file["lower_bounds"])[3] == b"tex"
    assert dict(file["upper_bounds"])[3] == b"tey"


def test_metrics_of_inferred_columns_end_at_the_limit(catalog):
    names = [f"c{n}" for n in range(5)]
    properties = {"write.metadata.metrics.max-inferred-column-defaults": "2"}
    table = catalog.create_table("db.t", pa.schema([(name, pa.int64()) for name in names]), properties=properties)
    table.append(pa.table({name: [1] for name in names}))
    (file,) = table.inspect.files().to_pylist()
    assert {key for key, _ in file["value_counts"]} == {1, 2}


def test_object_storage_layout_hashes_partition_and_name(create):
    _, (file,) = create(**{"write.object-storage.enabled": "true"})
    *_, first, second, third, fourth, name = file["file_path"].split("/")
    assert [len(part) for part in (first, second, third, fourth)] == [4, 4, 4, 8]
    assert set(first + second + third + fourth) <= {"0", "1"}
    assert name.endswith(".parquet")


def test_data_path_holds_the_files(create, tmp_path):
    _, (file,) = create(**{"write.data.path": str(tmp_path / "elsewhere")})
    assert file["file_path"].startswith(str(tmp_path / "elsewhere") + "/")
    assert footer(file).num_rows == ROWS


def test_row_groups_have_at_least_the_rows_between_two_checks(create):
    _, (file,) = create(
        **{"write.parquet.row-group-size-bytes": "1", "write.parquet.row-group-check-min-record-count": "7000"}
    )
    rows = [footer(file).row_group(n).num_rows for n in range(footer(file).num_row_groups)]
    assert rows == [7000] * (ROWS // 7000) + [ROWS % 7000]


@pytest.mark.parametrize(("most", "rows"), [("5000", 5000), ("20000", 20_000)])
def test_row_groups_are_checked_after_the_most_rows(create, most, rows):
    # The estimate before the first check is that of rows in memory, which take more bytes.
    _, (file,) = create(
        **{
            "write.parquet.row-group-size-bytes": "1000",
            "write.parquet.row-group-check-min-record-count": "1000000",
            "write.parquet.row-group-check-max-record-count": most,
        }
    )
    assert footer(file).num_row_groups == 1
    _, (file,) = create(
        **{
            "write.parquet.row-group-size-bytes": "1",
            "write.parquet.row-group-check-min-record-count": str(rows),
            "write.parquet.row-group-check-max-record-count": most,
        }
    )
    assert footer(file).row_group(0).num_rows == rows


def test_row_groups_of_delete_files_have_properties_of_their_own(catalog):
    properties = {
        "write.delete.mode": "merge-on-read",
        "write.delete.parquet.row-group-size-bytes": "1",
        "write.delete.parquet.row-group-check-min-record-count": "500",
    }
    table = catalog.create_table("db.t", NUMBERS.schema, properties=properties)
    table.append(NUMBERS)
    table.delete("id < 1200")
    (deletes,) = table.inspect.delete_files().to_pylist()
    assert [footer(deletes).row_group(n).num_rows for n in range(3)] == [500, 500, 200]
    assert table.scan().to_arrow().num_rows == ROWS - 1200


@pytest.mark.parametrize(
    ("properties", "least", "most"),
    [
        ({}, 64 * 1024, 128 * 1024),
        ({"write.parquet.bloom-filter-max-bytes": "20000"}, 16 * 1024, 20_000),
        ({"write.parquet.bloom-filter-ndv.column.text": "1000"}, 1024, 4096),
        (
            {
                "write.parquet.bloom-filter-ndv.column.text": "1000000000",
                "write.parquet.bloom-filter-max-bytes": "4096",
            },
            4096,
            4200,
        ),
        ({"write.parquet.bloom-filter-adaptive-enabled": "true"}, 64 * 1024, 128 * 1024),
    ],
)
def test_bloom_filter_has_the_size_of_its_properties(create, properties, least, most):
    enabled = {"write.parquet.bloom-filter-enabled.column.text": "true"}
    _, (without,) = create()
    table, (file,) = create(**enabled, **properties)
    size = file["file_size_in_bytes"] - without["file_size_in_bytes"]
    assert least <= size <= most + 500
    assert table.scan("text = 'text 49'").to_arrow().num_rows == 1


def test_dictionary_follows_the_property_of_the_column(create):
    _, (file,) = create(
        **{
            "write.parquet.dict-encoding-enabled.column.few": "false",
            "write.parquet.dict-encoding-enabled.column.text": "true",
        }
    )
    assert not column(file, "few").has_dictionary_page
    assert column(file, "text").has_dictionary_page
    _, (file,) = create()
    assert column(file, "few").has_dictionary_page
    assert not column(file, "text").has_dictionary_page


def test_column_without_statistics_has_no_bounds(create):
    table, (file,) = create(**{"write.parquet.stats-enabled.column.id": "false"})
    assert not column(file, "id").is_stats_set
    assert column(file, "few").is_stats_set
    assert {key for key, _ in file["lower_bounds"]} == {2, 3}
    assert {key for key, _ in file["null_value_counts"]} == {2, 3}
    assert {key for key, _ in file["value_counts"]} == {1, 2, 3}
    assert table.scan("id = 77").to_arrow().num_rows == 1


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"write.parquet.row-group-size-track-uncompressed": "true"}, "row-group-size-track-uncompressed=true"),
        ({"encryption.key-id": "key"}, "encryption.key-id"),
        ({"write.location-provider.impl": "com.example.Locations"}, "com.example.Locations"),
    ],
)
def test_writing_refuses_properties_that_it_cannot_honour(catalog, properties, message):
    table = catalog.create_table("db.t", NUMBERS.schema, properties=properties)
    with pytest.raises(FeatureUnsupportedError, match=message):
        table.append(NUMBERS)
    assert catalog.load_table("db.t").current_snapshot() is None
    with table.update_properties() as update:
        update.remove_properties(*properties)
    table.append(NUMBERS)


def test_column_properties_follow_a_rename(catalog):
    properties = {"write.parquet.dict-encoding-enabled.column.few": "false"}
    table = catalog.create_table("db.t", NUMBERS.schema, properties=properties)
    with table.update_schema() as update:
        update.rename_column("few", "seldom")
    assert table.properties["write.parquet.dict-encoding-enabled.column.seldom"] == "false"
    assert "write.parquet.dict-encoding-enabled.column.few" not in table.properties


def chunks_with(catalog, prefix: str, flag: str) -> list[Any]:
    """The column chunks of a file in which a property is set for every column.

    Names are made legal in files, and elements lie below a group of their own.
    """
    text = pa.string()
    kinds = {"a b": text, "d.e": text, "l": pa.list_(text), "m": pa.map_(text, text), "s": pa.struct([("x y", text)])}
    names = ["a b", "d.e", "l.element", "m.key", "m.value", "s.x y"]
    value = {"a b": "v", "d.e": "v", "l": ["v"], "m": [("k", "v")], "s": {"x y": "v"}}
    rows = pa.Table.from_pylist([value] * 100, schema=pa.schema(kinds))
    properties = {f"write.parquet.{prefix}.column.{name}": flag for name in names}
    table = catalog.create_table("db.names", rows.schema, properties=properties)
    table.append(rows)
    (file,) = table.inspect.files().to_pylist()
    group = pq.ParquetFile(file["file_path"]).metadata.row_group(0)
    assert group.num_columns == len(names)
    return [group.column(place) for place in range(group.num_columns)]


@pytest.mark.recent_pyarrow
def test_bloom_filters_are_of_columns_that_have_other_names_in_files(catalog):
    chunks = chunks_with(catalog, "bloom-filter-enabled", "true")
    assert all(chunk.bloom_filter_offset is not None for chunk in chunks)


def test_statistics_are_of_columns_that_have_other_names_in_files(catalog):
    assert all(chunk.statistics is None for chunk in chunks_with(catalog, "stats-enabled", "false"))


def test_dictionaries_are_of_columns_that_have_other_names_in_files(catalog):
    assert not any(chunk.has_dictionary_page for chunk in chunks_with(catalog, "dict-encoding-enabled", "false"))


@pytest.mark.parametrize("least", ["100", "1000000"])
def test_row_groups_have_at_most_the_rows_of_their_limit(create, least):
    properties = {
        "write.parquet.row-group-limit": "25001",
        "write.parquet.row-group-check-min-record-count": least,
        "write.delete.mode": "merge-on-read",
    }
    table, (file,) = create(**properties)
    groups = footer(file).num_row_groups
    assert [footer(file).row_group(n).num_rows for n in range(groups)] == [25_001, 25_001, ROWS - 50_002]
    table.delete("id < 50003")
    (deletes,) = table.inspect.delete_files().to_pylist()
    assert [footer(deletes).row_group(n).num_rows for n in range(3)] == [25_001, 25_001, 1]
