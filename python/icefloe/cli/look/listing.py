"""The verb `list`: namespaces and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pyarrow as pa

from icefloe.cli.table_argument import TableName
from icefloe.cli.verb import verb

if TYPE_CHECKING:
    from icefloe.catalog.catalog import Catalog
    from icefloe.cli.session import Session
    from icefloe.typedef import Identifier


@verb("list", returns="rows")
@click.argument("namespace", required=False, type=TableName())
@click.option("-r", "--recursive", is_flag=True, help="Also list what nested namespaces contain.")
def list_names(session: Session, namespace: str | None, recursive: bool) -> None:
    """List the namespaces and tables of the catalog, or of NAMESPACE."""
    levels = session.catalog.identifier_to_tuple(namespace.rstrip(".")) if namespace else ()
    found = _names(session.catalog, levels, recursive=recursive)
    kinds, names = ([kind for kind, _ in found], [".".join(name) for _, name in found])
    rows = pa.table({"type": pa.array(kinds, pa.string()), "name": pa.array(names, pa.string())})
    session.output.rows({"catalog": session.catalog.name, "namespace": namespace}, rows)


def _names(catalog: Catalog, namespace: Identifier, *, recursive: bool) -> list[tuple[str, Identifier]]:
    """Return kind and name of the namespaces and tables of a namespace, each namespace followed by its content."""
    found: list[tuple[str, Identifier]] = []
    for inner in catalog.list_namespaces(namespace):
        found.append(("namespace", inner))
        found += _names(catalog, inner, recursive=True) if recursive else []
    return found + [("table", table) for table in (catalog.list_tables(namespace) if namespace else [])]
