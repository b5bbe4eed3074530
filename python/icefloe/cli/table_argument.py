"""Arguments that name tables and versions of tables, with completion in shells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from icefloe.cli.failure import NotFoundError
from icefloe.cli.session import Session
from icefloe.exceptions import IcebergError, ValidationError
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.age import moment_ms

if TYPE_CHECKING:
    from icefloe.catalog.catalog import Catalog
    from icefloe.table import Table

    _TextParameter = click.ParamType[str]
else:
    _TextParameter = click.ParamType


class TableName(_TextParameter):
    """A table argument, completed with the namespaces and tables of the catalog."""

    name = "table"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what was typed; nothing if the catalog cannot be read."""
        if "/" in incomplete or incomplete.startswith("."):
            return [CompletionItem(incomplete, type="file")]
        session = ctx.find_object(Session) or Session()
        try:
            names = _names(session.catalog, incomplete)
        except (IcebergError, OSError, ImportError):
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _names(catalog: Catalog, typed: str) -> list[str]:
    """Return the namespaces and tables one level below the complete levels of a name."""
    namespace = tuple(typed.split(".")[:-1])
    deeper = [".".join(one) + "." for one in catalog.list_namespaces(namespace)]
    return deeper + ([".".join(one) for one in catalog.list_tables(namespace)] if namespace else [])


table_argument = click.argument("table", type=TableName())
"""The argument TABLE."""
at_option = click.option(
    "--at",
    metavar="VERSION",
    help="A snapshot id, a branch or tag, a time such as 2026-11-01T00:00Z, or an age such as 7d.  [default: current]",
)
"""The option --at, a version of the table."""


def snapshot_id_of(table: Table, version: str | None) -> int | None:
    """Return the snapshot that a text names: an id, a branch or tag, a time or an age. None is the current snapshot.

    Raises:
        NotFoundError: The table has no such snapshot.
        ValidationError: The text is no version.
    """
    if version is None:
        return table.metadata.current_snapshot_id
    if version in table.metadata.refs:
        return table.metadata.refs[version].snapshot_id
    if version.isascii() and version.isdigit():
        if table.snapshot_by_id(int(version)) is None:
            raise NotFoundError(f"table {'.'.join(table.name())}: no snapshot {version}; it may have been expired")
        return int(version)
    try:
        time_ms = moment_ms(version, SYSTEM.now_ms(), "version")
    except ValidationError:
        refs = ", ".join(sorted(table.metadata.refs)) or "none"
        raise NotFoundError(
            f"table {'.'.join(table.name())}: {version!r} is no snapshot id, branch, tag, time or age; branches and tags: {refs}"
        ) from None
    snapshot = table.snapshot_as_of_timestamp(time_ms)
    if snapshot is None:
        raise NotFoundError(f"table {'.'.join(table.name())}: no snapshot was current at {version}")
    return snapshot.snapshot_id


def display_name(table: Table) -> str:
    """Return the name of a table, its metadata location if it has no catalog."""
    return table.metadata_location if table.catalog.name == "none" else ".".join(table.name())
