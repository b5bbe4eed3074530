"""Iceberg tables in PySpark, no jar: read, write, merge, update and delete with DataFrames.

The driver or the Spark Connect client plans and commits. Executors run icefloe's Rust code on the tasks that it sends, so the wheel
must be installed there as well. Importing this package starts nothing. The names of `public` are loaded at their first use, because
executors need only the modules of their tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.spark.public import *  # noqa: F403 - `public.__all__` lists the names


def __getattr__(name: str) -> Any:
    missing = AttributeError(f"module 'icefloe.spark' has no attribute {name!r}")
    if name == "public":  # the import below asks for the attribute before it loads the module
        raise missing
    from icefloe.spark import public

    if name != "__all__" and name not in public.__all__:
        raise missing
    value = globals()[name] = getattr(public, name)
    return value


def __dir__() -> list[str]:
    from icefloe.spark import public

    return sorted({*globals(), *public.__all__})
