"""Control of the preloaded library of `disk.c`, which makes system calls fail and records them."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.disk.record import recorded
from tests.faults.sweep import Calls

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).with_name("disk.c")
NUMBERS = {"": 0, "error before": 1, "error after": 2, "torn": 3, "killed before": 4, "torn and killed": 5}
"""The numbers of the kinds of faults in `disk.c`."""
CODES = (errno.EIO, errno.ENOSPC, errno.EACCES)


def build(directory: Path) -> Path:
    """Compile the library into a directory, and return its path."""
    library = directory / "disk.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-Wno-unused-result", "-o", library, SOURCE, "-ldl"]
    subprocess.run(command, check=True)
    return library


class FaultyDisk:
    """The system calls of this process on files below a directory. The process has the library preloaded.

    Args:
        directory: The directory, without symbolic links.
        log: The file of the record, outside the directory.
    """

    deletions = ("unlink", "rmdir", "rename")

    def __init__(self, directory: Path, log: Path) -> None:
        self.directory, self.log = directory, log
        self._library = ctypes.CDLL(os.environ["LD_PRELOAD"])

    @contextmanager
    def during(self, number: int, kind: str) -> Iterator[Calls]:
        """Cause one fault in a block, and record the calls of the block."""
        calls = Calls()
        code = CODES[number % len(CODES)] if kind != "error after" else errno.EIO
        self._library.disk_arm(bytes(self.directory), number, NUMBERS[kind], code, bytes(self.log))
        try:
            yield calls
        finally:
            self._library.disk_disarm()
            self.read_calls(calls)

    def read_calls(self, calls: Calls) -> None:
        """Add the recorded calls, also those of a killed process."""
        for call in recorded(self.log):
            if call.name == "fault":
                calls.failed = f"{call.other} {Path(call.path).name}"
                continue
            name = call.other if call.name == "refused" else call.name
            calls.names.append(f"{name} {Path(call.path).name}")

    def kinds_of(self, name: str) -> tuple[str, ...]:
        """Return the kinds of faults that have distinct effects at a call."""
        call = name.split(" ", 1)[0]
        if call in ("open", "read"):
            return ("error before",)
        if call == "write":
            return ("error before", "error after", "torn")
        return ("error before", "error after")
