"""The verbs that change tables and catalogs."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = pa.table({"id": pa.array([7, 8], pa.int64()), "kind": ["x", "y"]})


def result(done):
    document = done.json("change")
    assert done.code == 0
    return document["result"]


def test_create_makes_a_partitioned_and_sorted_table(icefloe, lake):
    arguments = ("--schema", "id long not null, at timestamptz, name string, price decimal(9, 2)")
    layout = ("--partition-by", "day(at), bucket(16, id), truncate(name, 3)", "--sort-by", "id desc nulls last, name")
    done = icefloe("create", "db.new", *arguments, *layout, "--set", "owner=me", "--yes", "-o", "json")
    made = lake.load_table("db.new")
    assert result(done)["location"] == made.location()
    assert [str(field) for field in made.schema().fields] == [
        "1: id: required long",
        "2: at: optional timestamptz",
        "3: name: optional string",
        "4: price: optional decimal(9, 2)",
    ]
    assert [(field.name, str(field.transform)) for field in made.spec().fields] == [
        ("at_day", "day"),
        ("id_bucket", "bucket[16]"),
        ("name_trunc", "truncate[3]"),
    ]
    assert [str(field) for field in made.sort_order().fields] == ["1 DESC NULLS LAST", "3 ASC NULLS FIRST"]
    assert made.properties["owner"] == "me"


def test_create_takes_the_schema_of_a_table_or_a_file(icefloe, lake, table, tmp_path):
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    (tmp_path / "schema.json").write_text(table.schema().model_dump_json())
    assert icefloe("create", "db.a", "--like", "db.t", "-y").code == 0
    assert icefloe("create", "db.b", "--schema-file", tmp_path / "rows.parquet", "-y").code == 0
    assert icefloe("create", "db.c", "--schema-file", tmp_path / "schema.json", "-y").code == 0
    for name in ("db.a", "db.b", "db.c"):
        assert lake.load_table(name).schema().column_names == ["id", "kind"]


def test_dry_run_changes_nothing_and_shows_the_plan(icefloe, lake, table):
    done = icefloe("drop", "db.t", "--purge", "--dry-run")
    assert done.text.startswith("[dry run] Drop table db.t (6 rows, 2 data files, ")
    document = icefloe("drop", "db.t", "--dry-run", "-o", "json").json("change")
    assert (document["dry_run"], document["result"]) == (True, None)
    assert lake.table_exists("db.t")


def test_drop_rename_and_register(icefloe, lake, table):
    location = table.metadata_location
    assert icefloe("rename", "db.t", "db.u", "-y").text == "Renamed table db.t to db.u.\n"
    assert icefloe("drop", "db.u", "-y").text == "Dropped table db.u.\n"
    assert icefloe("register", "db.t", location, "-y").text == "Registered table db.t.\n"
    assert lake.load_table("db.t").scan().count() == 6
    assert result(icefloe("drop", "db.t", "--purge", "-y", "-o", "json"))["leftover_files"] == []


def test_namespaces_are_created_and_dropped(icefloe, lake):
    assert icefloe("create-namespace", "other", "--set", "owner=me", "-y").code == 0
    assert lake.load_namespace_properties("other")["owner"] == "me"
    assert icefloe("drop-namespace", "other", "-y").code == 0
    assert not lake.namespace_exists("other")


def test_properties_are_set_shown_and_unset(icefloe, table):
    assert icefloe("properties", "set", "db.t", "a=1", "b=x=y", "-y").text == "Changed 2 properties of db.t.\n"
    assert icefloe("properties", "get", "db.t", "b", "-o", "csv").text == '"key","value"\n"b","x=y"\n'
    assert icefloe("properties", "unset", "db.t", "a", "-y").code == 0
    assert icefloe("properties", "get", "db.t", "a").code == 3
    assert table.refresh().properties["b"] == "x=y"


def test_setting_a_property_again_has_nothing_to_do(icefloe, table):
    icefloe("properties", "set", "db.t", "a=1", "-y")
    before = table.refresh().metadata_location
    document = icefloe("properties", "set", "db.t", "a=1", "-o", "json", "-y").json("change")
    assert (document["nothing_to_do"], document["result"]) == (True, None)
    assert table.refresh().metadata_location == before


def test_namespace_properties_are_set_and_unset(icefloe, lake):
    assert icefloe("properties", "set", "db", "owner=me", "--namespace", "-y").code == 0
    assert (
        icefloe("properties", "get", "db", "owner", "--namespace", "-o", "csv").text.splitlines()[1] == '"owner","me"'
    )
    assert icefloe("properties", "unset", "db", "owner", "--namespace", "-y").code == 0
    assert "owner" not in lake.load_namespace_properties("db")


def test_branches_and_tags_are_created_moved_and_dropped(icefloe, table):
    first, second = (one.snapshot_id for one in table.snapshots())
    assert icefloe("tag", "create", "db.t", "v1", "--at", first, "--max-age", "90d", "-y").code == 0
    assert icefloe("branch", "create", "db.t", "audit", "--at", "v1", "--min-snapshots", "3", "-y").code == 0
    refs = table.refresh().refs()
    assert (refs["v1"].snapshot_id, refs["v1"].max_ref_age_ms) == (first, 90 * 86_400_000)
    assert (refs["audit"].snapshot_id, refs["audit"].min_snapshots_to_keep) == (first, 3)
    assert icefloe("branch", "fast-forward", "db.t", "audit", "main", "-y").code == 0
    assert table.refresh().refs()["audit"].snapshot_id == second
    assert icefloe("tag", "drop", "db.t", "v1", "-y").code == 0
    assert icefloe("branch", "drop", "db.t", "v1", "-y").code == 3
    assert icefloe("branch", "drop", "db.t", "audit", "-y").code == 0
    assert list(table.refresh().refs()) == ["main"]


def test_rollback_makes_an_ancestor_current(icefloe, table):
    first, second = (one.snapshot_id for one in table.snapshots())
    document = icefloe("rollback", "db.t", first, "-y", "-o", "json").json("change")
    assert document["plan"]["undone_snapshot_ids"] == [str(second)]
    assert table.refresh().scan().count() == 3
    assert icefloe("rollback", "db.t", first, "-y", "-o", "json").json("change")["nothing_to_do"] is True
    assert icefloe("rollback", "db.t", second, "-y").code == 1


def test_upgrade_raises_the_format_version_once(icefloe, lake):
    made = lake.create_table("db.old", pa.schema([("id", pa.int64())]), properties={"format-version": "1"})
    assert icefloe("upgrade", "db.old", "-y").code == 0
    assert made.refresh().format_version == 2
    assert icefloe("upgrade", "db.old", "-y").text == "db.old has format version 2 already.\n"


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl"])
def test_append_reads_files_of_each_format(icefloe, table, tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        pq.write_table(ROWS, path)
    elif ending == "arrow":
        with pa.ipc.new_file(path, ROWS.schema) as writer:
            writer.write_table(ROWS)
    else:
        lines = ("id,kind\n7,x\n8,y\n", '{"id": 7, "kind": "x"}\n{"id": 8, "kind": "y"}\n')
        path.write_text(lines[0] if ending == "csv" else lines[1])
    done = result(icefloe("append", "db.t", path, "--yes", "-o", "json"))
    assert (done["added_rows"], done["added_data_files"]) == (2, 1)
    assert table.refresh().scan("id > 6").to_arrow().to_pylist() == ROWS.to_pylist()


def test_append_reads_several_files_in_one_snapshot_of_a_branch(icefloe, table, tmp_path):
    for number in range(3):
        pq.write_table(ROWS, tmp_path / f"{number}.parquet")
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "audit").commit()
    paths = sorted(tmp_path.glob("*.parquet"))
    done = icefloe("append", "db.t", *paths, "--branch", "audit", "--summary", "job=nightly", "-y", "-o", "json")
    assert result(done)["added_rows"] == 6
    snapshot = table.refresh().snapshot_by_name("audit")
    assert snapshot.summary.additional_properties["job"] == "nightly"
    assert table.scan().count() == 6


def test_append_reads_an_arrow_stream_on_standard_input(process, table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, ROWS.schema) as writer:
        writer.write_table(ROWS)
    done = process("append", "db.t", "-", "--yes", stdin=sink.getvalue().to_pybytes())
    assert done.text.startswith("Appended 2 rows in 1 data file: snapshot ")
    assert table.refresh().scan().count() == 8


def test_append_refuses_unknown_endings_and_missing_files(icefloe, table, tmp_path):
    (tmp_path / "rows.txt").write_text("1")
    assert icefloe("append", "db.t", tmp_path / "rows.txt", "-y").code == 1
    assert icefloe("append", "db.t", tmp_path / "gone.parquet", "-y").code == 3
    assert table.refresh().scan().count() == 6


def test_add_files_leaves_files_where_they_are(icefloe, table, tmp_path):
    pq.write_table(ROWS, tmp_path / "own.parquet")
    assert result(icefloe("add-files", "db.t", tmp_path / "own.parquet", "-y", "-o", "json"))["added_rows"] == 2
    assert str(tmp_path / "own.parquet") in [task.file.file_path for task in table.refresh().scan().plan_files()]
    again = icefloe("add-files", "db.t", tmp_path / "own.parquet", "-y")
    assert again.code == 1
    assert "own.parquet" in again.err
