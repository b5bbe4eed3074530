"""Finding the outcome of a catalog change that the catalog's store did not report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.table.commit.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.environment import Environment
    from icefloe.typedef import Properties

Result = TypeVar("Result")


def no_record() -> bool | None:
    """Return None: the store has no record of the outcome of its changes."""
    return None


class OutcomeUnknownError(Exception):
    """A store did not report whether it made a change; internal to catalogs.

    Args:
        reason: The error that was reported instead.
        result: The result of the change if it took effect.
        recorded_outcome: Queries the store's record: True if the change took effect, False if it never will, None if the store has
            no record.
        conflict: The error to raise if the effect is not visible. The store refused the change, which may be a repetition that
            conflicts with its own effect; None if the change may still be on the way to the store.
    """

    def __init__(
        self,
        reason: str,
        result: Any = None,
        recorded_outcome: Callable[[], bool | None] = no_record,
        conflict: IcebergError | None = None,
    ) -> None:
        super().__init__(reason)
        self.result = result
        self.recorded_outcome = recorded_outcome
        self.conflict = conflict


def run_change(  # noqa: PLR0913 - each is one part of the change or of the search for its outcome
    subject: str,
    change: Callable[[], Result],
    *,
    is_visible: Callable[[], bool],
    rejected: type[IcebergError],
    properties: Properties,
    environment: Environment,
) -> Result:
    """Run a change and return its result; find its outcome if the store does not report it.

    The store's record of the change decides. Without a record, a change that is visible took effect. If it is not visible, a change
    that the store refused did not take effect; the outcome of another is unknown, as its request may still be on the way to the store.

    Args:
        subject: The change, for error messages.
        change: Makes the change; raises OutcomeUnknownError if the store does not report the outcome.
        is_visible: Returns whether the effect of the change can be read back.
        rejected: Raised if the change definitely did not take effect.
        properties: Table properties; `commit.status-check.*` limits the search for the outcome.
        environment: Clock and sleep.

    Raises:
        CommitStateUnknownException: The outcome could not be found.
        IcebergError: `conflict` of the OutcomeUnknownError, if the change is not visible.
    """
    # An invalid property is an error before the change, when there is nothing to clean up.
    policy = RetryPolicy.of_status_checks(properties)
    try:
        return change()
    except OutcomeUnknownError as error:
        cause = error.__cause__ if error.__cause__ is not None else error
        took_effect = _find(error, is_visible, policy, environment)
        if took_effect is None:
            raise CommitStateUnknownException(
                f"{subject}: unknown whether the change took effect, since the catalog did not report it; nothing was cleaned up. "
                f"Refresh and check for the change before you repeat it: {error}"
            ) from cause
        if not took_effect and error.conflict is not None:
            raise error.conflict from cause
        if not took_effect:
            raise rejected(f"{subject}: the change did not take effect, nothing has changed: {error}") from cause
        result: Result = error.result
        return result


def visible_despite_conflict(is_visible: Callable[[], bool], subject: str, error: IcebergError) -> bool:
    """Return whether a change with a reported conflict is visible.

    Raises:
        CommitStateUnknownException: The table cannot be read back.
    """
    try:
        return is_visible()
    except IcebergError as failure:
        raise CommitStateUnknownException(
            f"{subject}: the catalog reported a conflict, and reading the table back failed, so it is unknown whether the change took effect; "
            f"nothing was cleaned up. Refresh and check for the change before you repeat it: {failure}"
        ) from error


def _find(
    error: OutcomeUnknownError, is_visible: Callable[[], bool], policy: RetryPolicy, environment: Environment
) -> bool | None:
    for _ in policy.attempts(environment):
        try:
            outcome = error.recorded_outcome()
            if outcome is not None:
                return outcome
            if is_visible():
                return True
            if error.conflict is not None:
                return False
        # After an error the outcome is still unknown; raising it would look like a failure of the change.
        except Exception:  # noqa: BLE001, PERF203, S112
            continue
    return None
