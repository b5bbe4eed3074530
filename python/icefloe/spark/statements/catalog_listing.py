"""The namespaces and tables of an attached catalog, without the ones that the catalog refuses to list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ForbiddenError, NoSuchNamespaceError, UnauthorizedError
from icefloe.spark.statements.shown_table import warn_caller

_REFUSALS = (ForbiddenError, UnauthorizedError)
"""Errors of missing permissions: the namespace is left out. Any other error is raised, and the entries in Spark's catalog stay."""

if TYPE_CHECKING:
    from icefloe.catalog import Catalog
    from icefloe.typedef import Identifier


def listed_namespaces(catalog: Catalog) -> list[Identifier]:
    """Return the namespaces of a catalog at every depth; a warning names each namespace whose own namespaces may not be listed.

    Args:
        catalog: The catalog.

    Raises:
        IcebergError: The catalog does not list its first level of namespaces.
    """
    return _with_inner(catalog, catalog.list_namespaces())


def _with_inner(catalog: Catalog, namespaces: list[Identifier]) -> list[Identifier]:
    found = []
    for namespace in namespaces:
        found += [namespace, *_with_inner(catalog, _namespaces_in(catalog, namespace))]
    return found


def _namespaces_in(catalog: Catalog, parent: Identifier) -> list[Identifier]:
    try:
        return [one for one in catalog.list_namespaces(parent) if len(one) > len(parent)]
    except NoSuchNamespaceError:  # dropped since it was listed
        return []
    except _REFUSALS as error:
        warn_caller(f"attach: the namespaces in {'.'.join(parent)} are left out: {error}")
        return []


def listed_tables(catalog: Catalog, namespace: Identifier, database: str) -> list[Identifier]:
    """Return the tables of a namespace; none if they may not be listed, with a warning unless there is no such namespace.

    Args:
        catalog: The catalog.
        namespace: The namespace.
        database: Spark's database of the namespace.
    """
    try:
        return catalog.list_tables(namespace)
    except NoSuchNamespaceError:  # dropped since it was listed
        return []
    except _REFUSALS as error:
        warn_caller(f"attach: the tables of namespace {'.'.join(namespace)} are left out of {database}: {error}")
        return []
