"""The namespaces and tables of an attached catalog, without the ones that the catalog refuses to list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ForbiddenError, NoSuchNamespaceError, UnauthorizedError
from icefloe.spark.statements.shown_table import warn_caller

_REFUSALS = (ForbiddenError, UnauthorizedError)
"""Errors of missing permissions: the namespace is left out. Any other error is raised, and the entries in Spark's catalog stay."""

if TYPE_CHECKING:
    from collections.abc import Collection

    from icefloe.catalog import Catalog
    from icefloe.typedef import Identifier


class CatalogListing:
    """The listings of a catalog. A refused listing issues one warning, until it succeeds or :meth:`warn_again` is called.

    Args:
        catalog: The catalog.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._refused: set[tuple[str, Identifier]] = set()

    def warn_again(self) -> None:
        """Issue a warning for each listing that is refused from now on, also where there was one before."""
        self._refused.clear()

    def namespaces(self, known: Collection[Identifier] = ()) -> list[Identifier]:
        """Return the namespaces of the catalog at every depth.

        Args:
            known: Namespaces that stay if the namespaces of their parent may not be listed; others in that parent are left out.

        Raises:
            IcebergError: The catalog does not list its first level of namespaces.
        """
        return self._with_inner(self._catalog.list_namespaces(), known)

    def tables(self, namespace: Identifier, database: str, *, only_new: bool) -> list[Identifier] | None:
        """Return the tables of a namespace, none if there is no such namespace; None if they may not be listed.

        Args:
            namespace: The namespace.
            database: Spark's database of the namespace.
            only_new: Whether the entries in Spark's catalog stay if the tables may not be listed, for the warning.
        """
        try:
            tables = self._catalog.list_tables(namespace)
        except NoSuchNamespaceError:  # dropped since it was listed
            return []
        except _REFUSALS as error:
            left_out = (
                f"{'new' if only_new else 'the'} tables of namespace {'.'.join(namespace)} are left out of {database}"
            )
            self._warn("tables", namespace, left_out, error)
            return None
        self._refused.discard(("tables", namespace))
        return tables

    def _with_inner(self, namespaces: list[Identifier], known: Collection[Identifier]) -> list[Identifier]:
        found = []
        for namespace in namespaces:
            kept = [one for one in known if one[:-1] == namespace]
            inner = self._namespaces_in(namespace, only_new=bool(kept))
            found += [namespace, *self._with_inner(kept if inner is None else inner, known)]
        return found

    def _namespaces_in(self, parent: Identifier, *, only_new: bool) -> list[Identifier] | None:
        """Return the namespaces of a namespace, none if there is no such namespace; None if they may not be listed."""
        try:
            inner = [one for one in self._catalog.list_namespaces(parent) if len(one) > len(parent)]
        except NoSuchNamespaceError:  # dropped since it was listed
            return []
        except _REFUSALS as error:
            left_out = f"{'new' if only_new else 'the'} namespaces in {'.'.join(parent)} are left out"
            self._warn("namespaces", parent, left_out, error)
            return None
        self._refused.discard(("namespaces", parent))
        return inner

    def _warn(self, listing: str, namespace: Identifier, left_out: str, error: Exception) -> None:
        if (listing, namespace) not in self._refused:
            self._refused.add((listing, namespace))
            warn_caller(f"attach: {left_out}: {error}")
