"""The environment of a simulated history: schedule, faults, clocks and randomness."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.exceptions import CommitFailedException, IcebergError, StorageError
from icefloe.table.environment import Environment

from tests.simulator.baton import Baton
from tests.simulator.prepared import START_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.simulator.operations import Fault, History


SHARED = ("catalog.", "io.delete", "sleep")
"""Prefixes of the calls that reach state shared by clients."""
READS = ("core.plan", "core.read", "core.describe", "core.explain", "io.read", "io.exists", "io.size", "io.list")
"""Prefixes of the calls at which clients keep their turn, because `cached_property` holds a lock before Python 3.12."""
SWAP = "catalog.swap"
CHANGES = (SWAP, "catalog.insert", "catalog.remove", "catalog.rename")
"""The calls that change a catalog."""
POINTER = "catalog.pointer"


@dataclass(frozen=True)
class Decision:
    """The selection of a client, which runs until its next shared call.

    Attributes:
        running: The clients that could run.
        chosen: The client that ran.
        call: The name of its call; empty at the beginning of the client.
        changed: Whether the call changed a catalog.
    """

    running: tuple[int, ...]
    chosen: int
    call: str
    changed: bool = False


class ClientCrashed(BaseException):
    """A simulated crash of a client. Its further calls have no effect."""


class World:
    """An observer that decides the order, the effect and the reply of every call of the clients of a history.

    Args:
        history: The history.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.swaps: list[int] = []
        self.seen: dict[int, int] = {}
        self.committed: list[int] = []
        self.preceding: dict[int, tuple[int, ...]] = {}
        self.decisions: list[Decision] = []
        self.calls = self.fired = 0
        self._schedule = iter(history.schedule) if history.schedule is not None else None
        self._draws = Random(history.seed)
        self._counts = [0] * len(history.faults)
        self._crashed: set[int] = set()
        self._pending = dict.fromkeys(range(len(history.transactions)), "")
        self._late: list[tuple[int, Callable[[], Any]]] = []
        self._now_ms = START_MS + 1_000
        self._random = {
            client: Random(f"{history.seed} {client}") for client in (None, *range(len(history.transactions)))
        }
        self._baton = Baton([], self._choose)
        self.environment = Environment(
            now_ms=self._clock,
            monotonic=lambda: self._tick() / 1000,
            sleep=self._sleep,
            uniform=lambda low, high: self._own().uniform(low, high),
            new_uuid=lambda: str(uuid.UUID(int=self._own().getrandbits(128), version=4)),
            new_snapshot_id=lambda: self._own().getrandbits(62) + 1,
        )

    def run(self, programs: Sequence[Callable[[], None]]) -> None:
        """Run the clients' programs, then apply the late changes that have not taken effect."""
        self._baton = Baton(programs, self._choose)
        self._baton.run()
        for _, change in self._late:
            change()
        self._late.clear()

    def call(self, name: str, effect: Callable[[], Any]) -> Any:
        """Return the reply of a call, or raise its error."""
        client = self._baton.client
        if client is None:
            return effect()
        self._hand_over(client, name)
        fault = self._fault(client, name)
        if fault is None:
            return self._carry_out(client, name, effect)
        self.fired += 1
        return self._fail(fault, name, effect)

    # ---- schedule

    def _hand_over(self, client: int, name: str) -> None:
        if client in self._crashed:
            raise ClientCrashed
        self.calls += 1
        if name.startswith(SHARED) or not (self.history.shared_only or name.startswith(READS)):
            self._pending[client] = name
            self._baton.hand_over()
        due = [change for number, change in self._late if number <= self.calls]
        self._late = [entry for entry in self._late if entry[0] > self.calls]
        for change in due:
            change()

    def _choose(self, running: Sequence[int]) -> int:
        chosen = self._draw(running)
        self.decisions.append(Decision(tuple(running), chosen, self._pending[chosen]))
        return chosen

    def _draw(self, running: Sequence[int]) -> int:
        if self._schedule is None:
            return self._draws.choice(running)
        return next((client for client in self._schedule if client in running), running[0])

    # ---- faults

    def _fault(self, client: int, name: str) -> Fault | None:
        found = None
        for number, fault in enumerate(self.history.faults):
            if fault.client == client and name.startswith(fault.call) and name != "sleep":
                if self._counts[number] == fault.number:
                    found = fault
                self._counts[number] += 1
        return found

    def _fail(self, fault: Fault, name: str, effect: Callable[[], Any]) -> Any:
        client, kind = fault.client, fault.kind
        if kind == "crash before":
            self._crash(client)
        if kind == "late" and name in CHANGES:
            self._late.append((self.calls + fault.delay, lambda: self._take_effect_late(client, name, effect)))
            raise OutcomeUnknownError("simulated: no reply, and the change takes effect later")
        if kind in ("crash after", "error after", "late", "repeated"):
            self._carry_out(client, name, effect)
        if kind == "crash after":
            self._crash(client)
        if kind == "repeated" and name == SWAP:
            raise CommitFailedException("simulated: the second request met the effect of the first")
        if name in CHANGES:
            raise OutcomeUnknownError(f"simulated: {kind}")
        if name == "io.delete_many":
            return [("simulated", f"simulated: {kind}")]
        raise StorageError(f"simulated: {kind} at {name}")

    def _crash(self, client: int) -> None:
        self._crashed.add(client)
        raise ClientCrashed

    def _carry_out(self, client: int, name: str, effect: Callable[[], Any]) -> Any:
        reply = effect()
        if name in CHANGES:
            self.swaps.append(client)
            self.decisions[-1] = replace(self.decisions[-1], changed=True)
        if name == POINTER:
            self.seen.setdefault(client, len(self.swaps))
            self.preceding.setdefault(client, tuple(self.committed))
        return reply

    def _take_effect_late(self, client: int, name: str, effect: Callable[[], Any]) -> None:
        try:
            self._carry_out(client, name, effect)
        except IcebergError:
            return

    # ---- clocks and randomness

    def _tick(self) -> int:
        self._now_ms += 1
        return self._now_ms

    def _clock(self) -> int:
        client, clocks = self._baton.client, self.history.clocks
        ahead = clocks[client] if client is not None and client < len(clocks) else 0
        return self._tick() + ahead

    def _sleep(self, seconds: float) -> None:
        client = self._baton.client
        if client is not None:
            self._hand_over(client, "sleep")
        self._now_ms += int(seconds * 1000)

    def _own(self) -> Random:
        return self._random[self._baton.client]
