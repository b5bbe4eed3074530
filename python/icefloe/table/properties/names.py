"""Names and defaults of table properties, as PyIceberg spells them. Spec: Table Properties."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from icefloe.exceptions import ValidationError

MIB = 1024 * 1024


class TableProperties:
    """Names of table properties; ``X_DEFAULT`` is the value of an unset ``X``."""

    FORMAT_VERSION = "format-version"
    DEFAULT_FORMAT_VERSION = 2
    DEFAULT_NAME_MAPPING = "schema.name-mapping.default"

    PARQUET_COMPRESSION = "write.parquet.compression-codec"
    # Stored in new tables, because the Java reference reads an unset property as gzip.
    PARQUET_COMPRESSION_DEFAULT = "zstd"
    PARQUET_ROW_GROUP_SIZE_BYTES = "write.parquet.row-group-size-bytes"
    PARQUET_ROW_GROUP_SIZE_BYTES_DEFAULT = 128 * MIB
    PARQUET_ROW_GROUP_LIMIT = "write.parquet.row-group-limit"
    PARQUET_ROW_GROUP_LIMIT_DEFAULT = None
    PARQUET_PAGE_SIZE_BYTES = "write.parquet.page-size-bytes"
    PARQUET_PAGE_SIZE_BYTES_DEFAULT = MIB
    PARQUET_PAGE_ROW_LIMIT = "write.parquet.page-row-limit"
    PARQUET_PAGE_ROW_LIMIT_DEFAULT = 20000
    PARQUET_DICT_SIZE_BYTES = "write.parquet.dict-size-bytes"
    PARQUET_DICT_SIZE_BYTES_DEFAULT = 2 * MIB
    PARQUET_COMPRESSION_LEVEL = "write.parquet.compression-level"
    PARQUET_COMPRESSION_LEVEL_DEFAULT = None
    PARQUET_BLOOM_FILTER_MAX_BYTES = "write.parquet.bloom-filter-max-bytes"
    PARQUET_BLOOM_FILTER_MAX_BYTES_DEFAULT = MIB
    PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX = "write.parquet.bloom-filter-enabled.column"
    WRITE_AVRO_COMPRESSION = "write.avro.compression-codec"
    WRITE_AVRO_COMPRESSION_DEFAULT = "gzip"
    WRITE_FILE_FORMAT = "write.format.default"
    WRITE_FILE_FORMAT_DEFAULT = "parquet"
    WRITE_TARGET_FILE_SIZE_BYTES = "write.target-file-size-bytes"
    WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT = 512 * MIB
    WRITE_DISTRIBUTION_MODE = "write.distribution-mode"
    WRITE_DATA_PATH = "write.data.path"
    WRITE_METADATA_PATH = "write.metadata.path"
    WRITE_PY_LOCATION_PROVIDER_IMPL = "write.py-location-provider.impl"
    OBJECT_STORE_ENABLED = "write.object-storage.enabled"
    OBJECT_STORE_ENABLED_DEFAULT = False
    WRITE_OBJECT_STORE_PARTITIONED_PATHS = "write.object-storage.partitioned-paths"
    WRITE_OBJECT_STORE_PARTITIONED_PATHS_DEFAULT = True
    DEFAULT_WRITE_METRICS_MODE = "write.metadata.metrics.default"
    DEFAULT_WRITE_METRICS_MODE_DEFAULT = "truncate(16)"
    METRICS_MODE_COLUMN_CONF_PREFIX = "write.metadata.metrics.column"
    WRITE_PARTITION_SUMMARY_LIMIT = "write.summary.partition-limit"
    WRITE_PARTITION_SUMMARY_LIMIT_DEFAULT = 0

    METADATA_COMPRESSION = "write.metadata.compression-codec"
    METADATA_COMPRESSION_DEFAULT = "none"
    METADATA_PREVIOUS_VERSIONS_MAX = "write.metadata.previous-versions-max"
    METADATA_PREVIOUS_VERSIONS_MAX_DEFAULT = 100
    METADATA_DELETE_AFTER_COMMIT_ENABLED = "write.metadata.delete-after-commit.enabled"
    METADATA_DELETE_AFTER_COMMIT_ENABLED_DEFAULT = False

    MANIFEST_COMPRESSION = "write.manifest.compression-codec"
    MANIFEST_COMPRESSION_DEFAULT = "gzip"
    MANIFEST_TARGET_SIZE_BYTES = "commit.manifest.target-size-bytes"
    MANIFEST_TARGET_SIZE_BYTES_DEFAULT = 8 * MIB
    MANIFEST_MIN_MERGE_COUNT = "commit.manifest.min-count-to-merge"
    MANIFEST_MIN_MERGE_COUNT_DEFAULT = 100
    MANIFEST_MERGE_ENABLED = "commit.manifest-merge.enabled"
    MANIFEST_MERGE_ENABLED_DEFAULT = True

    COMMIT_NUM_RETRIES = "commit.retry.num-retries"
    COMMIT_NUM_RETRIES_DEFAULT = 4
    COMMIT_MIN_RETRY_WAIT_MS = "commit.retry.min-wait-ms"
    COMMIT_MIN_RETRY_WAIT_MS_DEFAULT = 100
    COMMIT_MAX_RETRY_WAIT_MS = "commit.retry.max-wait-ms"
    COMMIT_MAX_RETRY_WAIT_MS_DEFAULT = 60_000
    COMMIT_TOTAL_RETRY_TIME_MS = "commit.retry.total-timeout-ms"
    COMMIT_TOTAL_RETRY_TIME_MS_DEFAULT = 1_800_000
    COMMIT_NUM_STATUS_CHECKS = "commit.status-check.num-retries"
    COMMIT_NUM_STATUS_CHECKS_DEFAULT = 3
    COMMIT_STATUS_CHECK_MIN_WAIT_MS = "commit.status-check.min-wait-ms"
    COMMIT_STATUS_CHECK_MIN_WAIT_MS_DEFAULT = 1000
    COMMIT_STATUS_CHECK_MAX_WAIT_MS = "commit.status-check.max-wait-ms"
    COMMIT_STATUS_CHECK_MAX_WAIT_MS_DEFAULT = 60_000

    DELETE_MODE = "write.delete.mode"
    UPDATE_MODE = "write.update.mode"
    MERGE_MODE = "write.merge.mode"
    ROW_LEVEL_MODE_DEFAULT = "copy-on-write"
    DELETE_MODE_COPY_ON_WRITE = "copy-on-write"
    DELETE_MODE_MERGE_ON_READ = "merge-on-read"
    DELETE_MODE_DEFAULT = "copy-on-write"
    DELETE_ISOLATION_LEVEL = "write.delete.isolation-level"
    UPDATE_ISOLATION_LEVEL = "write.update.isolation-level"
    MERGE_ISOLATION_LEVEL = "write.merge.isolation-level"
    ISOLATION_LEVEL_DEFAULT = "serializable"
    # PyIceberg's names of the same properties.
    WRITE_DELETE_ISOLATION_LEVEL = DELETE_ISOLATION_LEVEL
    WRITE_UPDATE_ISOLATION_LEVEL = UPDATE_ISOLATION_LEVEL
    WRITE_ISOLATION_LEVEL_DEFAULT = ISOLATION_LEVEL_DEFAULT
    DELETE_GRANULARITY = "write.delete.granularity"
    DELETE_GRANULARITY_DEFAULT = "file"

    READ_SPLIT_TARGET_SIZE = "read.split.target-size"
    READ_SPLIT_TARGET_SIZE_DEFAULT = 128 * MIB
    READ_SPLIT_LOOKBACK = "read.split.planning-lookback"
    READ_SPLIT_LOOKBACK_DEFAULT = 10
    READ_SPLIT_OPEN_FILE_COST = "read.split.open-file-cost"
    READ_SPLIT_OPEN_FILE_COST_DEFAULT = 4 * MIB

    GC_ENABLED = "gc.enabled"
    GC_ENABLED_DEFAULT = True
    MAX_SNAPSHOT_AGE_MS = "history.expire.max-snapshot-age-ms"
    MAX_SNAPSHOT_AGE_MS_DEFAULT = 432_000_000
    MIN_SNAPSHOTS_TO_KEEP = "history.expire.min-snapshots-to-keep"
    MIN_SNAPSHOTS_TO_KEEP_DEFAULT = 1


# Facts about a table that some engines list as properties. They are never stored as properties.
RESERVED_PROPERTIES = frozenset(
    {
        "format-version",
        "uuid",
        "snapshot-count",
        "current-snapshot-id",
        "current-snapshot-summary",
        "current-snapshot-timestamp-ms",
        "current-schema",
        "default-partition-spec",
        "default-sort-order",
    }
)


def properties_as_text(properties: Mapping[str, object]) -> dict[str, str]:
    """Return properties with numbers and booleans as text.

    Raises:
        ValidationError: A value is None, bytes or a collection, a name is not text, or `properties` is not a mapping.
    """
    if not isinstance(properties, Mapping):
        raise ValidationError(f"properties: expected a mapping of names to values, got {properties!r}")
    texts = {}
    for name, value in properties.items():
        if not isinstance(name, str):
            raise ValidationError(f"properties: expected text as the name of a property, got {name!r}")
        if value is None:
            raise ValidationError(
                f"None type is not a supported value in properties: {name}; expected text, a number or a boolean; "
                "to unset a property, remove it"
            )
        if isinstance(value, bytes | bytearray | Collection) and not isinstance(value, str):
            raise ValidationError(f"property {name}: expected text, a number or a boolean, got {value!r}")
        texts[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts
