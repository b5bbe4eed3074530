"""Namespaces of a REST catalog."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from icefloe.catalog.catalog import PropertiesUpdateSummary, property_changes
from icefloe.catalog.identifiers import dotted, to_identifier
from icefloe.catalog.rest import endpoints
from icefloe.catalog.rest.path_names import check_namespace_name
from icefloe.catalog.rest.replies import Call
from icefloe.exceptions import (
    InvalidIdentifierError,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
)
from icefloe.table.properties import properties_as_text

if TYPE_CHECKING:
    from typing import Any

    from icefloe.catalog.rest.requests import Requests
    from icefloe.typedef import Identifier, Properties


class RestNamespaces:
    """Requests for namespaces.

    Args:
        requests: Sends the requests.
    """

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    def create(self, namespace: str | Identifier, properties: Properties) -> None:
        """Create a namespace; see `Catalog.create_namespace`."""
        levels = _levels(namespace)
        self._requests.connection.endpoints.check_levels(levels)
        call = Call(
            f"namespace {dotted(levels)}: creation",
            changes=True,
            missing=NoSuchNamespaceError,
            errors={409: NamespaceAlreadyExistsError},
        )
        check_namespace_name(self._requests, levels)
        content = json.dumps({"namespace": levels, "properties": properties_as_text(properties)})
        body = self._requests.send(call, endpoints.CREATE_NAMESPACE, content=content).body
        if body and "namespace" not in body:
            raise self._requests.unreadable(call, endpoints.CREATE_NAMESPACE, (), expected="a list `namespace`")

    def drop(self, namespace: str | Identifier) -> None:
        """Drop an empty namespace; see `Catalog.drop_namespace`."""
        levels = _levels(namespace)
        call = Call(
            f"namespace {dotted(levels)}: removal",
            changes=True,
            missing=NoSuchNamespaceError,
            errors={409: NamespaceNotEmptyError},
        )
        self._requests.send(call, endpoints.DROP_NAMESPACE, levels)

    def listed(self, namespace: str | Identifier) -> list[Identifier]:
        """Return the namespaces directly below a namespace, sorted."""
        above = to_identifier(namespace)
        subject = f"namespace {dotted(above)}: list of namespaces" if above else "list of namespaces"
        call = Call(subject, missing=NoSuchNamespaceError)
        query = {"parent": self._requests.connection.endpoints.parent(above)} if above else {}
        found: set[Identifier] = set()
        for item in self._requests.listed(call, endpoints.LIST_NAMESPACES, "namespaces", query=query):
            levels = _texts(item)
            if levels is None:
                raise self._requests.unreadable(
                    call, endpoints.LIST_NAMESPACES, (), expected="a list of levels per namespace"
                )
            found.add(levels)
        return sorted(found)

    def properties(self, namespace: str | Identifier) -> Properties:
        """Return the properties of a namespace."""
        levels = _levels(namespace)
        call = Call(f"namespace {dotted(levels)}: properties", missing=NoSuchNamespaceError)
        body = self._requests.send(call, endpoints.LOAD_NAMESPACE, levels).body
        found = body.get("properties", {} if "namespace" in body else "")
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise self._requests.unreadable(
                call, endpoints.LOAD_NAMESPACE, levels, expected="a list `namespace` and a map `properties`"
            )
        return {str(name): str(value) for name, value in found.items()}

    def update(
        self, namespace: str | Identifier, removals: set[str] | None, updates: Properties
    ) -> PropertiesUpdateSummary:
        """Remove and set properties of a namespace; see `Catalog.update_namespace_properties`."""
        removed, texts = property_changes(removals, updates)
        levels = _levels(namespace)
        call = Call(f"namespace {dotted(levels)}: change of properties", changes=True, missing=NoSuchNamespaceError)
        content = json.dumps({"removals": sorted(removed), "updates": texts})
        body = self._requests.send(call, endpoints.UPDATE_NAMESPACE, levels, content=content).body
        lists = [_texts(body.get(key) or []) for key in ("removed", "updated", "missing")]
        if any(texts is None for texts in lists) or not body.keys() & {"removed", "updated"}:
            raise self._requests.unreadable(
                call, endpoints.UPDATE_NAMESPACE, levels, expected="lists `removed`, `updated` and `missing`"
            )
        return PropertiesUpdateSummary(*(sorted(texts) for texts in lists if texts is not None))

    def exists(self, namespace: str | Identifier) -> bool:
        """Return whether a namespace exists."""
        levels = to_identifier(namespace)
        if not levels:
            return False
        call = Call(f"namespace {dotted(levels)}", missing=NoSuchNamespaceError)
        try:
            if self._requests.offers(endpoints.NAMESPACE_EXISTS):
                self._requests.send(call, endpoints.NAMESPACE_EXISTS, levels)
            else:
                self.properties(levels)
        except NoSuchNamespaceError:
            return False
        return True


def _levels(namespace: str | Identifier) -> Identifier:
    levels = to_identifier(namespace)
    if not levels:
        raise InvalidIdentifierError("Empty namespace identifier: a namespace needs a name")
    return levels


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None
