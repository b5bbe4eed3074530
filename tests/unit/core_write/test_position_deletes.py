"""Position delete files and what is said about them."""

import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import ValidationError

from tests.unit.core_write.write_cases import field_ids, leaves, read, spec_of, write_deletes

PATH_ID, POS_ID = 2147483546, 2147483545


def test_position_deletes_of_each_data_file_are_sorted_and_unique(tmp_path):
    spec = spec_of(("b", "bucket[4]", 1))
    pairs = [("f2", 9), ("f1", 4), ("f2", 1), ("f1", 4), ("f2", 0)]
    files = write_deletes(tmp_path, pairs, [("f1", 1, "[0]"), ("f2", 1, "[3]"), ("f3", 1, "[3]")], specs=[spec])
    assert [one["referenced_data_file"] for one in files] == ["f1", "f2"]
    assert [(one["content"], one["spec_id"], one["partition"]) for one in files] == [(1, 1, "[0]"), (1, 1, "[3]")]
    expected = {"f1": [4], "f2": [0, 1, 9]}
    for written in files:
        path = written["referenced_data_file"]
        parquet = pq.ParquetFile(written["file_path"])
        rows = [{"file_path": path, "pos": pos} for pos in expected[path]]
        assert parquet.read().to_pylist() == rows
        assert parquet.metadata.metadata[b"delete-type"] == b"position"
        assert field_ids(parquet) == {"file_path": PATH_ID, "pos": POS_ID}
        assert written["file_path"].endswith("-deletes.parquet")
        assert dict(written["lower_bounds"])[PATH_ID] == dict(written["upper_bounds"])[PATH_ID] == path.encode()
        assert dict(written["lower_bounds"])[POS_ID] == struct.pack("<q", expected[path][0])
        assert dict(written["upper_bounds"])[POS_ID] == struct.pack("<q", expected[path][-1])
        assert written["value_counts"] is None
        assert written["record_count"] == len(rows)
    assert "/b=3/" in files[1]["file_path"]


@pytest.mark.parametrize("keys", [pa.int8(), pa.int32(), pa.uint64()], ids=str)
@pytest.mark.parametrize("values", [pa.string(), pa.large_string()], ids=str)
def test_paths_in_a_dictionary_are_those_of_plain_text(tmp_path, keys, values):
    pairs = [("f2", 9), ("f2", 7), ("f1", 4), ("f2", 1), ("f1", 4), ("f2", 0)]
    targets = [("f1", 0, "[]"), ("f2", 0, "[]")]
    files = write_deletes(tmp_path, pairs, targets, path_type=pa.dictionary(keys, values))
    expected = [{"file_path": path, "pos": pos} for path, pos in sorted(set(pairs))]
    assert read(files).to_pylist() == expected
    assert write_deletes(tmp_path / "none", [], targets, path_type=pa.dictionary(keys, values)) == []


@pytest.mark.parametrize("paths", [pa.string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_a_path_that_is_null_is_refused(tmp_path, paths):
    with pytest.raises(ValidationError, match=r"file_path.*without nulls"):
        write_deletes(tmp_path, [("f1", 1), (None, 2)], [("f1", 0, "[]")], path_type=paths)
    assert leaves(tmp_path) == []


def test_position_deletes_by_partition_share_a_file_without_bounds(tmp_path):
    spec = spec_of(("b", "bucket[4]", 1))
    pairs = [("f2", 9), ("f1", 4), ("f3", 2), ("f2", 1)]
    targets = [("f1", 1, "[0]"), ("f2", 1, "[0]"), ("f3", 1, "[2]")]
    files = write_deletes(tmp_path, pairs, targets, specs=[spec], write__delete__granularity="partition")
    assert [(one["partition"], one["record_count"]) for one in files] == [("[0]", 3), ("[2]", 1)]
    shared, single = files
    assert read([shared]).to_pylist() == [{"file_path": p, "pos": n} for p, n in [("f1", 4), ("f2", 1), ("f2", 9)]]
    assert (shared["referenced_data_file"], shared["lower_bounds"]) == (None, None)
    assert single["referenced_data_file"] == "f3"


def test_long_paths_keep_whole_bounds(tmp_path):
    path = "/very/long/" + "é" * 400 + ".parquet"
    (written,) = write_deletes(tmp_path, [(path, 1)], [(path, 0, "[]")])
    assert dict(written["lower_bounds"])[PATH_ID] == dict(written["upper_bounds"])[PATH_ID] == path.encode()


def test_deletes_of_a_file_that_is_no_target_are_refused(tmp_path):
    with pytest.raises(ValidationError, match="f9"):
        write_deletes(tmp_path, [("f9", 1)], [("f1", 0, "[]")])
    assert leaves(tmp_path) == []


def test_no_deletes_make_no_file(tmp_path):
    assert write_deletes(tmp_path, [], [("f1", 0, "[]")]) == []
    assert leaves(tmp_path) == []
