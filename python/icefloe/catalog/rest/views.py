"""Views of a REST catalog. Their SQL is text that this package does not read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.catalog.identifiers import dotted, to_identifier
from icefloe.catalog.rest import endpoints
from icefloe.catalog.rest.lost_change import run_provable_change
from icefloe.catalog.rest.replies import Call, Reply
from icefloe.catalog.rest.tables import listed_identifiers
from icefloe.exceptions import NoSuchNamespaceError, NoSuchViewError
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.catalog.rest.requests import Requests
    from icefloe.table.environment import Environment
    from icefloe.typedef import Identifier


@dataclass(frozen=True)
class View:
    """A view as its catalog describes it.

    Attributes:
        identifier: Namespace levels and name.
        metadata: The JSON object of the view's metadata, as in the view specification.
        metadata_location: The location of its file.
    """

    identifier: Identifier
    metadata: Mapping[str, Any] = field(repr=False)
    metadata_location: str = ""

    def name(self) -> Identifier:
        """Return namespace levels and name."""
        return self.identifier

    @property
    def properties(self) -> dict[str, str]:
        """The view's properties."""
        return dict(self.metadata.get("properties") or {})

    @property
    def current_version(self) -> dict[str, Any]:
        """The JSON object of the current version; empty if the metadata has none."""
        number = self.metadata.get("current-version-id")
        versions = self.metadata.get("versions") or []
        return next((dict(version) for version in versions if version.get("version-id") == number), {})

    def sql(self, dialect: str | None = None) -> str | None:
        """Return the SQL text of the current version, unchanged.

        Args:
            dialect: The dialect, such as `spark`; None for the first.

        Returns:
            The text; None if the view has none in this dialect.
        """
        for text in self.current_version.get("representations") or []:
            if text.get("type") == "sql" and (dialect is None or str(text.get("dialect")).lower() == dialect.lower()):
                return str(text["sql"])
        return None


class RestViews:
    """Requests for views.

    Args:
        requests: Sends the requests.
        environment: Clock and sleep.
    """

    def __init__(self, requests: Requests, environment: Environment) -> None:
        self._requests = requests
        self._environment = environment

    def listed(self, namespace: str | Identifier) -> list[Identifier]:
        """Return the identifiers of the views of a namespace, sorted; none if the server has no views."""
        levels = to_identifier(namespace)
        if not self._requests.offers(endpoints.LIST_VIEWS):
            return []
        call = Call(f"namespace {dotted(levels)}: list of views", missing=NoSuchNamespaceError)
        return listed_identifiers(self._requests, call, endpoints.LIST_VIEWS, levels)

    def load(self, identifier: str | Identifier) -> View:
        """Return a view."""
        levels = _levels(identifier)
        call = Call(f"view {dotted(levels)}", missing=NoSuchViewError)
        body = self._requests.send(call, endpoints.LOAD_VIEW, levels[:-1], levels[-1]).body
        metadata, location = body.get("metadata"), body.get("metadata-location")
        if not isinstance(metadata, dict) or not isinstance(location, str):
            raise self._requests.unreadable(
                call,
                endpoints.LOAD_VIEW,
                levels[:-1],
                levels[-1],
                expected="`metadata` and `metadata-location` of a view",
            )
        return View(levels, metadata, location)

    def exists(self, identifier: str | Identifier) -> bool:
        """Return whether a view exists."""
        levels = to_identifier(identifier)
        offered = [it for it in (endpoints.VIEW_EXISTS, endpoints.LOAD_VIEW) if self._requests.offers(it)]
        if len(levels) < 2 or not offered:
            return False
        call = Call(f"view {dotted(levels)}", missing=NoSuchViewError)
        try:
            body = self._requests.send(call, offered[0], levels[:-1], levels[-1]).body
            if offered[0] == endpoints.LOAD_VIEW and "metadata" not in body:
                raise self._requests.unreadable(
                    call, offered[0], levels[:-1], levels[-1], expected="`metadata` of a view"
                )
        except (NoSuchViewError, NoSuchNamespaceError):
            return False
        return True

    def drop(self, identifier: str | Identifier) -> None:
        """Remove a view."""
        levels = _levels(identifier)
        call = Call(f"view {dotted(levels)}: removal", changes=True, missing=NoSuchViewError)
        run_provable_change(
            lambda: self._requests.send(call, endpoints.DROP_VIEW, levels[:-1], levels[-1]),
            lambda: None if self.exists(levels) else Reply(204, {}),
            EMPTY_DICT,
            self._environment,
        )


def _levels(identifier: str | Identifier) -> Identifier:
    levels = to_identifier(identifier)
    if len(levels) < 2:
        raise NoSuchViewError(f"{identifier!r} is not the name of a view; expected 'namespace.view'")
    return levels
