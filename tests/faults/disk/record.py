"""The record of the system calls of a process, as written by `disk.c`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SystemCall:
    """One recorded call.

    Attributes:
        name: `create`, `reopen`, `open`, `mkdir`, `rename`, `link`, `unlink`, `rmdir`, `truncate`, `sync`, `write`, `read`;
            `refused` for a call that failed, whose name is in `other`; `fault` before a call with a fault.
        path: The path of the file or directory.
        other: The new path of a rename or link; `truncate` for a file that is opened empty.
        inode: The number of an open file.
        offset: The position of a write, the length after a truncation.
        data: The written bytes.
    """

    name: str
    path: str
    other: str = ""
    inode: int = 0
    offset: int = 0
    data: bytes = b""


def recorded(log: Path) -> list[SystemCall]:
    """Return the calls of a record. The record of a killed process ends with its last complete call."""
    text = log.read_bytes()
    calls, position = [], 0
    while (end := text.find(b"\n", position)) >= 0:
        name, path, other, inode, offset, length = text[position:end].decode().split("\t")
        position = end + 1 + int(length)
        calls.append(SystemCall(name, path, other, int(inode), int(offset), text[end + 1 : position]))
    return calls
