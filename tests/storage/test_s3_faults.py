"""Reads, writes and creations on S3 while the network or the server fails."""

from __future__ import annotations

import itertools

import pytest
from icefloe import _core
from icefloe.exceptions import FileAlreadyExistsError, StorageError


def first(count: int, fault, method: str):
    """Let the first requests of a method fail."""
    numbers = itertools.count()
    return lambda request: fault if request.method == method and next(numbers) < count else None


@pytest.mark.parametrize("fault", [503, 500, 429, "cut", "mute", "half"])
def test_reading_is_tried_again(far_io, line, bucket, fault):
    location = f"s3://{bucket}/a"
    data = bytes(range(256)) * 400
    far_io.write(location, data, overwrite=True)
    line.fault = first(3, fault, "GET")
    assert far_io.read(location) == data
    assert len(line.seen("GET")) == 4


@pytest.mark.parametrize("fault", [503, "cut", "mute"])
@pytest.mark.parametrize("overwrite", [True, False])
def test_writing_is_tried_again_and_finds_its_own_object_there(far_io, line, bucket, fault, overwrite):
    location = f"s3://{bucket}/a"
    line.fault = first(2, fault, "PUT")
    far_io.write(location, b"ours", overwrite=overwrite)
    assert far_io.read(location) == b"ours"


def test_another_object_is_not_taken_for_ours_when_a_reply_is_lost(far_io, line, bucket):
    location = f"s3://{bucket}/a"
    far_io.write(location, b"theirs", overwrite=False)
    for data in (b"others", b"longer than that"):
        line.fault = first(1, "mute", "PUT")
        with pytest.raises(FileAlreadyExistsError):
            far_io.write(location, data, overwrite=False)
    assert far_io.read(location) == b"theirs"


def test_object_that_cannot_be_read_back_is_no_conflict(far_io, line, bucket):
    def fault(request):
        if request.method == "PUT":
            return "mute" if len(line.seen("PUT")) == 1 else None
        return 403

    line.fault = fault
    with pytest.raises(StorageError) as caught:
        far_io.write(f"s3://{bucket}/a", b"ours", overwrite=False)
    assert not isinstance(caught.value, FileExistsError)


def test_loser_of_a_race_after_a_lost_request_gets_a_conflict(io, far_io, line, bucket):
    location = f"s3://{bucket}/a"

    def overtake(request):
        if request.method == "PUT" and len(line.seen("PUT")) == 1:
            io.write(location, b"theirs", overwrite=False)
            return "cut"
        return None

    line.fault = overtake
    with pytest.raises(FileAlreadyExistsError):
        far_io.write(location, b"ours", overwrite=False)
    assert far_io.read(location) == b"theirs"


def test_conflict_that_left_nothing_is_tried_again(far_io, line, bucket):
    line.fault = first(1, 409, "PUT")
    far_io.write(f"s3://{bucket}/a", b"ours", overwrite=False)
    assert far_io.read(f"s3://{bucket}/a") == b"ours"


@pytest.mark.parametrize("call", ["read", "size", "exists", "delete"])
def test_server_that_keeps_failing_is_one_clear_error(far_io, line, bucket, call):
    line.fault = lambda _: 503
    with pytest.raises(StorageError, match=f"s3://{bucket}/a.*503"):
        getattr(far_io, call)(f"s3://{bucket}/a")
    assert 1 < len(line.requests) < 20


def test_retries_can_be_turned_off(s3, line, bucket):
    line.fault = lambda _: 503
    io = _core.FileIo({**s3.properties(), "s3.endpoint": line.endpoint, "s3.retry.num-retries": "0"})
    with pytest.raises(StorageError):
        io.size(f"s3://{bucket}/a")
    assert len(line.requests) == 1


def test_server_that_is_not_there_is_one_clear_error(s3, bucket):
    io = _core.FileIo({**s3.properties(), "s3.endpoint": "http://127.0.0.1:1", "s3.retry.num-retries": "1"})
    with pytest.raises(StorageError, match=f"s3://{bucket}/a"):
        io.read(f"s3://{bucket}/a")


def test_server_that_says_nothing_is_not_waited_for_forever(s3, bucket):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        endpoint = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        settings = {"s3.endpoint": endpoint, "s3.request-timeout": "0.2", "s3.retry.num-retries": "1"}
        with pytest.raises(StorageError, match=f"s3://{bucket}/a"):
            _core.FileIo({**s3.properties(), **settings}).read(f"s3://{bucket}/a")


WAITER = """
import signal, sys, threading
from icefloe import _core
patient = {"s3.request-timeout": "3600", "s3.connect-timeout": "3600"}
io = _core.FileIo({"s3.endpoint": sys.argv[1], "s3.anonymous": "true", "s3.region": "x", **patient})
try:
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    io.read("s3://bucket/a")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_interrupt_ends_the_wait_for_a_server():
    import socket
    import subprocess
    import sys

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        endpoint = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        # The server is silent for as long as the test lives, and the reader patient for longer: only the interrupt ends the wait.
        done = subprocess.run(
            [sys.executable, "-c", WAITER, endpoint], capture_output=True, text=True, timeout=300, check=False
        )
    assert done.stdout == "interrupted\n", done.stderr
