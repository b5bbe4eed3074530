"""The verbs that look at tables."""

import json
from datetime import datetime, timezone
from uuid import UUID

import pyarrow as pa
import pytest
from icefloe.table.inspect import METADATA_TABLES

MANY = 2**53 + 1


def test_list_shows_namespaces_and_tables_together(icefloe, lake, table):
    lake.create_namespace("other")
    assert icefloe("list", "-o", "json").json("list")["rows"] == [
        {"type": "namespace", "name": "db"},
        {"type": "namespace", "name": "other"},
    ]
    assert icefloe("list", "db", "--output", "json").json("list")["rows"] == [{"type": "table", "name": "db.t"}]
    assert icefloe("list", "-r").text.split() == [
        *["type", "name", "namespace", "db", "table", "db.t", "namespace", "other"]
    ]


def test_describe_states_size_snapshot_and_schema(icefloe, table):
    document = icefloe("describe", "db.t", "-o", "json").json("describe")
    assert document["current_snapshot_id"] == str(table.current_snapshot().snapshot_id)
    assert (document["row_count"], document["data_file_count"]) == (6, 2)
    assert document["schema"] == ["1: id: optional long", "2: kind: optional string"]
    assert "schema               1: id: optional long" in icefloe("describe", "db.t").text


def test_info_is_another_name_of_describe(icefloe, table):
    assert icefloe("info", "db.t", "-o", "json").out == icefloe("describe", "db.t", "-o", "json").out != b""


def test_describe_of_a_namespace_shows_its_properties(icefloe, lake):
    lake.create_namespace("owned", {"owner": "me"})
    assert icefloe("describe", "owned", "-o", "json").json("describe")["properties"]["owner"] == "me"


def test_snapshots_have_ids_as_strings_and_names(icefloe, table):
    table.manage_snapshots().create_tag(table.snapshots()[0].snapshot_id, "first").commit()
    rows = icefloe("snapshots", "db.t", "-o", "json").json("snapshots")["rows"]
    assert [row["snapshot_id"] for row in rows] == [str(one.snapshot_id) for one in table.snapshots()]
    assert [(row["refs"], row["added_rows"], row["total_rows"]) for row in rows] == [
        (["first"], 3, 3),
        (["main"], 3, 6),
    ]
    assert icefloe("snapshots", "db.t", "--last", "1", "-o", "json").json("snapshots")["rows"] == rows[1:]


def test_schema_lists_nested_fields_below_their_parents(icefloe, lake):
    nested = pa.struct([("names", pa.list_(pa.string())), ("lat", pa.float64())])
    lake.create_table(
        "db.nested", pa.schema([("id", pa.int64()), ("place", nested), ("at", pa.timestamp("us", "UTC"))])
    )
    rows = icefloe("schema", "db.nested", "-o", "json").json()["rows"]
    assert [(row["name"], row["type"]) for row in rows] == [
        ("id", "long"),
        ("place", "struct"),
        ("place.names", "list<string>"),
        ("place.names.element", "string"),
        ("place.lat", "double"),
        ("at", "timestamptz"),
    ]
    assert "doc" not in icefloe("schema", "db.nested").text.splitlines()[0]


def test_spec_shows_transforms_and_sources(icefloe, table):
    with table.update_spec() as update:
        update.add_identity("kind")
    (row,) = icefloe("spec", "db.t", "-o", "json").json()["rows"]
    assert (row["name"], row["transform"], row["source"], row["field_id"]) == ("kind", "identity", "kind", "1000")


def test_refs_and_history_are_rows(icefloe, table):
    table.manage_snapshots().create_branch(table.snapshots()[0].snapshot_id, "audit").commit()
    assert [row["name"] for row in icefloe("refs", "db.t", "-o", "json").json()["rows"]] == ["audit", "main"]
    assert icefloe("refs", "db.t", "--type", "tag", "-o", "json").json()["rows"] == []
    assert len(icefloe("history", "db.t", "-o", "json").json()["rows"]) == 2


@pytest.mark.parametrize("name", METADATA_TABLES)
def test_inspect_shows_every_metadata_table(icefloe, table, name):
    document = icefloe("inspect", "db.t", name, "-o", "json").json("metadata_table")
    assert document["total_rows"] == len(document["rows"])
    assert icefloe("inspect", "db.t", name).code == 0


def test_files_of_an_earlier_version_are_fewer(icefloe, table):
    first = table.snapshots()[0]
    assert icefloe("files", "db.t", "-o", "json").json("metadata_table")["total_rows"] == 2
    for version in (first.snapshot_id, datetime.fromtimestamp(first.timestamp_ms / 1000, timezone.utc).isoformat()):
        assert icefloe("files", "db.t", "--at", version, "-o", "json").json("metadata_table")["total_rows"] == 1


def test_inspect_selects_columns_and_limits_rows(icefloe, table):
    document = icefloe("inspect", "db.t", "files", "--columns", "record_count", "--limit", "1", "-o", "json").json()
    assert document["rows"] == [{"record_count": 3}]
    assert document["total_rows"] == 2
    ordered = icefloe("inspect", "db.t", "files", "--columns", "record_count,content", "-o", "csv").text
    assert ordered.splitlines()[0] == '"record_count","content"'
    assert icefloe("inspect", "db.t", "files", "--columns", "nope").code == 2


def test_inspect_selects_fields_of_columns(icefloe, table):
    columns = "record_count,readable_metrics.id.lower_bound,readable_metrics.id.upper_bound"
    rows = icefloe("inspect", "db.t", "FILES", "--columns", columns, "-o", "json").json()["rows"]
    assert [list(row) for row in rows] == [["record_count", "readable_metrics"]] * len(rows)
    assert {tuple(row["readable_metrics"]["id"]) for row in rows} == {("lower_bound", "upper_bound")}


def test_inspect_filters_files_by_rows_of_the_table(icefloe, table):
    def count(*options):
        return icefloe("inspect", "db.t", *options, "-o", "json").json("metadata_table")["total_rows"]

    assert count("files", "--row-filter", "id > 4") == 1
    assert count("files", "--row-filter", "id > 4", "--where", "content = 1") == 0
    refused = icefloe("inspect", "db.t", "refs", "--row-filter", "id > 4")
    assert refused.code == 2
    assert "--row-filter: row_filter: metadata table refs is not about files" in refused.err


def test_scan_returns_rows_in_every_format(icefloe, table):
    where = ("--where", "id > 4", "--columns", "id,kind")
    expected = [{"id": 5, "kind": "c"}, {"id": 6, "kind": None}]
    assert icefloe("scan", "db.t", *where, "-o", "json").json()["rows"] == expected
    lines = icefloe("scan", "db.t", *where, "--jsonl").text.splitlines()
    assert [json.loads(line) for line in lines] == expected
    assert icefloe("scan", "db.t", *where, "-o", "csv").text.splitlines() == ['"id","kind"', '5,"c"', "6,"]
    assert pa.ipc.open_stream(icefloe("scan", "db.t", *where, "-o", "arrow").out).read_all().to_pylist() == expected
    assert icefloe("scan", "db.t", *where).text.splitlines() == ["id  kind", " 5  c", " 6  -"]


def test_scan_keeps_numbers_of_users_and_digits_of_large_ones(icefloe, lake):
    made = lake.create_table("db.wide", pa.schema([("user_id", pa.int64()), ("ratio", pa.float64())]))
    made.append(pa.table({"user_id": [MANY], "ratio": [float("nan")]}))
    done = icefloe("scan", "db.wide", "-o", "json")
    assert f'"user_id": {MANY}' in done.text
    assert done.json()["rows"] == [{"user_id": MANY, "ratio": "NaN"}]


def test_csv_has_bytes_as_hexadecimal_text_and_uuids_as_text(icefloe, lake):
    fields = [("id", pa.uuid()), ("data", pa.binary()), ("code", pa.binary(2)), ("parts", pa.list_(pa.binary()))]
    made = lake.create_table("db.bytes", pa.schema(fields))
    row = {"id": UUID(int=1).bytes, "data": b"\xff", "code": b"\xfe\x00", "parts": [b"\xfd", None]}
    made.append(pa.Table.from_pylist([row, dict.fromkeys(row)], pa.schema(fields)))
    assert icefloe("scan", "db.bytes", "-o", "csv").text.splitlines() == [
        '"id","data","code","parts"',
        '"00000000-0000-0000-0000-000000000001","ff","fe00","[""fd"", null]"',
        ",,,",
    ]


def test_scan_reads_a_version_by_tag_and_limits_rows(icefloe, table):
    table.manage_snapshots().create_tag(table.snapshots()[0].snapshot_id, "first").commit()
    assert len(icefloe("scan", "db.t", "--at", "first", "--jsonl").text.splitlines()) == 3
    assert len(icefloe("scan", "db.t", "--limit", "2", "--jsonl").text.splitlines()) == 2


def test_text_escapes_control_characters_of_values(icefloe, lake):
    made = lake.create_table("db.evil", pa.schema([("text", pa.string())]))
    made.append(pa.table({"text": ["\x1b[31mred\x07"]}))
    assert "\x1b" not in icefloe("scan", "db.evil").text
    assert r"\x1b[31mred\x07" in icefloe("scan", "db.evil").text


def test_explain_names_what_is_read(icefloe, table):
    document = icefloe("explain", "db.t", "--where", "id > 3", "-o", "json").json("explain")
    assert document["counters"]["files_planned"] == 1
    assert "data files: 1 of 2 to read" in icefloe("explain", "db.t", "--where", "id > 3").text


def test_diff_lists_files_and_counts_rows(icefloe, table):
    first = table.current_snapshot().snapshot_id
    table.delete("id = 1")
    document = icefloe("diff", "db.t", first, "--rows", "-o", "json").json("diff")
    assert (document["added"]["records"], document["removed"]["records"]) == (2, 3)
    assert document["rows_changed"] == {"INSERT": 0, "DELETE": 1}
    assert [row["change"] for row in document["rows"]] == ["removed", "added"]


def test_doctor_exits_with_10_if_there_are_problems(icefloe, table):
    assert icefloe("doctor", "db.t", "--files", "list", "--statistics").code == 0
    for start in range(4):
        table.append(pa.table({"id": [start], "kind": ["a"]}))
    done = icefloe("doctor", "db.t", "-o", "json")
    assert done.code == 10
    assert [one["code"] for one in done.json("doctor")["findings"]] == ["small-files"]


def test_a_table_directory_and_a_metadata_file_can_be_read(icefloe, table):
    for name in (table.location(), table.metadata_location):
        document = icefloe("describe", name, "-o", "json").json("describe")
        assert (document["table"], document["row_count"]) == (table.metadata_location, 6)


def test_options_stand_before_or_behind_the_verb(icefloe, table):
    assert icefloe("-o", "json", "list").text == icefloe("list", "-o", "json").text
    assert icefloe("--catalog", "lake", "list").text == icefloe("list", "--catalog", "lake").text
