"""The fixed costs of tasks in Spark's Python workers, and the importers of archives that read a changed file again."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import zipfile
import zipimport
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.spark.transform_udf import has_arrow_udf, udf_of
from icefloe.spark.worker_process import CheckedArchive, check_archives, is_forked_worker, reduce_fixed_costs


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Return a function that writes an archive on the path, with one module."""
    path = tmp_path / "modules.zip"
    monkeypatch.syspath_prepend(str(path))

    def write(module: str, text: str = "") -> str:
        path.unlink(missing_ok=True)
        with zipfile.ZipFile(path, "w") as opened:
            opened.writestr(f"{module}.py", text)
        return str(path)

    yield write
    sys.path_importer_cache.pop(str(path), None)
    for name in ("archived_one", "archived_two"):
        sys.modules.pop(name, None)


def test_checked_archive_imports_the_modules_of_a_replaced_file(archive):
    path = archive("archived_one", "value = 1")
    assert importlib.import_module("archived_one").value == 1
    check_archives()
    assert type(sys.path_importer_cache[path]) is CheckedArchive
    importlib.invalidate_caches()
    with pytest.raises(ImportError):
        importlib.import_module("archived_two")
    archive("archived_two", "value = 2  # longer than before")
    importlib.invalidate_caches()
    assert importlib.import_module("archived_two").value == 2


def test_checked_archive_reads_the_directory_of_an_unchanged_file_once(archive, monkeypatch):
    path = archive("archived_one")
    reads = []
    monkeypatch.setattr(zipimport.zipimporter, "invalidate_caches", lambda finder: reads.append(finder.archive))
    finder = CheckedArchive(path)
    for _ in range(3):
        finder.invalidate_caches()
    assert reads == [path]
    os.utime(path, ns=(1, 1))
    finder.invalidate_caches()
    assert reads == [path, path]


def test_checked_archive_of_a_deleted_file_finds_no_module(archive):
    path = archive("archived_one")
    finder = CheckedArchive(path)
    finder.invalidate_caches()
    assert finder.find_spec("archived_one") is not None
    Path(path).unlink()
    finder.invalidate_caches()
    assert finder.find_spec("archived_one") is None


def test_reduce_fixed_costs_changes_nothing_outside_of_a_worker(archive):
    path, frozen = archive("archived_one"), gc.get_freeze_count()
    importlib.import_module("archived_one")
    reduce_fixed_costs()
    assert not is_forked_worker()
    assert type(sys.path_importer_cache[path]) is zipimport.zipimporter
    assert gc.get_freeze_count() == frozen


def test_reduce_fixed_costs_replaces_importers_and_freezes_objects_in_a_worker(spark):
    def state(batches):
        before = gc.get_freeze_count()
        reduce_fixed_costs()
        frozen = gc.get_freeze_count()
        reduce_fixed_costs()
        unchecked = sum(type(one) is zipimport.zipimporter for one in sys.path_importer_cache.values())
        for _ in batches:
            yield pa.RecordBatch.from_pydict(
                {"frozen": [frozen > 0 and gc.get_freeze_count() >= before], "unchecked": [unchecked]}
            )

    rows = spark.range(1, numPartitions=1).mapInArrow(state, "frozen boolean, unchecked long").collect()
    assert rows == [(True, 0)]


@pytest.mark.parametrize("pandas", [False, True])
def test_udf_of_a_transform_reduces_the_fixed_costs_of_its_worker(spark, pandas):
    if not pandas and not has_arrow_udf():
        pytest.skip("Arrow UDFs need Spark 4.1")

    def unchecked_archives(values):
        unchecked = sum(type(one) is zipimport.zipimporter for one in sys.path_importer_cache.values())
        return pa.array([unchecked if gc.get_freeze_count() > 0 else -1] * len(values), pa.int32())

    made = udf_of(unchecked_archives, "int", 1, pandas=pandas)
    assert [row[0] for row in spark.range(2, numPartitions=1).select(made("id")).collect()] == [0, 0]
