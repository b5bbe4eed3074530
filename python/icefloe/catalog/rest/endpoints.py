"""Endpoints of the REST protocol: the paths of requests, and the endpoints that a server offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from icefloe.exceptions import FeatureUnsupportedError, InvalidIdentifierError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.typedef import Identifier

DEFAULT_SEPARATOR = "%1F"

_NAMESPACES = "/v1/{prefix}/namespaces"
_NAMESPACE = f"{_NAMESPACES}/{{namespace}}"
_TABLES = f"{_NAMESPACE}/tables"
_TABLE = f"{_TABLES}/{{table}}"
_VIEWS = f"{_NAMESPACE}/views"
_VIEW = f"{_VIEWS}/{{view}}"

LIST_NAMESPACES = f"GET {_NAMESPACES}"
CREATE_NAMESPACE = f"POST {_NAMESPACES}"
LOAD_NAMESPACE = f"GET {_NAMESPACE}"
NAMESPACE_EXISTS = f"HEAD {_NAMESPACE}"
DROP_NAMESPACE = f"DELETE {_NAMESPACE}"
UPDATE_NAMESPACE = f"POST {_NAMESPACE}/properties"
LIST_TABLES = f"GET {_TABLES}"
CREATE_TABLE = f"POST {_TABLES}"
REGISTER_TABLE = f"POST {_NAMESPACE}/register"
LOAD_TABLE = f"GET {_TABLE}"
TABLE_EXISTS = f"HEAD {_TABLE}"
COMMIT_TABLE = f"POST {_TABLE}"
DROP_TABLE = f"DELETE {_TABLE}"
RENAME_TABLE = "POST /v1/{prefix}/tables/rename"
REPORT_METRICS = f"POST {_TABLE}/metrics"
LOAD_CREDENTIALS = f"GET {_TABLE}/credentials"
SUBMIT_PLAN = f"POST {_TABLE}/plan"
FETCH_PLAN = f"GET {_TABLE}/plan/{{plan-id}}"
CANCEL_PLAN = f"DELETE {_TABLE}/plan/{{plan-id}}"
FETCH_TASKS = f"POST {_TABLE}/tasks"
COMMIT_TRANSACTION = "POST /v1/{prefix}/transactions/commit"
LIST_VIEWS = f"GET {_VIEWS}"
LOAD_VIEW = f"GET {_VIEW}"
VIEW_EXISTS = f"HEAD {_VIEW}"
DROP_VIEW = f"DELETE {_VIEW}"

# Offered by a server that lists no endpoints: the list came later than they did.
DEFAULT_ENDPOINTS = frozenset(
    {
        LIST_NAMESPACES,
        CREATE_NAMESPACE,
        LOAD_NAMESPACE,
        DROP_NAMESPACE,
        UPDATE_NAMESPACE,
        LIST_TABLES,
        CREATE_TABLE,
        REGISTER_TABLE,
        LOAD_TABLE,
        COMMIT_TABLE,
        DROP_TABLE,
        RENAME_TABLE,
        REPORT_METRICS,
        COMMIT_TRANSACTION,
    }
)
VIEW_ENDPOINTS = frozenset({LIST_VIEWS, LOAD_VIEW, DROP_VIEW})


@dataclass(frozen=True)
class Endpoints:
    """The endpoints of one server.

    Attributes:
        catalog: The catalog's name, for errors.
        uri: The catalog's address.
        prefix: Path of the catalog on a server with several catalogs; empty if it has one.
        separator: The separator of the levels of a namespace, percent-encoded.
        offered: Endpoints that the server offers, as `METHOD path template`.
    """

    catalog: str
    uri: str
    prefix: str = ""
    separator: str = DEFAULT_SEPARATOR
    offered: frozenset[str] = DEFAULT_ENDPOINTS

    def offers(self, endpoint: str) -> bool:
        """Return whether the server offers an endpoint."""
        return endpoint in self.offered

    def require(self, endpoint: str, subject: str) -> None:
        """Raise FeatureUnsupportedError unless the server offers an endpoint."""
        if endpoint not in self.offered:
            raise FeatureUnsupportedError(
                f"{subject}: the server of catalog {self.catalog!r} does not offer the endpoint {endpoint}; "
                "use a server that lists it in its configuration"
            )

    def path(self, endpoint: str, namespace: Identifier = (), name: str = "", plan_id: str = "") -> str:
        """Return the address of an endpoint's request.

        Args:
            endpoint: One of the constants of this module.
            namespace: Levels of the namespace in the path.
            name: Name of the table or view in the path.
            plan_id: Id of the scan's plan in the path.

        Examples:
            >>> Endpoints("prod", "http://catalog:8181/").path(LOAD_TABLE, ("a", "b"), "c/d")
            'http://catalog:8181/v1/namespaces/a%1Fb/tables/c%2Fd'
        """
        template = endpoint.partition(" ")[2]
        prefix = self.prefix.strip("/")
        template = template.replace("/{prefix}", f"/{prefix}" if prefix != "" else "")
        template = template.replace("{namespace}", self._joined(namespace, encoded(self.separator_text)))
        template = template.replace("{table}", encoded(name)).replace("{view}", encoded(name))
        template = template.replace("{plan-id}", encoded(plan_id))
        return f"{self.uri.rstrip('/')}{template}"

    def parent(self, namespace: Identifier) -> str:
        """Return the value of the query parameter `parent`, not percent-encoded."""
        self.check_levels(namespace)
        return self.separator_text.join(namespace)

    @property
    def separator_text(self) -> str:
        """The separator of namespace levels, decoded."""
        return unquote(self.separator)

    def check_levels(self, namespace: Identifier) -> None:
        """Raise InvalidIdentifierError if a level contains the separator: the server would read two levels."""
        for level in namespace:
            if self.separator_text in level:
                raise InvalidIdentifierError(
                    f"namespace level {level!r}: contains {self.separator_text!r}, which separates levels in requests to catalog "
                    f"{self.catalog!r}; expected a level without it"
                )

    def _joined(self, namespace: Identifier, separator: str) -> str:
        self.check_levels(namespace)
        return separator.join(encoded(level) for level in namespace)


def encoded(text: str) -> str:
    """Return text percent-encoded as one path segment; dots alone are encoded too, since clients remove such segments.

    Examples:
        >>> encoded("a b/c"), encoded("..")
        ('a%20b%2Fc', '%2E%2E')
    """
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")


def offered_endpoints(listed: Iterable[str] | None, *, with_views: bool) -> frozenset[str]:
    """Return the endpoints that a server offers.

    Args:
        listed: The list in its configuration; None or empty stands for the endpoints that came before the list.
        with_views: Whether a server without a list offers views.
    """
    known = frozenset(" ".join(endpoint.split()) for endpoint in listed) if listed is not None else frozenset()
    if known:
        return known
    return DEFAULT_ENDPOINTS | VIEW_ENDPOINTS if with_views else DEFAULT_ENDPOINTS
