"""Position delete files that apply to all data files of a partition and hold rows of some."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from icefloe.exceptions import MissingFileError

from tests.unit.scan_tables import ID, arrow_field, delete_file, position_deletes, read, schema, stream, task, write

ROWS = 50


def data_files(tmp_path, count):
    """Write data files whose ids are the numbers of all rows."""
    ids = arrow_field(1, "id", pa.int64())
    return [
        write(tmp_path / f"{file}.parquet", {ids: list(range(file * ROWS, (file + 1) * ROWS))}) for file in range(count)
    ]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_data_file_loses_the_rows_of_the_delete_files_that_apply_to_it(tmp_path, seed, threads):
    rng = random.Random(seed)
    paths = data_files(tmp_path, 12)
    deletes, rows_of_delete = [], []
    for number in range(30):
        files = rng.sample(range(len(paths)), rng.randint(1, 3))
        rows = sorted({(paths[file], rng.randrange(ROWS)) for file in files for _ in range(4)})
        deletes.append(position_deletes(tmp_path / f"d{number}.parquet", rows))
        rows_of_delete.append(rows)
    # Delete files apply to data files that are older, and one of them is of another kind.
    keys = write(tmp_path / "keys.parquet", {arrow_field(1, "id", pa.int64()): [3, 203]})
    deletes.insert(15, delete_file(keys, 2, 2, [1]))
    rows_of_delete.insert(15, [(paths[0], 3), (paths[4], 3)])
    firsts = [rng.randrange(len(deletes)) for _ in paths]
    tasks = [task(path, deletes=list(range(first, len(deletes)))) for path, first in zip(paths, firsts, strict=True)]
    expected = []
    for file, (path, first) in enumerate(zip(paths, firsts, strict=True)):
        removed = {row for rows in rows_of_delete[first:] for of, row in rows if of == path}
        expected += [file * ROWS + row for row in range(ROWS) if row not in removed]
    assert read(tasks, schema(ID), deletes=deletes, threads=threads)["id"].to_pylist() == expected


def test_delete_file_that_cannot_be_read_fails_each_data_file_that_it_applies_to(tmp_path):
    paths = data_files(tmp_path, 3)
    deletes = [position_deletes(tmp_path / f"d{number}.parquet", [(paths[number], 7)]) for number in range(3)]
    (tmp_path / "d1.parquet").unlink()
    for file in (0, 1):
        with pytest.raises(MissingFileError, match=r"d1\.parquet"):
            list(stream([task(paths[file], deletes=[0, 1, 2])], schema(ID), deletes=deletes))
    tasks = [task(paths[0], deletes=[0, 2]), task(paths[2], deletes=[2])]
    found = read(tasks, schema(ID), deletes=deletes)["id"].to_pylist()
    assert found == [row for row in [*range(ROWS), *range(2 * ROWS, 3 * ROWS)] if row not in (7, 2 * ROWS + 7)]
