"""The current catalog and namespace of a session, which USE sets for the statements of ``icefloe.spark.sql``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.spark.session import session_key
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from icefloe.typedef import Identifier

_CURRENT: dict[str, CurrentNamespace] = {}
_PLAIN_NAME = re.compile(r"(?!\d+$)\w+", re.ASCII)


@dataclass(frozen=True)
class CurrentNamespace:
    """The attached catalog, and the namespace in it, to which names are relative.

    Args:
        catalog: Name of the attached catalog.
        namespace: The namespace; empty for the catalog alone.
    """

    catalog: str
    namespace: Identifier = ()

    @property
    def quoted_namespace(self) -> str:
        """The namespace as Spark shows it: parts between dots, in backquotes where a part is no plain name.

        Examples:
            >>> CurrentNamespace("lake", ("a b", "c")).quoted_namespace
            '`a b`.c'
        """
        return ".".join(part if _PLAIN_NAME.fullmatch(part) else quoted(part) for part in self.namespace)


def current_namespace(spark: Any) -> CurrentNamespace | None:
    """Return the current catalog and namespace of a session; None where names are relative to Spark's own."""
    return _CURRENT.get(session_key(spark))


def set_current_namespace(spark: Any, current: CurrentNamespace | None) -> None:
    """Set the current catalog and namespace of a session, for its statements of ``icefloe.spark.sql`` alone.

    Args:
        spark: Session.
        current: The catalog and the namespace; None to leave names to Spark.
    """
    if current is None:
        _CURRENT.pop(session_key(spark), None)
    else:
        _CURRENT[session_key(spark)] = current
