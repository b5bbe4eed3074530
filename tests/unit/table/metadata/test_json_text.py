"""Tests of the text of metadata files: it is the same whether its snapshots were formatted before or not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import CorruptFileError, MissingFileError
from icefloe.table.metadata import TableMetadataUtil
from icefloe.table.metadata.entries import Entries, MetadataLog
from icefloe.table.metadata.files import read_metadata
from icefloe.table.snapshots import MetadataLogEntry


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


def test_commit_without_a_snapshot_keeps_the_fields_of_snapshots_of_version_3(tmp_path: Path) -> None:
    catalog = load_catalog("local", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2]}))
    value = json.loads(text_of(table.metadata_location))
    lineage = {"first-row-id": 0, "added-rows": 2, "key-id": "k1"}
    value |= {"format-version": 3, "next-row-id": 2, "encryption-keys": [{"key-id": "k1"}]}
    value["snapshots"][0] |= lineage
    Path(table.metadata_location).with_name("v3.metadata.json").write_text(json.dumps(value))
    loaded = catalog.load_table("db.t")
    [snapshot] = loaded.snapshots()
    assert (snapshot.first_row_id, snapshot.added_rows, snapshot.key_id) == (0, 2, "k1")
    with loaded.update_properties() as update:
        update.set_properties({"owner": "me"})
    written = json.loads(text_of(catalog.load_table("db.t").metadata_location))
    assert written["properties"]["owner"] == "me"
    assert written["snapshots"] == value["snapshots"]
    assert (written["next-row-id"], written["encryption-keys"]) == (2, [{"key-id": "k1"}])


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


def test_shortened_log_with_unknown_keys_has_the_text_of_its_remaining_entries() -> None:
    entries = [
        {"metadata-file": f"v{version}.metadata.json", "timestamp-ms": version, "note": "x"} for version in (1, 2, 3)
    ]
    log = MetadataLog(entries)
    assert json_of(log) == entries
    assert log[0].metadata_file == "v1.metadata.json"
    shorter = log.appended(MetadataLogEntry(metadata_file="v4.metadata.json", timestamp_ms=4)).last(2)
    assert [entry["metadata-file"] for entry in json_of(shorter)] == ["v3.metadata.json", "v4.metadata.json"]


@pytest.mark.parametrize("commits", [1, 2, 3, 100, 1000])
def test_appended_list_has_the_text_of_its_entries_in_few_pieces(commits: int) -> None:
    log = MetadataLog()
    log.json_pieces()
    for number in range(commits):
        log = log.appended(MetadataLogEntry(metadata_file="x" * (number % 7), timestamp_ms=number))
    assert json_of(log) == json_of(MetadataLog(log.json_values()))
    assert len(log.json_pieces()) <= commits.bit_length() + 1


@pytest.mark.parametrize("properties", [{}, {"write.metadata.compression-codec": "gzip"}])
@pytest.mark.parametrize(
    "damage", [lambda text: text[:-1], lambda text: text + b" ", lambda text: text.replace(b"id", b"ix", 1)]
)
def test_metadata_is_known_only_if_the_file_has_exactly_its_text(tmp_path: Path, damage, properties) -> None:
    catalog = load_catalog("local", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]), properties=properties)
    other = f"{tmp_path}/other{'.gz' if properties else ''}.metadata.json"
    for text, is_known in ((table.metadata.json_bytes(), True), (damage(table.metadata.json_bytes()), False)):
        table.io.core.write(other, gzip.compress(text) if properties else text, overwrite=True)
        try:
            read = read_metadata(table.io, other, table.metadata)
        except CorruptFileError:
            read = None
        assert (read is table.metadata) == is_known


@pytest.mark.parametrize("pieces", [[], [b""], [b"abc"], [b"a", b"", b"bc"], [b"x" * 200_000, b"y" * 131_072, b"z"]])
def test_file_is_stored_and_compared_in_pieces(tmp_path: Path, pieces) -> None:
    io = load_catalog("local", type="hadoop", warehouse=str(tmp_path)).file_io().core
    whole = b"".join(pieces)
    io.publish(f"{tmp_path}/published", pieces)
    io.write(f"{tmp_path}/written", pieces, overwrite=False)
    for name in ("published", "written"):
        assert (tmp_path / name).read_bytes() == whole
        assert io.read_unless(f"{tmp_path}/{name}", pieces) is None
        assert io.read_unless(f"{tmp_path}/{name}", whole) is None
        for other in (whole + b"a", whole[:-1] + b"!", b"!" + whole[1:]):
            assert io.read_unless(f"{tmp_path}/{name}", other) == whole
    with pytest.raises(MissingFileError):
        io.read_unless(f"{tmp_path}/missing", pieces)


def json_of(entries: Entries) -> list[dict[str, object]]:
    return json.loads(b"[" + b"".join(entries.json_pieces()) + b"]")


def text_of(location: str) -> str:
    return Path(location).read_bytes().decode("utf-8")
