"""Finding the outcome of a change whose reply was lost."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from icefloe.exceptions import CommitStateUnknownException, ServiceUnavailableError
from icefloe.table.commit.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.environment import Environment
    from icefloe.typedef import Properties

Result = TypeVar("Result")


def run_provable_change(
    change: Callable[[], Result],
    proof: Callable[[], Result | None],
    properties: Properties,
    environment: Environment,
) -> Result:
    """Run a change and return its result; if its outcome is unknown, search for a proof that it took effect.

    A change that is not found may still be on its way to the server: its outcome remains unknown. After status 503, by which a proxy may
    report its own failure, the proof is read once.

    Args:
        change: Makes the change.
        proof: Returns the result if the effect of the change can be read back, else None.
        properties: Table properties; `commit.status-check.*` limits the search.
        environment: Clock and sleep.

    Raises:
        CommitStateUnknownException: No proof was found.
        ServiceUnavailableError: No proof was found after status 503.
    """
    # An invalid property is an error before the change.
    policy = RetryPolicy.of_status_checks(properties)
    try:
        return change()
    except (CommitStateUnknownException, ServiceUnavailableError) as error:
        attempts = policy.attempts(environment)
        for _ in attempts if isinstance(error, CommitStateUnknownException) else islice(attempts, 1):
            try:
                found = proof()
            # After an error the outcome is still unknown; raising it would look like a failure of the change.
            except Exception:  # noqa: BLE001, S112
                continue
            if found is not None:
                return found
        raise
