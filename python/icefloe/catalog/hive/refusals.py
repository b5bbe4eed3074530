"""Replies of a metastore by which a change does not take effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.catalog.hive.client import CallRefusedError
from icefloe.exceptions import IcebergError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.catalog.outcome import OutcomeUnknownError


class MissingError(Exception):
    """The metastore has no such table or database. Internal to the Hive catalog."""


class RefusedChangeError(StorageError):
    """The metastore refused a change of an entry, and nothing has changed."""


def is_refused_because(error: OutcomeUnknownError, reason: Callable[[], bool]) -> bool:
    """Return whether the metastore replied to a change, and a reason for which it cannot have taken effect can be read back."""
    try:
        return isinstance(error.__cause__, CallRefusedError) and reason()
    except IcebergError:
        return False
