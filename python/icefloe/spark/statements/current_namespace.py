"""The current catalog and namespace of a session, which USE sets for the statements of ``icefloe.spark.sql``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.spark.session import is_connect, session_key
from icefloe.spark.session_lineage import lineage
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from icefloe.typedef import Identifier

_CURRENT: dict[str, CurrentNamespace | None] = {}
_SETTING = "spark.icefloe.namespace"
"""The setting that the copies which Spark makes of a session begin with, as they begin with its current database."""
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
    key = session_key(spark)
    if key not in _CURRENT:
        recorded = spark.conf.get(_SETTING, "") if len(lineage(spark)) > 1 else ""
        catalog, *namespace = json.loads(recorded) if recorded else (None,)
        _CURRENT[key] = None if catalog is None else CurrentNamespace(catalog, tuple(namespace))
    return _CURRENT[key]


def set_current_namespace(spark: Any, current: CurrentNamespace | None) -> None:
    """Set the current catalog and namespace of a session, for its statements of ``icefloe.spark.sql`` alone.

    Args:
        spark: Session.
        current: The catalog and the namespace; None to leave names to Spark.
    """
    _CURRENT[session_key(spark)] = current
    if is_connect(spark):
        return
    if current is None:
        spark.conf.unset(_SETTING)
    else:
        spark.conf.set(_SETTING, json.dumps([current.catalog, *current.namespace]))
