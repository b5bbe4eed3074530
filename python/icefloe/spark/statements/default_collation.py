"""The default collation of a table: a property by which nothing compares, as in the Java runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from icefloe.exceptions import ValidationError
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from icefloe.spark.statements.statement import Statement

COLLATION = "collation"
"""The property of a table."""


def collation_named(statement: Statement, name: str) -> str:
    """Return the name of a collation as Spark writes it.

    Raises:
        ValidationError: Spark has no such collation.
    """
    parts = ".".join(quoted(part) for part in name.split("."))
    try:
        (full_name,) = statement.values([f"collation('' COLLATE {parts})"])
    except (PySparkException, Py4JJavaError) as error:
        raise ValidationError(
            f"DEFAULT COLLATION: Spark has no collation {name}; expected one of SELECT * FROM collations(), got {name}"
        ) from error
    return str(full_name).rsplit(".", maxsplit=1)[-1]
