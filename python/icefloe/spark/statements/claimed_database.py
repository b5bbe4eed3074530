"""A database of Spark's own catalog that holds tables of an attached catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from icefloe.spark.session_catalog import SessionCatalog


def claim_database(spark: Any, session: SessionCatalog, name: str, database: str) -> None:
    """Create a database of attached tables, in place of the one that an earlier session has left.

    Args:
        spark: Session.
        session: Spark's own catalog of the session.
        name: Name of the attached catalog in SQL.
        database: Name of the database.

    Raises:
        ValidationError: Spark has a database of that name that is not of the attached catalog.
    """
    comment = f"Tables of catalog {name}, attached by icefloe"
    if session.database_exists(database):
        if spark.catalog.getDatabase(database).description != comment:
            raise ValidationError(
                f"attach: Spark has a database {database!r} of its own; expected a name whose databases are free, got "
                f"{name!r}: pass name='...', or views=False"
            )
        spark.sql(f"DROP DATABASE {database} CASCADE")
    session.create_database(database, comment)
