"""Tables: the handle of a table, its scans and its transactions.

The names of `public` are loaded at their first use, because importing a value such as `icefloe.table.snapshots` runs this file too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.table.public import *  # noqa: F403 - `public.__all__` lists the names


def __getattr__(name: str) -> Any:
    missing = AttributeError(f"module 'icefloe.table' has no attribute {name!r}")
    if name == "public":  # the import below asks for the attribute before it loads the module
        raise missing
    from icefloe.table import public

    if name != "__all__" and name not in public.__all__:
        raise missing
    value = globals()[name] = getattr(public, name)
    return value


def __dir__() -> list[str]:
    from icefloe.table import public

    return sorted({*globals(), *public.__all__})
