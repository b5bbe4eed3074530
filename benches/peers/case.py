"""A case: one piece of work, the data it reads, and the contenders that do it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# The timed work: returns its rows (an Arrow table, a Polars frame) or their number. Two attributes, if there are any, are run
# untimed: `reset` restores the start, `outcome` returns what the work left behind, for the checksum.
Work = Callable[[], object]
# Sets a contender up (imports, catalogs, sessions) and returns its work.
Setup = Callable[[Path], Work]


@dataclass(frozen=True)
class Case:
    """One row of the comparison, before it is measured.

    Attributes:
        name: The name that `CASE=` selects.
        what: The title of the case's table.
        prepare: Writes the data below a directory, once; later runs find it there.
        contenders: The set-up of each contender by its name, icefloe's first.
        floors: Contenders that bound the work from below (a raw inflate, a plain copy) and do not count as peers.
        rounds: The largest number of rounds, for long work.
        same_rows: Contenders that are no floors must return the same rows.
        warm_ups: The number of runs before the timed ones, for all contenders or by name (1 for the others); a JVM compiles
            code that has run often enough.
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
