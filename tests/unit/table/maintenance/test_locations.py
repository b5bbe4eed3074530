"""The directories of a table, the files below them, and deletion within them."""

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.io import FileIO
from icefloe.table.maintenance.deletion import delete_files, file_table
from icefloe.table.maintenance.locations import is_below, table_roots


@pytest.mark.parametrize(
    ("location", "root", "expected"),
    [
        ("s3a://b/t/data/x", "s3://b/t", True),
        ("s3://b/t2/x", "s3://b/t", False),
        ("s3://b/t", "s3://b/t/", True),
        ("s3://c/t/x", "s3://b/t", False),
        ("/t/x", "file:///t", True),
        ("file:/t//x", "/t", True),
        ("/t/../etc/passwd", "/t", False),
        ("/t/..", "/t", False),
        ("/t/a..b", "/t", True),
        ("s3://b/t%2Fx", "s3://b/t", False),
    ],
)
def test_location_is_below_a_directory(location, root, expected):
    assert is_below([location], [root]).to_pylist() == [expected]


def test_nothing_is_below_no_directory():
    assert is_below(["/t/x"], []).to_pylist() == [False]


def test_directories_below_others_are_left_out(new_table):
    table = new_table(properties={"write.data.path": "/elsewhere/data/"})
    assert table_roots(table.metadata) == (table.location(), "/elsewhere/data")


def test_nulls_and_large_texts_are_normalized():
    texts = pa.array(["S3N://B/x", None], pa.large_string())
    assert _core.normalized_locations(texts).to_pylist() == ["s3://b/x", None]


def test_files_are_deleted_by_kind_in_order(tmp_path):
    kinds = [
        "partition_statistics",
        "manifest_list",
        "data",
        "manifest",
        "equality_deletes",
        "statistics",
        "position_deletes",
    ]
    files = file_table((kind, str(tmp_path / kind), 5) for kind in kinds)
    for kind in kinds:
        (tmp_path / kind).write_bytes(b"12345")
    seen = []

    class Recording:
        def delete_many(self, locations):
            seen.extend(location.rpartition("/")[2] for location in locations)
            return io.core.delete_many(locations)

    class Storage:
        core = Recording()

    io = FileIO()
    deletion = delete_files(Storage(), files, [str(tmp_path)])
    assert seen == [
        "data",
        "position_deletes",
        "equality_deletes",
        "manifest",
        "manifest_list",
        "statistics",
        "partition_statistics",
    ]
    assert (deletion.deleted_files, deletion.deleted_bytes) == (7, 35)
    assert list(tmp_path.iterdir()) == []


def test_files_outside_stay(tmp_path):
    inside, outside = tmp_path / "t" / "x", tmp_path / "t2" / "x"
    for path in (inside, outside):
        path.parent.mkdir()
        path.write_bytes(b"x")
    files = file_table([("data", str(inside), None), ("data", str(outside), 1)])
    deletion = delete_files(FileIO(), files, [str(tmp_path / "t")])
    assert (deletion.outside, deletion.counts, deletion.deleted_bytes) == ((str(outside),), {"data": 1}, 0)
    assert (inside.exists(), outside.exists()) == (False, True)


def test_failures_name_the_file_and_the_reason(tmp_path):
    directory = tmp_path / "full"
    directory.mkdir()
    (directory / "x").write_bytes(b"x")
    deletion = delete_files(FileIO(), file_table([("data", str(directory), 7)]), [str(tmp_path)])
    ((location, reason),) = deletion.failures
    assert (location, deletion.deleted_files, deletion.deleted_bytes) == (str(directory), 0, 0)
    assert "directory" in reason
