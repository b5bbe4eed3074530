"""The error for a name in a catalog that is not attached, which Spark takes for a namespace of several parts in its own catalog."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import words_of
from icefloe.spark.session import is_connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.spark.statements.statement import Statement

_CONDITION = "REQUIRES_SINGLE_PART_NAMESPACE"
_NAMESPACE = "namespace"


@contextmanager
def unattached_catalogs_named(statement: Statement) -> Iterator[None]:
    """Raise an error that names the catalog where Spark refuses a name in a catalog that is not attached.

    Raises:
        ValidationError: The statement names a table in a namespace of several parts, which Spark's own catalog does not have.
    """
    try:
        yield
    except (AnalysisException, ValidationError) as error:
        # A change of rows raises an error of its own from one of Spark.
        refusal = error if isinstance(error, AnalysisException) else error.__cause__
        if not isinstance(refusal, AnalysisException) or refusal.getCondition() != _CONDITION:
            raise
        namespace = (refusal.getMessageParameters() or {}).get(_NAMESPACE, "")
        raise ValidationError(_not_attached(statement, namespace)) from error


def _not_attached(statement: Statement, namespace: str) -> str:
    """Return the message for a namespace of several parts, in backquotes."""
    words = words_of(namespace)
    name = words[0].text if words else namespace
    advice = f"call icefloe.spark.attach(session, catalog, name={name!r}, views=False) before the statement"
    if is_connect(statement.spark):
        advice = (
            "over Spark Connect, a function of foreachBatch runs in a process of the server, which has no catalogs: load the catalog in "
            f"the function, and {advice}"
        )
    else:
        advice += ", in this session if other sessions have attached several catalogs by this name"
    return (
        f"SQL: no catalog {name!r} is attached to the session; expected one of {', '.join(statement.lakes) or 'no attached catalog'}, got "
        f"{namespace}: {advice}"
    )
