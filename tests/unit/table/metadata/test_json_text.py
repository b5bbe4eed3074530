"""Tests of the text of metadata files: it is the same whether its snapshots were formatted before or not."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.table.metadata import TableMetadataUtil
from icefloe.table.metadata.files import read_metadata


def test_metadata_text_after_many_commits_equals_text_of_parsed_metadata(tmp_path: Path) -> None:
    catalog = load_catalog("local", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "text": ["a", "Ä\u2028"]})
    limit = {"write.metadata.previous-versions-max": "3"}
    table = catalog.create_table("db.t", schema=rows.schema, properties=limit)
    for number in range(4):
        table.append(rows, snapshot_properties={"note": f'"{number}" \\ ü'})
    table.manage_snapshots().create_tag(table.snapshots()[0].snapshot_id, "first").commit()
    table.append(rows)
    written = text_of(table.metadata_location)
    assert json.loads(written) == json.loads(json.dumps(table.metadata.model_dump(mode="json")))
    logged = [entry.metadata_file.rsplit("/", 1)[-1] for entry in table.metadata.metadata_log]
    assert logged == [f"v{version}.metadata.json" for version in (4, 5, 6)]
    assert TableMetadataUtil.parse_raw(written).model_dump_json() == written == table.metadata.model_dump_json()


def test_known_metadata_is_not_parsed_again_unless_the_file_differs(tmp_path: Path) -> None:
    catalog = load_catalog("local", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64())])
    table = catalog.create_table("db.t", schema=schema)
    assert read_metadata(table.io, table.metadata_location, table.metadata) is table.metadata
    catalog.drop_table("db.t")
    again = catalog.create_table("db.t", schema=schema)
    assert again.metadata_location == table.metadata_location
    read = read_metadata(again.io, again.metadata_location, table.metadata)
    assert read.table_uuid == again.metadata.table_uuid != table.metadata.table_uuid


def text_of(location: str) -> str:
    return Path(location).read_bytes().decode("utf-8")
