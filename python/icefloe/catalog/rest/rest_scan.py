"""Scans of tables in REST catalogs: planned here or by the server, and reported to the server."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from icefloe import _core
from icefloe.exceptions import RESTError, ValidationError
from icefloe.table.read_context import context_json
from icefloe.table.scan import DataScan, ScanPlan
from icefloe.table.scan.metadata_columns import METADATA_COLUMNS
from icefloe.types import ListType, MapType, StructType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.catalog.rest.server_plans import ServedPlan
    from icefloe.io import FileIO
    from icefloe.schema import Schema
    from icefloe.table.scan import ScanExplanation
    from icefloe.types import IcebergType


class ScanServer(Protocol):
    """The part of a REST catalog that plans scans of one table and receives reports."""

    @property
    def plans_scans(self) -> bool:
        """Whether the server plans scans of the table."""

    def plan_scan(self, request: dict[str, Any]) -> tuple[ServedPlan, FileIO]:
        """Return a plan of the server and the storage of its files."""

    def report_scan(self, scan: RestScan, plan: ScanPlan, duration_ns: int) -> None:
        """Report a planned scan; a failure is ignored."""


@dataclass(frozen=True)
class RestScan(DataScan):
    """A scan of one snapshot of a table in a REST catalog; see `DataScan`.

    With `scan-planning-mode=server` the server plans it; column statistics of files are then not available. Every planned scan
    is reported to servers with an endpoint for reports.

    Attributes:
        server: Plans scans and receives reports; None for a scan that does neither.
    """

    server: ScanServer | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Connections stay in this process: a pickled scan is planned where it is read, and not reported.
        return {**self.__dict__, "server": None}

    def explain(self, footers: bool | None = None) -> ScanExplanation:
        """Return what a plan of this process reads and skips, even if the server plans the scan; see `DataScan.explain`."""
        return super(RestScan, replace(self, server=None)).explain(footers)

    def _plan(self, *, split_size: int | None, include_stats: bool = False) -> ScanPlan:
        if self.server is None:
            return super()._plan(split_size=split_size, include_stats=include_stats)
        started = time.monotonic_ns()
        if self.server.plans_scans and not include_stats and self._may_have_files():
            plan = self._plan_of_server(self.server, split_size)
        else:
            plan = super()._plan(split_size=split_size, include_stats=include_stats)
        self.server.report_scan(self, plan, time.monotonic_ns() - started)
        return plan

    def _plan_of_server(self, server: ScanServer, split_size: int | None) -> ScanPlan:
        row_filter = self.resolved_filter().json
        served, io = server.plan_scan(self._request(row_filter))
        schema = self.schema()
        context = context_json(self.table_metadata, schema, case_sensitive=self.case_sensitive)
        try:
            planned = _core.served_plan(served.replies, context, filter=row_filter, split_size=split_size)
        except ValidationError as error:
            raise RESTError(
                f"{self.table_name}: plan of a scan: the reply of the server is not valid: {error}"
            ) from error
        context = self._selection().read_context(context)
        return ScanPlan(
            planned.files, planned.deletes, dict(planned.counters), context, self.projection_json(), io, self.limit
        )

    def _may_have_files(self) -> bool:
        return self.snapshot() is not None and rest_expression(self.resolved_filter().json) is not False

    def _request(self, row_filter: str) -> dict[str, Any]:
        """Return the JSON object that asks the server for a plan."""
        snapshot = self.snapshot()
        request: dict[str, Any] = {
            "case-sensitive": self.case_sensitive,
            "use-snapshot-schema": self.snapshot_id is not None and not self.ref_is_branch,
        }
        expression = rest_expression(row_filter)
        if expression is not True:
            request["filter"] = expression
        if snapshot is not None:
            request["snapshot-id"] = snapshot.snapshot_id
        if "*" not in self.selected_fields:
            names = [name for name in self.selected_fields if name not in METADATA_COLUMNS]
            request["select"] = list(dict.fromkeys(names))
        return request


def rest_expression(text: str) -> Any:
    """Return a filter as the JSON value of the protocol, in which the constants are booleans.

    Examples:
        >>> rest_expression('{"type": "not", "child": {"type": "true"}}')
        {'type': 'not', 'child': True}
    """
    return _with_booleans(json.loads(text))


def _with_booleans(expression: Any) -> Any:
    if not isinstance(expression, dict):
        return expression
    if expression.get("type") in ("true", "false"):
        return expression["type"] == "true"
    sides = {side: _with_booleans(expression[side]) for side in ("left", "right", "child") if side in expression}
    return {**expression, **sides}


def projected_columns(schema: Schema) -> Iterator[tuple[int, str]]:
    """Yield the id and the full name of each column of a schema, nested columns included."""
    yield from _columns(schema.as_struct(), "")


def _columns(kind: IcebergType, prefix: str) -> Iterator[tuple[int, str]]:
    if isinstance(kind, StructType):
        parts = [(one.field_id, one.name, one.field_type) for one in kind.fields]
    elif isinstance(kind, ListType):
        parts = [(kind.element_id, "element", kind.element_type)]
    elif isinstance(kind, MapType):
        parts = [(kind.key_id, "key", kind.key_type), (kind.value_id, "value", kind.value_type)]
    else:
        return
    for field_id, name, inner in parts:
        yield field_id, f"{prefix}{name}"
        yield from _columns(inner, f"{prefix}{name}.")
