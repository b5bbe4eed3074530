"""Entries of Iceberg tables in a Hive Metastore, with the parameters and columns that the Java reference stores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from icefloe.catalog.configuration import (
    EXTERNAL_TABLE,
    METADATA_LOCATION,
    PREVIOUS_METADATA_LOCATION,
    TABLE_TYPE,
)
from icefloe.catalog.hive.structs import Column, HiveTable, Serialisation, StorageDescriptor
from icefloe.catalog.hive_types import hive_type
from icefloe.catalog.metastore import STORED_TYPE
from icefloe.table.properties.definitions import GC_ENABLED
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from icefloe.catalog.pointer_catalog import StoredVersion
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Properties

OWNER = "hive.metastore.table.owner"
ENGINE_ENABLED = "engine.hive.enabled"
STORAGE_HANDLER = "storage_handler"
LONGEST_PARAMETER = 32672
"""Characters of a parameter that every database below a metastore can store."""
MOST_SECONDS = 2**31 - 1
_OWN_NAMES = {GC_ENABLED.name: "external.table.purge"}
_STATISTICS = {"total-data-files": "numFiles", "total-records": "numRows", "total-files-size": "totalSize"}


def new_entry(  # noqa: PLR0913 - each is one field of the entry
    database: str, name: str, new: StoredVersion, *, owner: str, now_seconds: int, zoned: str
) -> HiveTable:
    """Return the entry of a new table.

    Args:
        database: The table's database.
        name: The table's name.
        new: The table's first metadata.
        owner: The owner unless the table property `hive.metastore.table.owner` names one.
        now_seconds: The time of creation, seconds since 1970-01-01 UTC.
        zoned: The type of timestamps with a zone.
    """
    properties = new.metadata.properties if new.metadata is not None else EMPTY_DICT
    entry = HiveTable(
        tableName=name,
        dbName=database,
        owner=properties.get(OWNER, owner),
        createTime=now_seconds,
        lastAccessTime=now_seconds,
        retention=MOST_SECONDS,
        partitionKeys=[],
        parameters={"EXTERNAL": "TRUE"},
        tableType=EXTERNAL_TABLE,
    )
    update_entry(entry, None, new, zoned=zoned)
    return entry


def update_entry(entry: HiveTable, old: StoredVersion | None, new: StoredVersion, *, zoned: str) -> None:
    """Make an entry describe a new version of its table. Parameters of other engines are kept."""
    metadata = new.metadata
    assert metadata is not None, "the metadata of a new version was read or written"
    entry.parameters = _parameters(entry.parameters or {}, old, new.location, metadata)
    entry.sd = _storage(metadata, zoned=zoned)


def _parameters(
    before: Properties, old: StoredVersion | None, location: str, metadata: TableMetadata
) -> dict[str, str]:
    removed = old.metadata.properties.keys() - metadata.properties.keys() if old is not None and old.metadata else set()
    parameters = {**before, **{_OWN_NAMES.get(key, key): value for key, value in _mirrored(metadata).items()}}
    for key in {_OWN_NAMES.get(key, key) for key in removed} | {"COLUMN_STATS_ACCURATE", STORAGE_HANDLER}:
        parameters.pop(key, None)
    if _is_for_hive(metadata):
        parameters[STORAGE_HANDLER] = "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"
    parameters["uuid"] = str(metadata.table_uuid)
    parameters[TABLE_TYPE] = STORED_TYPE
    parameters[METADATA_LOCATION] = location
    if old is not None:
        parameters[PREVIOUS_METADATA_LOCATION] = old.location
    parameters["DO_NOT_UPDATE_STATS"] = "true"
    parameters["snapshot-count"] = str(len(metadata.snapshots))
    for key, value in _described(metadata).items():
        if value is None or len(value) > LONGEST_PARAMETER:
            parameters.pop(key, None)
        else:
            parameters[key] = value
    return {**parameters, **_statistics(metadata)}


def _mirrored(metadata: TableMetadata) -> Properties:
    return {key: value for key, value in metadata.properties.items() if key.lower() != OWNER}


def _described(metadata: TableMetadata) -> dict[str, str | None]:
    """Return parameters that describe the current version; None removes a parameter."""
    snapshot = metadata.current_snapshot()
    spec, order = metadata.spec(), metadata.sort_order()
    return {
        "current-schema": _compact(metadata.schema().model_dump_json()),
        "default-partition-spec": _compact(spec.model_dump_json()) if not spec.is_unpartitioned() else None,
        "default-sort-order": _compact(order.model_dump_json()) if not order.is_unsorted else None,
        "current-snapshot-id": str(snapshot.snapshot_id) if snapshot is not None else None,
        "current-snapshot-timestamp-ms": str(snapshot.timestamp_ms) if snapshot is not None else None,
        "current-snapshot-summary": _compact(json.dumps(_summary(metadata))) if snapshot is not None else None,
    }


def _statistics(metadata: TableMetadata) -> dict[str, str]:
    summary = _summary(metadata)
    return {name: summary[key] for key, name in _STATISTICS.items() if key in summary}


def _summary(metadata: TableMetadata) -> dict[str, str]:
    """Return the summary of the current snapshot without its operation, as the Java reference holds it."""
    snapshot = metadata.current_snapshot()
    if snapshot is None or snapshot.summary is None:
        return {}
    return dict(snapshot.summary.additional_properties)


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)


def _is_for_hive(metadata: TableMetadata) -> bool:
    return metadata.properties.get(ENGINE_ENABLED, "false").lower() == "true"


def _storage(metadata: TableMetadata, *, zoned: str) -> StorageDescriptor:
    if _is_for_hive(metadata):
        package = "org.apache.iceberg.mr.hive"
        classes = (f"{package}.HiveIcebergInputFormat", f"{package}.HiveIcebergOutputFormat")
        library = f"{package}.HiveIcebergSerDe"
    else:
        classes = ("org.apache.hadoop.mapred.FileInputFormat", "org.apache.hadoop.mapred.FileOutputFormat")
        library = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    return StorageDescriptor(
        cols=[
            Column(name=field.name, type=hive_type(field.field_type, zoned=zoned), comment=field.doc)
            for field in metadata.schema().fields
        ],
        location=metadata.location,
        inputFormat=classes[0],
        outputFormat=classes[1],
        compressed=False,
        numBuckets=0,
        serdeInfo=Serialisation(serializationLib=library, parameters={}),
    )


def with_advice(refusal: str) -> str:
    """Return the message of a refused change, with what to do about columns of other types."""
    if "types incompatible with the existing columns" not in refusal:
        return refusal
    columns = " ".join(refusal.split())
    return (
        f"{columns}; set hive.metastore.disallow.incompatible.col.type.changes=false in the metastore, which compares columns by position, "
        "or drop the table and create it again"
    )
