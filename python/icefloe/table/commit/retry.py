"""The number of retries of a commit and the waits between them (`commit.retry.*`, `commit.status-check.*`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError

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
        return cls._from(properties, "commit.retry", cls())

    @classmethod
    def of_status_checks(cls, properties: Properties) -> RetryPolicy:
        """Return the policy that a table's `commit.status-check.*` properties set."""
        return cls._from(properties, "commit.status-check", cls(retries=3, min_wait_ms=1_000))

    @classmethod
    def _from(cls, properties: Properties, prefix: str, default: RetryPolicy) -> RetryPolicy:
        return cls(
            retries=_count(properties, f"{prefix}.num-retries", default.retries),
            min_wait_ms=_count(properties, f"{prefix}.min-wait-ms", default.min_wait_ms),
            max_wait_ms=_count(properties, f"{prefix}.max-wait-ms", default.max_wait_ms),
            total_timeout_ms=_count(properties, f"{prefix}.total-timeout-ms", default.total_timeout_ms),
        )

    def attempts(self, environment: Environment) -> Iterator[int]:
        """Yield the number of each attempt, from 1, and wait before every retry.

        Example:
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


def _count(properties: Properties, key: str, default: int) -> int:
    text = properties.get(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()):
        raise ValidationError(f"table property {key}: expected a non-negative integer, got {text!r}")
    return int(text)
