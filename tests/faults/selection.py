"""The share of all faults and operations that a run of the sweeps takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selection:
    """A share of all faults: one of each `share` faults of each operation, beginning with number `first`."""

    share: int = 1
    first: int = 0

    def __contains__(self, number: int) -> bool:
        return (number + self.first) % self.share == 0

    def of(self, operations: list[str]) -> list[str]:
        """Return the operations to sweep: one of each `share`, at most 16, beginning with number `first`."""
        step = min(self.share, 16)
        return operations[self.first % step :: step]


ALL = Selection()
