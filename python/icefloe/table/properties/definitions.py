"""The table properties that icefloe reads, in Python and in the core: type, unit, range and default of each.

Every read goes through a definition. `docs/table-properties.md` is generated from them.
"""

from __future__ import annotations

import re
from typing import Any

from icefloe.table.properties.file_formats import (
    AVRO,
    BLOOM_FILTERS,
    DELETE_AVRO,
    DELETE_ORC,
    DELETE_PARQUET,
    ORC,
    ORC_BLOOM_FILTERS,
    PARQUET,
    PARQUET_COLUMNS,
)
from icefloe.table.properties.maintenance import MAINTENANCE
from icefloe.table.properties.names import MIB, TableProperties
from icefloe.table.properties.reading import (
    COLUMN,
    Flag,
    OneOf,
    TableProperty,
    Text,
    WholeNumber,
    is_json_array,
)

_P = TableProperties
_BYTES = WholeNumber(unit="bytes")
_MILLISECONDS = WholeNumber(0, unit="milliseconds")
_LOCATION = Text("a location")
_FORMATS = OneOf(("parquet", "avro", "orc"))
_METRICS = re.compile(r"none|counts|full|truncate\(\s*0*[1-9][0-9]*\s*\)", re.ASCII)
METRICS_MODE = Text(
    "none, counts, truncate(N) or full", lambda text: _METRICS.fullmatch(text.strip().lower()) is not None
)

# ---- files

FORMAT_VERSION = TableProperty(
    _P.FORMAT_VERSION,
    OneOf(("1", "2")),
    str(_P.DEFAULT_FORMAT_VERSION),
    "Format version of a new table; it is not stored as a property.",
)
WRITE_FORMAT = TableProperty(_P.WRITE_FILE_FORMAT, _FORMATS, "parquet", "File format of new data files.")
DELETE_FORMAT = TableProperty(
    "write.delete.format.default", _FORMATS, None, "File format of new delete files; that of data files if unset."
)
DATA_PATH = TableProperty(
    _P.WRITE_DATA_PATH, _LOCATION, None, "Directory of data and delete files; `<table location>/data` if unset."
)
METADATA_PATH = TableProperty(
    _P.WRITE_METADATA_PATH, _LOCATION, None, "Directory of metadata files; `<table location>/metadata` if unset."
)
OBJECT_STORAGE = TableProperty(
    _P.OBJECT_STORE_ENABLED, Flag(), _P.OBJECT_STORE_ENABLED_DEFAULT, "Spread data files over hash directories."
)
PARTITIONED_PATHS = TableProperty(
    _P.WRITE_OBJECT_STORE_PARTITIONED_PATHS,
    Flag(),
    _P.WRITE_OBJECT_STORE_PARTITIONED_PATHS_DEFAULT,
    "Put partition directories below the hash directories.",
)
LOCATION_PROVIDER = TableProperty(
    _P.WRITE_PY_LOCATION_PROVIDER_IMPL,
    Text("a dotted name of a LocationProvider class"),
    None,
    "Class of `Table.location_provider()`. Files are written with `SimpleLocationProvider` and `ObjectStoreLocationProvider` alone, of icefloe or PyIceberg.",
)
TARGET_FILE_SIZE = TableProperty(
    _P.WRITE_TARGET_FILE_SIZE_BYTES,
    _BYTES,
    _P.WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT,
    "Size on disk at which a data file is closed.",
)
DELETE_TARGET_FILE_SIZE = TableProperty(
    "write.delete.target-file-size-bytes", _BYTES, 64 * MIB, "Size on disk at which a delete file is closed."
)
WRITE_MEMORY = TableProperty(
    "write.icefloe.memory-bytes",
    _BYTES,
    512 * MIB,
    "Batches, encoded columns and upload buffers that one write task holds. Of each open Parquet file, encoded columns beyond 8 MiB wait in a temporary file.",
)


METRICS = (
    TableProperty(
        _P.DEFAULT_WRITE_METRICS_MODE,
        METRICS_MODE,
        _P.DEFAULT_WRITE_METRICS_MODE_DEFAULT,
        "Metrics of columns in manifests: counts, and bounds cut to N characters or bytes.",
    ),
    TableProperty(
        f"{_P.METRICS_MODE_COLUMN_CONF_PREFIX}.{COLUMN}",
        METRICS_MODE,
        None,
        "Metrics of one column; the default mode applies if unset.",
    ),
    TableProperty(
        "write.metadata.metrics.max-inferred-column-defaults",
        WholeNumber(0, unit="columns"),
        100,
        "Number of columns with metrics, where no default mode is set.",
    ),
)

# ---- metadata and commits

METADATA_COMPRESSION = TableProperty(
    _P.METADATA_COMPRESSION, OneOf(("none", "gzip")), _P.METADATA_COMPRESSION_DEFAULT, "Compression of metadata files."
)
PREVIOUS_VERSIONS = TableProperty(
    _P.METADATA_PREVIOUS_VERSIONS_MAX,
    WholeNumber(0, unit="files"),
    _P.METADATA_PREVIOUS_VERSIONS_MAX_DEFAULT,
    "Earlier metadata files that the metadata log names, at least 1.",
)
DELETE_AFTER_COMMIT = TableProperty(
    _P.METADATA_DELETE_AFTER_COMMIT_ENABLED,
    Flag(),
    _P.METADATA_DELETE_AFTER_COMMIT_ENABLED_DEFAULT,
    "Delete metadata files that leave the metadata log.",
)
MANIFEST_COMPRESSION = TableProperty(
    _P.MANIFEST_COMPRESSION,
    OneOf(("gzip", "zstd", "snappy", "uncompressed")),
    _P.MANIFEST_COMPRESSION_DEFAULT,
    "Compression of manifests.",
)
MANIFEST_COMPRESSION_LEVEL = TableProperty(
    "write.manifest.compression-level",
    WholeNumber(-7, 22),
    None,
    "Compression level of manifests; the codec's own default if unset.",
)
MANIFEST_TARGET_SIZE = TableProperty(
    _P.MANIFEST_TARGET_SIZE_BYTES, _BYTES, _P.MANIFEST_TARGET_SIZE_BYTES_DEFAULT, "Size of a merged manifest."
)
MANIFEST_MIN_MERGE_COUNT = TableProperty(
    _P.MANIFEST_MIN_MERGE_COUNT,
    WholeNumber(0, unit="manifests"),
    _P.MANIFEST_MIN_MERGE_COUNT_DEFAULT,
    "Number of small manifests from which an append merges them.",
)
MANIFEST_MERGE = TableProperty(
    _P.MANIFEST_MERGE_ENABLED, Flag(), _P.MANIFEST_MERGE_ENABLED_DEFAULT, "Merge small manifests when appending."
)
PARTITION_SUMMARY_LIMIT = TableProperty(
    _P.WRITE_PARTITION_SUMMARY_LIMIT,
    WholeNumber(0, unit="partitions"),
    _P.WRITE_PARTITION_SUMMARY_LIMIT_DEFAULT,
    "Most changed partitions that a snapshot's summary lists one by one.",
)
COMMIT_RETRIES = TableProperty(
    _P.COMMIT_NUM_RETRIES, WholeNumber(0), _P.COMMIT_NUM_RETRIES_DEFAULT, "Retries of a commit after a conflict."
)
COMMIT_MIN_WAIT = TableProperty(
    _P.COMMIT_MIN_RETRY_WAIT_MS,
    _MILLISECONDS,
    _P.COMMIT_MIN_RETRY_WAIT_MS_DEFAULT,
    "Wait before the first retry; it doubles with each retry.",
)
COMMIT_MAX_WAIT = TableProperty(
    _P.COMMIT_MAX_RETRY_WAIT_MS, _MILLISECONDS, _P.COMMIT_MAX_RETRY_WAIT_MS_DEFAULT, "Longest wait between retries."
)
COMMIT_TIMEOUT = TableProperty(
    _P.COMMIT_TOTAL_RETRY_TIME_MS,
    _MILLISECONDS,
    _P.COMMIT_TOTAL_RETRY_TIME_MS_DEFAULT,
    "Time after the first attempt in which retries start.",
)
STATUS_RETRIES = TableProperty(
    _P.COMMIT_NUM_STATUS_CHECKS,
    WholeNumber(0),
    _P.COMMIT_NUM_STATUS_CHECKS_DEFAULT,
    "Retries of the check whether a commit with a lost reply took effect.",
)
STATUS_MIN_WAIT = TableProperty(
    _P.COMMIT_STATUS_CHECK_MIN_WAIT_MS,
    _MILLISECONDS,
    _P.COMMIT_STATUS_CHECK_MIN_WAIT_MS_DEFAULT,
    "Wait before the first retry of that check; it doubles with each retry.",
)
STATUS_MAX_WAIT = TableProperty(
    _P.COMMIT_STATUS_CHECK_MAX_WAIT_MS,
    _MILLISECONDS,
    _P.COMMIT_STATUS_CHECK_MAX_WAIT_MS_DEFAULT,
    "Longest wait between retries of that check.",
)
STATUS_TIMEOUT = TableProperty(
    "commit.status-check.total-timeout-ms",
    _MILLISECONDS,
    1_800_000,
    "Time after the first check in which its retries start.",
)
GC_ENABLED = TableProperty(
    _P.GC_ENABLED, Flag(), _P.GC_ENABLED_DEFAULT, "Whether maintenance and `purge_table` may delete the table's files."
)
WAP_ENABLED = TableProperty(
    "write.wap.enabled",
    Flag(),
    False,
    "Stage changes of Spark sessions that set `spark.wap.id` or `spark.wap.branch`, for audit and publication.",
)
AUTO_SCHEMA_EVOLUTION = TableProperty(
    "write.spark.auto-schema-evolution.enabled",
    Flag(),
    True,
    "Whether `MERGE WITH SCHEMA EVOLUTION` in Spark SQL adds the columns of its source; without, it runs as `MERGE`.",
)
NAME_MAPPING = TableProperty(
    _P.DEFAULT_NAME_MAPPING,
    Text("the JSON of a name mapping", is_json_array),
    None,
    "Field ids of columns in files that have no field ids.",
)

# ---- row-level changes

ROW_LEVEL_MODES = {
    operation: TableProperty(
        name,
        OneOf(("copy-on-write", "merge-on-read")),
        _P.ROW_LEVEL_MODE_DEFAULT,
        f"How {operation}s change rows: rewrite data files, or add delete files.",
    )
    for operation, name in (("delete", _P.DELETE_MODE), ("update", _P.UPDATE_MODE), ("merge", _P.MERGE_MODE))
}
ISOLATION_LEVELS = {
    operation: TableProperty(
        name,
        OneOf(("serializable", "snapshot")),
        _P.ISOLATION_LEVEL_DEFAULT,
        f"Whether rows that a concurrent commit adds conflict with {operation}s (`serializable`) or not (`snapshot`).",
    )
    for operation, name in (
        ("delete", _P.DELETE_ISOLATION_LEVEL),
        ("update", _P.UPDATE_ISOLATION_LEVEL),
        ("merge", _P.MERGE_ISOLATION_LEVEL),
    )
}
DELETE_GRANULARITY = TableProperty(
    _P.DELETE_GRANULARITY,
    OneOf(("file", "partition")),
    _P.DELETE_GRANULARITY_DEFAULT,
    "One position delete file for each data file, or for each partition.",
)
DISTRIBUTION_MODE = TableProperty(
    _P.WRITE_DISTRIBUTION_MODE,
    OneOf(("none", "hash", "range")),
    None,
    "Shuffle of rows before Spark writes them; unset, `hash` for partitioned tables, `range` for sorted ones, else `none`.",
)
ROW_LEVEL_DISTRIBUTION_MODES = {
    operation: TableProperty(
        f"write.{operation}.distribution-mode",
        OneOf(("none", "hash", "range")),
        None,
        f"Shuffle of the rows that {operation}s write from Spark{otherwise}.",
    )
    for operation, otherwise in (
        ("delete", "; `hash` if unset, by data file in an unpartitioned table"),
        ("update", "; `hash` if unset, by data file in an unpartitioned table"),
        ("merge", "; if unset, `hash` for partitioned tables, `write.distribution-mode` for others"),
    )
}
FOLD_MIN_FILES = TableProperty(
    "write.icefloe.fold-min-files",
    WholeNumber(0, unit="files"),
    64,
    "Files of a partition that batches of `apply_changes` leave until they are folded; 0 for never.",
)
FOLD_MAX_FILE_BYTES = TableProperty(
    "write.icefloe.fold-max-file-bytes",
    _BYTES,
    8 * MIB,
    "Size on disk from which `apply_changes` leaves files to maintenance instead of folding them.",
)
FANOUT = TableProperty(
    "write.spark.fanout.enabled",
    Flag(),
    False,
    "Keep a file open for each partition of a Spark task instead of sorting its rows by partition, in unsorted tables.",
)

# ---- reading

SPLIT_SIZE = TableProperty(
    _P.READ_SPLIT_TARGET_SIZE,
    _BYTES,
    _P.READ_SPLIT_TARGET_SIZE_DEFAULT,
    "Size of a task, and weight of a group of tasks.",
)
SPLIT_LOOKBACK = TableProperty(
    _P.READ_SPLIT_LOOKBACK,
    WholeNumber(unit="groups"),
    _P.READ_SPLIT_LOOKBACK_DEFAULT,
    "Groups that tasks are packed into at the same time.",
)
SPLIT_OPEN_FILE_COST = TableProperty(
    _P.READ_SPLIT_OPEN_FILE_COST,
    _BYTES,
    _P.READ_SPLIT_OPEN_FILE_COST_DEFAULT,
    "Least weight of a task, for opening its files.",
)

# ---- all

COLUMN_PREFIXES = tuple(
    definition.name.removesuffix(COLUMN)
    for definition in (*BLOOM_FILTERS, *PARQUET_COLUMNS, *METRICS)
    if definition.name.endswith(COLUMN)
)
"""Beginnings of the names of properties that end with a column's name."""
GROUPS: dict[str, tuple[TableProperty[Any], ...]] = {
    "Location and size of files": (
        FORMAT_VERSION,
        DATA_PATH,
        OBJECT_STORAGE,
        PARTITIONED_PATHS,
        METADATA_PATH,
        LOCATION_PROVIDER,
        WRITE_FORMAT,
        TARGET_FILE_SIZE,
        DELETE_FORMAT,
        DELETE_TARGET_FILE_SIZE,
        WRITE_MEMORY,
    ),
    "Parquet files": (*PARQUET, *BLOOM_FILTERS, *PARQUET_COLUMNS, *DELETE_PARQUET),
    "Avro files": (*AVRO, *DELETE_AVRO),
    "ORC files": (*ORC, *ORC_BLOOM_FILTERS, *DELETE_ORC),
    "Column metrics": METRICS,
    "Row-level changes": (
        *ROW_LEVEL_MODES.values(),
        *ISOLATION_LEVELS.values(),
        DELETE_GRANULARITY,
        DISTRIBUTION_MODE,
        *ROW_LEVEL_DISTRIBUTION_MODES.values(),
        FANOUT,
        FOLD_MIN_FILES,
        FOLD_MAX_FILE_BYTES,
        WAP_ENABLED,
        AUTO_SCHEMA_EVOLUTION,
    ),
    "Metadata and manifests": (
        METADATA_COMPRESSION,
        PREVIOUS_VERSIONS,
        DELETE_AFTER_COMMIT,
        MANIFEST_COMPRESSION,
        MANIFEST_COMPRESSION_LEVEL,
        MANIFEST_TARGET_SIZE,
        MANIFEST_MIN_MERGE_COUNT,
        MANIFEST_MERGE,
        PARTITION_SUMMARY_LIMIT,
        GC_ENABLED,
    ),
    "Commits": (
        COMMIT_RETRIES,
        COMMIT_MIN_WAIT,
        COMMIT_MAX_WAIT,
        COMMIT_TIMEOUT,
        STATUS_RETRIES,
        STATUS_MIN_WAIT,
        STATUS_MAX_WAIT,
        STATUS_TIMEOUT,
    ),
    "Maintenance": MAINTENANCE,
    "Reading": (SPLIT_SIZE, SPLIT_LOOKBACK, SPLIT_OPEN_FILE_COST, NAME_MAPPING),
}
"""All definitions, in the order of the documentation."""
