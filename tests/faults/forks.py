"""A Python process that has imported everything, and forks a child for each script: importing takes a second, a fork none."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Forks a child for each request on its socket, which runs the script once a tracer is attached. Answers with the process
# number of the child and, at its end, with its exit code. Ends with its standard input, so no parent outlives the tests.
PARENT = """
import ctypes, json, os, select, signal, socket, sys, time
import icefloe.catalog.hadoop, icefloe.catalog.sql, pyarrow.dataset, sqlalchemy.dialects.sqlite

TRACED_BY_ANYONE = (0x59616D61, ctypes.c_ulong(-1))  # PR_SET_PTRACER, PR_SET_PTRACER_ANY

def run(request):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream, number in ((request["stdout"], 1), (request["stderr"], 2)):
        os.dup2(os.open(stream, os.O_WRONLY), number)
    ctypes.CDLL(None).prctl(*TRACED_BY_ANYONE)
    sys.argv = ["-c", *request["arguments"]]
    while "TracerPid:\\t0\\n" in open("/proc/self/status").read():
        time.sleep(0.001)
    exec(compile(request["code"], "<script>", "exec"), {"__name__": "__main__"})

def serve(connection):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    stream = connection.makefile("rw")
    request = json.loads(stream.readline())
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run(request)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    print(child, file=stream, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=stream, flush=True)

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(sys.argv[1])
    listening.listen(64)
    print("listening", flush=True)
    while sys.stdin not in select.select([sys.stdin, listening], [], [])[0]:
        connection, _ = listening.accept()
        if os.fork() == 0:
            serve(connection)
            os._exit(0)
        connection.close()
"""


@functools.cache
def parent_socket() -> str:
    """Start the parent, and return the path of its socket."""
    directory = atexit.register(tempfile.TemporaryDirectory(prefix="forks-").cleanup).__self__.name
    path = f"{directory}/socket"
    process = subprocess.Popen(
        [sys.executable, "-B", "-c", PARENT, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(process.wait)
    atexit.register(process.stdin.close)
    assert process.stdout.readline() == "listening\n"
    return path


@contextlib.contextmanager
def forked(code: str, arguments: tuple[str, ...]) -> Iterator[tuple[str, Path, Path, socket.SocketIO]]:
    """Fork a child for a script: its process number, the files of its output and errors, a stream for its exit code.

    The child waits until a tracer is attached.
    """
    with tempfile.TemporaryDirectory(prefix="fork-") as directory, socket.socket(socket.AF_UNIX) as connection:
        output, errors = Path(directory, "stdout"), Path(directory, "stderr")
        output.touch()
        errors.touch()
        connection.connect(parent_socket())
        stream = connection.makefile("rw")
        request = {"code": code, "arguments": arguments, "stdout": str(output), "stderr": str(errors)}
        print(json.dumps(request), file=stream, flush=True)
        yield stream.readline().strip(), output, errors, stream
