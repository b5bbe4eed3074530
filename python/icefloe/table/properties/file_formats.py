"""The table properties of each file format, for data files and for delete files."""

from __future__ import annotations

from typing import Any

from icefloe.table.properties.names import MIB, TableProperties
from icefloe.table.properties.reading import COLUMN, Flag, Fraction, OneOf, TableProperty, Text, WholeNumber

_P = TableProperties
_BYTES = WholeNumber(unit="bytes")
_CODECS = ("zstd", "gzip", "snappy", "lz4", "lz4_raw", "brotli", "uncompressed", "none")
_UNSET = " Unset, the property of data files applies."


def _parquet(prefix: str, of: str) -> tuple[TableProperty[Any], ...]:
    own = prefix == "write.parquet."
    unset = "" if own else _UNSET

    def default(value: Any) -> Any:
        return value if own else None

    return (
        TableProperty(
            f"{prefix}row-group-size-bytes",
            _BYTES,
            default(_P.PARQUET_ROW_GROUP_SIZE_BYTES_DEFAULT),
            f"Size on disk of a row group of {of}.{unset}",
        ),
        TableProperty(
            f"{prefix}row-group-limit",
            WholeNumber(unit="rows"),
            _P.PARQUET_ROW_GROUP_LIMIT_DEFAULT,
            f"Most rows of a row group of {of}." + (unset or " Unset, the size alone ends a row group."),
        ),
        TableProperty(
            f"{prefix}row-group-check-min-record-count",
            WholeNumber(unit="rows"),
            default(100),
            f"Least rows of {of} between two checks of the size of a row group.{unset}",
        ),
        TableProperty(
            f"{prefix}row-group-check-max-record-count",
            WholeNumber(unit="rows"),
            default(10_000),
            f"Most rows of {of} between two checks of the size of a row group.{unset}",
        ),
        TableProperty(
            f"{prefix}page-size-bytes",
            _BYTES,
            default(_P.PARQUET_PAGE_SIZE_BYTES_DEFAULT),
            f"Size of a page of {of}.{unset}",
        ),
        TableProperty(
            f"{prefix}page-row-limit",
            WholeNumber(unit="rows"),
            default(_P.PARQUET_PAGE_ROW_LIMIT_DEFAULT),
            f"Most rows of a page of {of}.{unset}",
        ),
        TableProperty(
            f"{prefix}dict-size-bytes",
            _BYTES,
            default(_P.PARQUET_DICT_SIZE_BYTES_DEFAULT),
            f"Largest dictionary of a column chunk of {of}; a larger one is abandoned.{unset}",
        ),
        TableProperty(
            f"{prefix}page-version", OneOf(("v1", "v2")), default("v1"), f"Version of data pages of {of}.{unset}"
        ),
        TableProperty(
            f"{prefix}compression-codec",
            OneOf(_CODECS),
            default(_P.PARQUET_COMPRESSION_DEFAULT),
            f"Compression of {of}.{unset}",
        ),
        TableProperty(
            f"{prefix}compression-level",
            WholeNumber(0, 22),
            None,
            f"Compression level of {of}: zstd 1 to 22, gzip 0 to 9, brotli 0 to 11; the codec's own default if unset.{unset}",
        ),
    )


PARQUET = _parquet("write.parquet.", "data files")
DELETE_PARQUET = _parquet("write.delete.parquet.", "delete files")
BLOOM_FILTERS = (
    TableProperty(
        f"{_P.PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX}.{COLUMN}",
        Flag(),
        False,
        "Write a bloom filter of the column.",
    ),
    TableProperty(
        f"write.parquet.bloom-filter-fpp.column.{COLUMN}",
        Fraction(),
        0.01,
        "Rate of false positives of the column's bloom filter.",
    ),
    TableProperty(
        f"write.parquet.bloom-filter-ndv.column.{COLUMN}",
        WholeNumber(unit="values"),
        None,
        "Most distinct values of the column in a row group for which its bloom filter is sized; the largest filter if unset.",
    ),
    TableProperty(
        _P.PARQUET_BLOOM_FILTER_MAX_BYTES,
        _BYTES,
        _P.PARQUET_BLOOM_FILTER_MAX_BYTES_DEFAULT,
        "Largest bloom filter of a column chunk, rounded down to a power of two; a filter has at least 32 bytes.",
    ),
    TableProperty(
        "write.parquet.bloom-filter-adaptive-enabled",
        Flag(),
        False,
        "Checked, without an effect: bloom filters are always reduced to the smallest size with their rate of false positives.",
    ),
)
PARQUET_COLUMNS = (
    TableProperty(
        f"write.parquet.dict-encoding-enabled.column.{COLUMN}",
        Flag(),
        None,
        "Whether the column is dictionary-encoded; unset, it is if a sample of its first rows promises a small dictionary.",
    ),
    TableProperty(
        f"write.parquet.stats-enabled.column.{COLUMN}",
        Flag(),
        True,
        "Write statistics of the column; without them manifests have no null counts and no bounds of it.",
    ),
    TableProperty(
        "write.parquet.row-group-size-track-uncompressed",
        Flag(),
        False,
        "Only `false` is supported, with which the size of a row group is its size on disk.",
    ),
)


def _avro(prefix: str, of: str) -> tuple[TableProperty[Any], ...]:
    own = prefix == "write.avro."
    unset = "" if own else _UNSET
    return (
        TableProperty(
            f"{prefix}compression-codec",
            OneOf(("gzip", "zstd", "snappy", "uncompressed")),
            _P.WRITE_AVRO_COMPRESSION_DEFAULT if own else None,
            f"Compression of the blocks of {of}.{unset}",
        ),
        TableProperty(
            f"{prefix}compression-level",
            WholeNumber(-7, 22),
            None,
            f"Compression level of {of}: gzip 0 to 9, zstd -7 to 22; the codec's own default if unset.{unset}",
        ),
    )


AVRO = _avro("write.avro.", "data files")
DELETE_AVRO = _avro("write.delete.avro.", "delete files")


def _orc(prefix: str, of: str) -> tuple[TableProperty[Any], ...]:
    own = prefix == "write.orc."
    unset = "" if own else _UNSET

    def default(value: Any) -> Any:
        return value if own else None

    return (
        TableProperty(
            f"{prefix}compression-codec",
            OneOf(("zlib", "snappy", "lz4", "zstd", "none")),
            default("zlib"),
            f"Compression of {of}.{unset}",
        ),
        TableProperty(
            f"{prefix}compression-strategy",
            OneOf(("speed", "compression")),
            default("speed"),
            f"Whether the codec is tuned for speed or for size, in {of}.{unset}",
        ),
        TableProperty(f"{prefix}stripe-size-bytes", _BYTES, default(64 * MIB), f"Size of a stripe of {of}.{unset}"),
        TableProperty(
            f"{prefix}block-size-bytes",
            _BYTES,
            default(256 * MIB),
            f"Checked, without an effect: stripes of {of} are not aligned with blocks of a file system.{unset}",
        ),
        TableProperty(
            f"{prefix}vectorized.batch-size",
            WholeNumber(unit="rows"),
            default(1024),
            f"Rows of {of} that are encoded at once.{unset}",
        ),
    )


ORC = _orc("write.orc.", "data files")
DELETE_ORC = _orc("write.delete.orc.", "delete files")
ORC_BLOOM_COLUMNS = TableProperty(
    "write.orc.bloom.filter.columns",
    Text("names of columns, separated by commas", str.isprintable),
    None,
    "Columns with bloom filters in data files.",
)
ORC_BLOOM_FILTERS = (
    ORC_BLOOM_COLUMNS,
    TableProperty("write.orc.bloom.filter.fpp", Fraction(), 0.05, "Rate of false positives of these bloom filters."),
)
