"""The count of the simulated histories of a test run, with the outcomes of their transactions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulator.interpreter import Outcome
    from tests.simulator.operations import History

PROPERTY = "histories"
DAY = 100_000
"""The seeds of a day are this many times its date, and the numbers that follow."""


@dataclass
class Tally:
    """Figures of consecutive histories.

    Attributes:
        first: The seed of the first history.
        histories: The number of histories.
        transactions: The number of their transactions.
        committed: Transactions that were reported as committed.
        unknown: Transactions whose client crashed or that raised `CommitStateUnknownException`.
        faults: Faults that occurred.
    """

    first: int
    histories: int = 0
    transactions: int = 0
    committed: int = 0
    unknown: int = 0
    faults: int = 0

    def add(self, history: History, outcome: Outcome) -> None:
        """Count a history."""
        self.histories += 1
        self.transactions += len(history.transactions)
        self.committed += len(outcome.committed)
        self.unknown += len(outcome.unknown)
        self.faults += outcome.fired

    def as_json(self) -> str:
        """Return the figures as JSON, which travels from the processes of parallel tests."""
        return json.dumps(asdict(self))


def summary(reports: Iterable[str], failed: int) -> str:
    """Return one sentence about all histories of a run.

    Args:
        reports: The figures of each test as JSON.
        failed: The number of tests that failed.
    """
    tallies = [Tally(**json.loads(report)) for report in reports]
    new = [tally for tally in tallies if tally.first >= DAY]
    days = sorted({tally.first // DAY for tally in new})
    total = {name: sum(getattr(tally, name) for tally in tallies) for name in list(asdict(Tally(0)))[1:]}
    drawn = (
        f"{sum(tally.histories for tally in new):,} of them of day {', '.join(map(str, days))}" if new else "all fixed"
    )
    found = f"{failed} tests failed" if failed else "no violation"
    return (
        f"{total['histories']:,} histories, {drawn}: {total['transactions']:,} transactions, {total['committed']:,} committed, "
        f"{total['unknown']:,} with an unknown outcome, {total['faults']:,} faults, {found}"
    )
