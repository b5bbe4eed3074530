"""A procedure of the Java runtime: parameters, result columns, and the place where it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, SupportsIndex

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from icefloe.catalog import Catalog
    from icefloe.table import Table
    from icefloe.typedef import Identifier

    Arguments = Mapping[str, Any]
    Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Caller:
    """The place where a procedure runs.

    Attributes:
        catalog: The catalog of names of tables; None if the table is given as an object and the procedure needs no other.
        spark: The session whose cluster does the work; None for this process.
        lake: The name in SQL of the attached catalog, which may precede names of tables.
        namespace: The namespace to which a name of one part is relative.
    """

    catalog: Catalog | None = None
    spark: Any = None
    lake: str | None = None
    namespace: Identifier = ()

    def table(self, arguments: Arguments) -> Table:
        """Return the table of the argument `table`: an object, or a name of the catalog."""
        given = arguments["table"]
        if not isinstance(given, str):
            return given  # type: ignore[no-any-return] # checked to be a table where arguments are bound
        return self.named_catalog().load_table(self.identifier(given))

    def identifier(self, name: str) -> Identifier:
        """Return the identifier of a table's name, whose parts may be in backquotes."""
        cursor = Cursor(name)
        parts = tuple(cursor.names())
        cursor.finish()
        if self.lake is not None and len(parts) > 2 and parts[0].lower() == self.lake:
            return parts[1:]
        return (*self.namespace, *parts) if len(parts) == 1 else parts

    def named_catalog(self) -> Catalog:
        """Return the catalog.

        Raises:
            ValidationError: No catalog was given.
        """
        if self.catalog is None or not hasattr(self.catalog, "load_table"):
            raise ValidationError(f"call: expected catalog=..., which has the tables' names, got {self.catalog!r}")
        return self.catalog


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """A procedure.

    Attributes:
        parameters: Spark type of each parameter, in order.
        required: Names of the parameters without a default.
        returns: DDL of the rows that the procedure returns.
        run: Makes the change and returns the rows.
        many_rows: Whether the procedure returns any number of rows instead of one.
    """

    parameters: dict[str, str]
    required: tuple[str, ...]
    returns: str
    run: Callable[[Caller, Mapping[str, Any]], list[tuple[Any, ...]]]
    many_rows: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the procedure returns."""
        return [column.split()[0] for column in self.returns.split(",")]

    def bind(self, name: str, positional: Sequence[Any], named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """Return arguments by the names of parameters; a value None counts as absent.

        Args:
            name: The procedure, for errors.
            positional: Values of the first parameters.
            named: Name and value of other parameters.

        Raises:
            ValidationError: A parameter does not exist, is given twice or is missing.
        """
        known = list(self.parameters)
        if len(positional) > len(known):
            raise ValidationError(
                f"CALL {name}: expected at most {len(known)} arguments ({', '.join(known)}), got {len(positional)}"
            )
        values = dict(zip(known, positional, strict=False))
        for key, value in named:
            if key not in self.parameters:
                raise ValidationError(f"CALL {name}: expected one of the parameters {', '.join(known)}, got {key!r}")
            if key in values:
                raise ValidationError(f"CALL {name}: parameter {key!r} is given twice; expected one value")
            values[key] = value
        missing = [key for key in self.required if key not in values]
        if missing:
            raise ValidationError(
                f"CALL {name}: parameter {missing[0]!r} is missing; expected {', '.join(self.required)}"
            )
        null = [key for key in self.required if values[key] is None]
        if null:
            raise ValidationError(f"CALL {name}: parameter {null[0]!r} is null; expected a value")
        return {key: value for key, value in values.items() if value is not None}

    def check_types(self, name: str, arguments: Arguments) -> None:
        """Check Python values against the types of parameters.

        Raises:
            ValidationError: A value is of another type.
        """
        for key, value in arguments.items():
            wanted = self.parameters[key]
            if not _is_of(wanted, value) and not (key == "table" and hasattr(value, "maintenance")):
                expected = "a Table or its name" if key == "table" else _EXPECTED[wanted]
                raise ValidationError(f"CALL {name}: {key}: expected {expected}, got {value!r}")


_EXPECTED = {
    "string": "text",
    "int": "a whole number",
    "bigint": "a whole number",
    "boolean": "True or False",
    "timestamp": "a datetime or an ISO 8601 text",
    "array<string>": "a list of texts",
    "array<bigint>": "a list of whole numbers",
    "map<string,string>": "a mapping of texts to texts",
}


def _is_of(wanted: str, value: Any) -> bool:
    """Return whether a Python value is of a Spark type."""
    if wanted.startswith("array<"):
        is_list = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
        return is_list and all(_is_of(wanted[6:-1], one) for one in value)
    if wanted.startswith("map<"):
        return isinstance(value, Mapping) and all(isinstance(one, str) for item in value.items() for one in item)
    if wanted == "boolean":
        return isinstance(value, bool)
    if wanted in ("int", "bigint"):
        # Integers of NumPy are no `int`.
        return isinstance(value, SupportsIndex) and not isinstance(value, bool)
    return isinstance(value, (str, datetime) if wanted == "timestamp" else str)
