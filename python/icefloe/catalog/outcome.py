"""Changes of a catalog whose outcome the store did not report, and how the outcome is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.table.commit.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.environment import Environment
    from icefloe.typedef import Properties

Result = TypeVar("Result")


def cannot_say() -> bool | None:
    """Answer for a store that keeps no record of its transactions."""
    return None


class OutcomeUnknownError(Exception):
    """A store did not report whether it made a change; internal to catalogs.

    Args:
        reason: What the store, or the way to it, reported instead.
        result: What the change returns if it took effect.
        ask: Asks the store: True if the change took effect, False if it never will, None if the store cannot say.
    """

    def __init__(self, reason: str, result: Any = None, ask: Callable[[], bool | None] = cannot_say) -> None:
        super().__init__(reason)
        self.result = result
        self.ask = ask


def settled(  # noqa: PLR0913 - each names one part of the question
    subject: str,
    change: Callable[[], Result],
    *,
    seen: Callable[[], bool],
    refused: type[IcebergError],
    properties: Properties,
    environment: Environment,
) -> Result:
    """Make a change and return its result; find the outcome where the store does not report it.

    The store's own record of the change decides. Without one, a change that is seen in place took effect, and a change
    that is not seen is unknown: its message may still be on the way to the store.

    Args:
        subject: What changes, for messages.
        change: Makes the change; raises OutcomeUnknownError where the store did not report the outcome.
        seen: Returns whether the change is in place now.
        refused: Raised when the change definitely did not take effect.
        properties: `commit.status-check.*` says how often and how long the store is asked.
        environment: Clock and sleep.

    Raises:
        CommitStateUnknownException: The outcome could not be found.
    """
    # A property that is no number is refused before the change, when nothing has to be cleaned up.
    policy = RetryPolicy.of_status_checks(properties)
    try:
        return change()
    except OutcomeUnknownError as error:
        cause = error.__cause__ if error.__cause__ is not None else error
        took_effect = _find(error, seen, policy, environment)
        if took_effect is None:
            raise CommitStateUnknownException(
                f"{subject}: the catalog did not report whether the change took effect; nothing was cleaned up. Refresh "
                f"and look before trying again: {error}"
            ) from cause
        if not took_effect:
            raise refused(f"{subject}: the change did not take effect, nothing has changed: {error}") from cause
        result: Result = error.result
        return result


def _find(
    error: OutcomeUnknownError, seen: Callable[[], bool], policy: RetryPolicy, environment: Environment
) -> bool | None:
    for _ in policy.attempts(environment):
        try:
            answer = error.ask()
            if answer is not None:
                return answer
            if seen():
                return True
        # Whatever fails here, the outcome stays unknown: any other error would read like a failure of the change.
        except Exception:  # noqa: BLE001, PERF203, S112
            continue
    return None
