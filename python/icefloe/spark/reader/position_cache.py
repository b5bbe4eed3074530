"""Deleted positions that the driver has read, for the next queries of the same delete files.

Delete files never change, so entries hold until they expire. The limits are the limits of the Java runtime's cache on executors.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from icefloe.table.environment import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

_MIB = 1024 * 1024
MAX_ENTRY_BYTES = 64 * _MIB
MAX_TOTAL_BYTES = 128 * _MIB
SECONDS_AFTER_USE = 600.0


class PositionCache:
    """Tables by key, the least recently used of which make room.

    Args:
        clock: Returns seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = SYSTEM.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[bytes, tuple[float, pa.Table]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes, make: Callable[[], pa.Table]) -> pa.Table:
        """Return the table of a key, which ``make`` returns if there is none; an exception leaves the cache as it is."""
        with self._lock:
            self._drop_expired()
            found = self._entries.get(key)
            if found is not None:
                self._put(key, found[1])
                return found[1]
        made = make()
        if made.nbytes <= MAX_ENTRY_BYTES:
            with self._lock:
                self._put(key, made)
        return made

    def _put(self, key: bytes, table: pa.Table) -> None:
        self._entries[key] = (self._clock(), table)
        self._entries.move_to_end(key)
        while sum(one.nbytes for _, one in self._entries.values()) > MAX_TOTAL_BYTES:
            self._entries.popitem(last=False)

    def _drop_expired(self) -> None:
        oldest = self._clock() - SECONDS_AFTER_USE
        while self._entries and next(iter(self._entries.values()))[0] < oldest:
            self._entries.popitem(last=False)
