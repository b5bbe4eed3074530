"""The name of the account that runs this process, the owner of new databases and tables."""

from __future__ import annotations

import getpass


def current_user() -> str:
    """Return the account's name, or `unknown` for an account without one."""
    try:
        return getpass.getuser()
    # KeyError before Python 3.13, OSError since.
    except (KeyError, OSError):
        return "unknown"
