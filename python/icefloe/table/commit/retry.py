"""The number of retries of a commit and the waits between them (`commit.retry.*`, `commit.status-check.*`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.table.properties.definitions import (
    COMMIT_MAX_WAIT,
    COMMIT_MIN_WAIT,
    COMMIT_RETRIES,
    COMMIT_TIMEOUT,
    STATUS_MAX_WAIT,
    STATUS_MIN_WAIT,
    STATUS_RETRIES,
    STATUS_TIMEOUT,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.environment import Environment
    from icefloe.typedef import Properties

JITTER = 0.1


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with jitter.

    Attributes:
        retries: Attempts after the first.
        min_wait_ms: Wait before the first retry; each further wait is twice as long.
        max_wait_ms: Longest single wait.
        total_timeout_ms: Time after the start of the first attempt in which retries may start.
    """

    retries: int = 4
    min_wait_ms: int = 100
    max_wait_ms: int = 60_000
    total_timeout_ms: int = 1_800_000

    @classmethod
    def of_commits(cls, properties: Properties) -> RetryPolicy:
        """Return the policy that a table's `commit.retry.*` properties set."""
        return cls(
            retries=COMMIT_RETRIES.of(properties),
            min_wait_ms=COMMIT_MIN_WAIT.of(properties),
            max_wait_ms=COMMIT_MAX_WAIT.of(properties),
            total_timeout_ms=COMMIT_TIMEOUT.of(properties),
        )

    @classmethod
    def of_status_checks(cls, properties: Properties) -> RetryPolicy:
        """Return the policy that a table's `commit.status-check.*` properties set."""
        return cls(
            retries=STATUS_RETRIES.of(properties),
            min_wait_ms=STATUS_MIN_WAIT.of(properties),
            max_wait_ms=STATUS_MAX_WAIT.of(properties),
            total_timeout_ms=STATUS_TIMEOUT.of(properties),
        )

    def attempts(self, environment: Environment) -> Iterator[int]:
        """Yield the number of each attempt, from 1, and wait before every retry.

        Examples:
            >>> from icefloe.table.environment import SYSTEM
            >>> list(RetryPolicy(retries=2, min_wait_ms=0).attempts(SYSTEM))
            [1, 2, 3]
        """
        started = environment.monotonic()
        wait_ms = self.min_wait_ms
        yield 1
        for attempt in range(2, self.retries + 2):
            elapsed_ms = (environment.monotonic() - started) * 1000
            if elapsed_ms > self.total_timeout_ms:
                return
            capped = min(wait_ms, self.max_wait_ms)
            environment.sleep((capped + environment.uniform(0, capped * JITTER)) / 1000)
            wait_ms *= 2
            yield attempt
