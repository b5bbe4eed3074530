"""What a case is: one piece of work, the data it needs, and everyone who can do it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# The work itself; returns how many rows it handled. Where it has a `reset`, that restores the start, untimed.
Work = Callable[[], int]
# Sets a contender up (imports, catalogs, sessions) and returns its work.
Setup = Callable[[Path], Work]


@dataclass(frozen=True)
class Case:
    """One row of the comparison, before it is measured.

    Attributes:
        name: What `CASE=` selects.
        what: One line for the reader of the table.
        prepare: Makes the data below a directory, once; later runs find it there.
        contenders: Who does the work, icefloe's first.
        floors: Contenders that bound the work from below (a raw inflate, a plain copy) and do not count as peers.
        rounds: At most this many rounds, for work that takes long.
        same_rows: Whether contenders that are no floors have to return the same number of rows.
        warm_ups: How often a contender works before it is timed, for all or by name (the others once); a JVM compiles what
            has run often enough.
    """

    name: str
    what: str
    prepare: Callable[[Path], None]
    contenders: dict[str, Setup]
    floors: frozenset[str] = frozenset()
    rounds: int = 100
    same_rows: bool = True
    warm_ups: int | dict[str, int] = 1

    def warm_ups_of(self, contender: str) -> int:
        return self.warm_ups if isinstance(self.warm_ups, int) else self.warm_ups.get(contender, 1)
