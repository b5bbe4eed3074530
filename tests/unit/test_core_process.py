"""The core in forked children and under many threads at once."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import IcebergError

from tests.unit.scan_tables import (
    DELETES,
    FILES,
    arrow_field,
    delete_file,
    field,
    position_deletes,
    schema,
    stream,
    task,
    write,
)

WANTED = schema(field(1, "id", "long"), field(2, "name", "string"))


@pytest.fixture
def numbers(tmp_path):
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(5000)),
        arrow_field(2, "name", pa.string()): [f"n{i}" for i in range(5000)],
    }
    return write(tmp_path / "numbers.parquet", columns, row_group_size=250)


def total(location: str) -> int:
    return sum(batch["id"].to_numpy().sum() for batch in stream([task(location)], WANTED, batch_size=100))


def in_child(work) -> int:
    """Run in a forked child; exit status 0 when it returns true."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_child_reads_after_its_parent_did(numbers):
    expected = total(numbers)
    for _ in range(20):
        assert in_child(lambda: total(numbers) == expected) == 0
    assert total(numbers) == expected


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_while_threads_read_harms_neither_side(numbers):
    expected, stop = total(numbers), threading.Event()

    def busy() -> None:
        while not stop.is_set():
            total(numbers)

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        statuses = [in_child(lambda: total(numbers) == expected) for _ in range(20)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * 20


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_stream_half_read_by_the_parent_is_an_error_in_the_child(numbers):
    batches = iter(stream([task(numbers)], WANTED, batch_size=10))
    next(batches)

    def work() -> bool:
        try:
            next(batches)
        except Exception as error:  # noqa: BLE001
            return "another process" in str(error)
        return False

    assert in_child(work) == 0
    assert sum(1 for _ in batches) == 499


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("content", [1, 2])
def test_child_forked_while_its_parent_reads_a_delete_file_reads_it_itself(numbers, tmp_path, content):
    ready, pipe, held = tmp_path / "ready.parquet", tmp_path / "deletes.parquet", tmp_path / "held"
    if content == 1:
        deletes = position_deletes(ready, [(numbers, 4999)])
    else:
        deletes = delete_file(write(ready, {arrow_field(1, "id", pa.int64()): [4999]}), 2, 1, [1])
    os.mkfifo(pipe)
    os.link(pipe, held)
    scan = stream([task(numbers, deletes=[0])], WANTED, deletes=[{**deletes, "file_path": str(pipe)}])

    def wait_for_a_writer() -> None:
        with contextlib.suppress(IcebergError):
            list(scan)

    def work() -> bool:
        # Ends a child that waits in native code, whatever handler the parent has.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        ready.replace(pipe)
        return sum(batch.num_rows for batch in scan) == 4999

    reader = threading.Thread(target=wait_for_a_writer)
    reader.start()
    try:
        # A thread that waits in open() cannot be observed; forked too early, the child has an easier task.
        time.sleep(0.5)
        assert in_child(work) == 0
    finally:
        os.close(os.open(held, os.O_WRONLY))
        reader.join()


@pytest.mark.timeout(300)
def test_many_threads_read_and_write_at_once(numbers, tmp_path):
    expected, failures = total(numbers), []
    io = _core.FileIo({})

    def work(thread: int) -> None:
        try:
            for turn in range(10):
                location = f"{tmp_path}/out/{thread}-{turn}"
                io.write(location, b"x" * turn, overwrite=False)
                if total(numbers) != expected or io.size(location) != turn:
                    failures.append((thread, turn))
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert io.list(f"{tmp_path}/out").num_rows == 160


@pytest.mark.timeout(300)
def test_streams_left_unread_hold_up_no_other(numbers):
    opened = [iter(stream([task(numbers)], WANTED, batch_size=10)) for _ in range(600)]
    for batches in opened:
        assert next(batches).num_rows == 10
    assert total(numbers) == sum(range(5000))


def test_handle_is_a_value():
    io = _core.FileIo({"key": "secret"})
    assert pickle.loads(pickle.dumps(io)) == io
    assert io.properties == {"key": "secret"}
    assert "secret" not in repr(io)


def test_arguments_of_a_read_are_parsed_without_the_gil(numbers):
    """The counting thread advances during the parse only if the interpreter is released."""
    files, deletes = pa.RecordBatch.from_pylist([task(numbers)], FILES), pa.RecordBatch.from_pylist([], DELETES)
    io, malformed = _core.FileIo({}), "{" + " " * 50_000_000 + "!"
    turns, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)

    class Exported:
        """A batch that pyarrow, which lets go of the interpreter meanwhile, has exported before."""

        def __init__(self, batch: pa.RecordBatch) -> None:
            self.capsules = batch.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.capsules

    def turns_during_a_call() -> int:
        exported = Exported(files), Exported(deletes)
        before = turns[0]
        try:
            _core.read(io, malformed, *exported, projection="{}")
        except IcebergError:
            return turns[0] - before
        raise AssertionError

    interval = sys.getswitchinterval()
    counter = threading.Thread(target=count)
    counter.start()
    try:
        sys.setswitchinterval(1000)
        # The first calls import and initialise what the others use.
        calls = [turns_during_a_call() for _ in range(8)]
        assert any(calls[3:]), calls
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        counter.join()
