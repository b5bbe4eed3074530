"""Ctrl-C during a write deletes the files of the write."""

from __future__ import annotations

import _thread
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.io.arrow_values import row_numbers

ROWS = pa.table({name: row_numbers(3_000_000) for name in ("a", "b", "c")})


def test_interrupt_during_a_write_leaves_no_file(catalog):
    table = catalog.create_table("db.wide", ROWS.schema)
    data = Path(table.location().removeprefix("file://")) / "data"
    given_up = threading.Event()

    def interrupt_once_a_file_is_begun() -> None:
        while not list(data.glob("*.parquet")):
            if given_up.wait(0.001):
                return
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt_once_a_file_is_begun)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            table.append(ROWS)
    finally:
        given_up.set()
        thread.join()
    assert list(data.glob("*.parquet")) == []
    assert table.refresh().snapshots() == []
