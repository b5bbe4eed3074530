"""A table as Spark's own catalog shows it."""

from __future__ import annotations

import hashlib
import inspect
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from icefloe.schema import Schema
    from icefloe.typedef import Identifier


@dataclass(frozen=True)
class ShownTable:
    """A table as Spark's own catalog shows it.

    Args:
        identifier: Identifier of the table.
        database: Spark's database of the table.
        table: Name of the table in the database.
        catalog: Name of the attached catalog.
        schema: Schema of the table.
        struct: Spark's type of its rows, nullable at every depth.
    """

    identifier: Identifier
    database: str
    table: str
    catalog: str
    schema: Schema
    struct: StructType

    @property
    def format_name(self) -> str:
        """The name of the table's data source in the session."""
        digest = hashlib.sha256("\0".join(self.identifier).encode()).hexdigest()[:12]
        return f"icefloe_{self.catalog}_{digest}"


def warn_caller(text: str) -> None:
    """Issue a `UserWarning` at the line that called this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("icefloe."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
