"""Clock, sleep and randomness of commits and catalogs: the only place that calls the operating system for them.

Tests pass an environment of their own to make a schedule of commits repeatable.
"""

from __future__ import annotations

import random
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _uuid() -> str:
    return str(uuid.uuid4())


def _snapshot_id() -> int:
    """Return a random positive 63-bit number: the exclusive or of the two halves of a UUID, without the sign bit."""
    number = uuid.uuid4().int
    mixed = ((number >> 64) ^ number) & 0x7FFF_FFFF_FFFF_FFFF
    return mixed if mixed > 0 else 1


@dataclass(frozen=True)
class Environment:
    """The clock, sleep and random numbers that commits and catalogs use.

    Attributes:
        now_ms: Wall clock, milliseconds since 1970-01-01 UTC.
        monotonic: Seconds on a clock that never goes back.
        sleep: Block for a number of seconds.
        uniform: A random number between two bounds.
        new_uuid: A random UUID, the unique part of file and directory names.
        new_snapshot_id: A random positive 63-bit id.
    """

    now_ms: Callable[[], int] = _now_ms
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[float, float], float] = random.uniform
    new_uuid: Callable[[], str] = _uuid
    new_snapshot_id: Callable[[], int] = _snapshot_id


SYSTEM = Environment()
