"""The core that a process simulates on.

The clients of a history take turns, so one core is enough; with more, their threads wander between the cores and use half as much CPU again.
"""

from __future__ import annotations

import os


def stay_on_one_core(number: int) -> set[int]:
    """Keep this thread, and the threads that it starts, on one core; processes with successive numbers share the cores evenly.

    Returns:
        The cores that the thread could use before; empty where the system cannot keep a thread on a core.
    """
    if not hasattr(os, "sched_setaffinity"):
        return set()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(before)[number % len(before)]})
    return before


def leave_core(before: set[int]) -> None:
    """Let this thread use the cores that `stay_on_one_core` returned."""
    if before:
        os.sched_setaffinity(0, before)
