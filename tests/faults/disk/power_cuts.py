"""Power cuts: every prefix of the system calls of an operation is replayed on a disk that lost what was not synced.

Two disks are replayed for each prefix. The strict disk has only synced bytes, under names whose directory was synced. The
other disk has every name, and only synced bytes: file systems may persist names before the bytes of their files.
"""

from __future__ import annotations

import os
import shutil
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import IcebergError

from tests.faults.disk.faulty_disk import FaultyDisk
from tests.faults.disk.record import SystemCall, recorded
from tests.faults.selection import ALL, Selection
from tests.faults.sweep import Tally
from tests.faults.table_operations import TableOperation, prepare
from tests.faults.table_state import ReferencedFiles, append_to_each, state_of, tables_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.catalog import Catalog

KINDS = ("unsynced names and bytes lost", "unsynced bytes lost")


@dataclass
class File:
    """A file of the replayed disk: its bytes, and its bytes at the last sync."""

    data: bytearray = field(default_factory=bytearray)
    synced: bytes = b""


Directory = dict[str, "File | None"]
"""The entries of a directory: a file, or None for a directory."""


class Disk:
    """A disk that remembers what was synced.

    Args:
        root: The directory whose content is the initial disk, all of it synced.
    """

    def __init__(self, root: Path) -> None:
        self.entries: dict[str, Directory] = {str(root): {}}
        for directory, directories, files in os.walk(root):
            found = self.entries.setdefault(directory, {})
            found.update(dict.fromkeys(directories))
            for name in files:
                data = (Path(directory) / name).read_bytes()
                found[name] = File(bytearray(data), data)
        self.synced = {path: dict(entries) for path, entries in self.entries.items()}
        self.open: dict[int, File] = {}

    def apply(self, call: SystemCall) -> None:  # noqa: C901 - one case for each system call
        """Apply the effect of a system call."""
        parent, _, name = call.path.rpartition("/")
        match call.name:
            case "create":
                self.open[call.inode] = self.entries[parent][name] = File()
            case "reopen" | "open":
                found = self.entries.get(parent, {}).get(name)
                if found is not None:
                    self.open[call.inode] = found
                    if call.other == "truncate":
                        found.data.clear()
            case "mkdir":
                self.entries[parent][name] = None
                self.entries[call.path] = {}
                self.synced.setdefault(call.path, {})
            case "unlink" | "rmdir":
                self.entries[parent].pop(name, None)
            case "link" | "rename":
                self._give_name(call)
            case "truncate":
                del self.open[call.inode].data[call.offset :]
            case "write":
                data, end = self.open[call.inode].data, call.offset + len(call.data)
                data.extend(bytes(max(0, end - len(data))))
                data[call.offset : end] = call.data
            case "sync":
                if call.path in self.entries:
                    self.synced[call.path] = dict(self.entries[call.path])
                elif call.inode in self.open:
                    file = self.open[call.inode]
                    file.synced = bytes(file.data)

    def _give_name(self, call: SystemCall) -> None:
        (parent, _, name), (above, _, new) = call.path.rpartition("/"), call.other.rpartition("/")
        self.entries[above][new] = self.entries[parent][name]
        if call.name == "link":
            return
        del self.entries[parent][name]
        for known in (self.entries, self.synced):
            below = [path for path in known if path == call.path or path.startswith(f"{call.path}/")]
            for path in below:
                known[f"{call.other}{path[len(call.path) :]}"] = (
                    known[path] if known is self.synced else known.pop(path)
                )

    def write_to(self, root: Path, kind: str) -> None:
        """Write the disk after a power cut to its directory, which is emptied before."""
        entries = self.synced if kind == KINDS[0] else self.entries
        for child in root.iterdir():
            shutil.rmtree(child) if child.is_dir() else child.unlink()
        self._write(root, entries)

    def _write(self, directory: Path, entries: dict[str, Directory]) -> None:
        for name, file in entries.get(str(directory), {}).items():
            path = directory / name
            if file is None:
                path.mkdir()
                self._write(path, entries)
            else:
                path.write_bytes(file.synced)


class PowerCuts:
    """Replays of one operation, cut after each of its system calls.

    Args:
        operation: The operation.
        open_catalog: Function that opens the catalog.
        root: The directory of the catalog and its tables.
        log: The file of the record.
        warehouse: Unused: a power cut may leave files.
        selection: The share of the cuts to replay.
        name: The name of the namespace.
    """

    def __init__(
        self,
        operation: TableOperation,
        open_catalog: Callable[[], Catalog],
        root: Path,
        log: Path,
        warehouse: str | None = None,
        selection: Selection = ALL,
        name: str = "n",
    ) -> None:
        self.operation, self.open_catalog, self.root, self.log = operation, open_catalog, root, log
        self.selection, self.namespace = selection, name
        self.tally = Tally()
        self.violations: list[str] = []

    def run(self) -> None:
        """Record the operation, and replay every selected prefix of its system calls."""
        with self.open_catalog() as catalog:
            prepare(catalog, self.namespace, self.operation)
            before = self._state(catalog)
        disk = Disk(self.root)
        # The connections of databases are opened under the record, so that it has all open files.
        with FaultyDisk(self.root, self.log).during(0, ""), self.open_catalog() as catalog:
            self.operation.act(catalog, self.namespace)
        with self.open_catalog() as catalog:
            after = self._state(catalog)
        final = Disk(self.root)
        calls = [call for call in recorded(self.log) if call.name not in ("read", "refused", "fault")]
        self.tally.calls = len(calls)
        number = 0
        for place, call in enumerate(calls, 1):
            disk.apply(call)
            if call.name == "open":
                continue
            for kind in KINDS:
                if number in self.selection or place == len(calls):
                    is_last = place == len(calls)
                    allowed = [after] if is_last else [before, after]
                    self._cut(deepcopy(disk), kind, allowed, f"{kind} after call {place}, {call.name} {call.path}")
                number += 1
        final.write_to(self.root, KINDS[1])

    def _state(self, catalog: Catalog) -> dict[str, Any]:
        return state_of(tables_of(catalog, self.namespace), catalog, self.namespace, self.operation)

    def _cut(self, disk: Disk, kind: str, allowed: list[dict], title: str) -> None:
        disk.write_to(self.root, kind)
        self.tally.faults += 1
        try:
            with self.open_catalog() as catalog:
                tables = tables_of(catalog, self.namespace)
                found = state_of(tables, catalog, self.namespace, self.operation)
                wrong = [] if found in allowed else [f"found {found}"]
                # The same list of manifests has other bytes after another cut.
                wrong += [f"missing {path}" for path in ReferencedFiles().missing(tables)]
                if not wrong:
                    wrong += append_to_each(catalog, tables)
        except (IcebergError, OSError) as error:
            wrong = [repr(error)]
        self.violations += [f"{title}: {text}" for text in wrong]
