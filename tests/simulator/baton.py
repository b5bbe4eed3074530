"""Client threads of which one runs at a time, in the order of a schedule."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Choose = Callable[[Sequence[int]], int]


class Baton:
    """Runs clients one at a time. A client yields its turn by calling `hand_over`.

    Args:
        programs: The program of each client, which raises nothing.
        choose: Returns the client that runs next, given the numbers of the clients that have not ended.
    """

    def __init__(self, programs: Sequence[Callable[[], None]], choose: Choose) -> None:
        self._programs = programs
        self._choose = choose
        self._running = list(range(len(programs)))
        self._turns = [_taken_lock() for _ in programs]
        self._ended = _taken_lock()
        self._current = threading.local()

    @property
    def client(self) -> int | None:
        """The number of the client that runs on this thread; None on other threads."""
        found: int | None = getattr(self._current, "client", None)
        return found

    def run(self) -> None:
        """Run all clients until they end."""
        threads = [threading.Thread(target=self._live, args=(client,)) for client in self._running]
        for thread in threads:
            thread.start()
        if threads:
            self._turns[self._choose(tuple(self._running))].release()
            self._ended.acquire()
        for thread in threads:
            thread.join()

    def hand_over(self) -> None:
        """Let the schedule select the next client, and return when this client is selected again."""
        client = self._current.client
        following = self._choose(tuple(self._running))
        if following != client:
            self._turns[following].release()
            self._turns[client].acquire()

    def _live(self, client: int) -> None:
        self._current.client = client
        self._turns[client].acquire()
        try:
            self._programs[client]()
        finally:
            self._running.remove(client)
            if self._running:
                self._turns[self._choose(tuple(self._running))].release()
            else:
                self._ended.release()


def _taken_lock() -> threading.Lock:
    """Return a lock that is held. Its release by another thread wakes the thread that acquires it, and costs less than a semaphore."""
    lock = threading.Lock()
    lock.acquire()
    return lock
