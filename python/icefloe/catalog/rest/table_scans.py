"""Planning and reporting of the scans of one table in a REST catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.catalog.identifiers import dotted
from icefloe.catalog.rest.endpoints import SUBMIT_PLAN
from icefloe.catalog.rest.property_names import SCAN_PLANNING_MODE
from icefloe.exceptions import FeatureUnsupportedError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from icefloe.catalog.rest.endpoints import Endpoints
    from icefloe.catalog.rest.metrics_reports import MetricsReports
    from icefloe.catalog.rest.rest_scan import RestScan
    from icefloe.catalog.rest.server_plans import ServedPlan, ServerPlans
    from icefloe.catalog.rest.table_storage import StorageCredential
    from icefloe.io import FileIO
    from icefloe.table.scan import ScanPlan
    from icefloe.typedef import Identifier

_MODES = ("client", "server")


@dataclass(frozen=True)
class TableScans:
    """The scans of one table; implements `ScanServer`.

    Attributes:
        identifier: The table.
        plans_scans: Whether the server plans scans of the table.
        plans: Requests for plans.
        reports: Reports of scans.
        storage: Returns the table's storage with credentials that the server lends for one plan.
    """

    identifier: Identifier
    plans_scans: bool
    plans: ServerPlans
    reports: MetricsReports
    storage: Callable[[tuple[StorageCredential, ...]], FileIO]

    def plan_scan(self, request: dict[str, Any]) -> tuple[ServedPlan, FileIO]:
        """Return a plan of the server and the storage of its files."""
        served = self.plans.plan(self.identifier, request)
        return served, self.storage(served.credentials)

    def report_scan(self, scan: RestScan, plan: ScanPlan, duration_ns: int) -> None:
        """Report a planned scan; a failure is ignored."""
        self.reports.scan(self.identifier, scan, plan, duration_ns)


def check_planning_mode(catalog: str, properties: Mapping[str, str]) -> None:
    """Raise ValidationError unless `scan-planning-mode` is absent, `client` or `server`."""
    mode = properties.get(SCAN_PLANNING_MODE)
    if mode is not None and mode.lower() not in _MODES:
        raise ValidationError(
            f"catalog {catalog!r}: property {SCAN_PLANNING_MODE}: expected client or server, got {mode!r}"
        )


def plans_on_server(
    identifier: Identifier, properties: Mapping[str, str], config: Mapping[str, str], endpoints: Endpoints
) -> bool:
    """Return whether the server plans scans of a table: as the server states for the table, else by the catalog's property.

    Args:
        identifier: The table.
        properties: Properties of the catalog.
        config: Properties in the server's reply for the table.
        endpoints: The endpoints that the server offers.

    Raises:
        ValidationError: The mode is neither `client` nor `server`.
        FeatureUnsupportedError: The server is to plan and does not offer the endpoint.
    """
    check_planning_mode(endpoints.catalog, config)
    mode = config.get(SCAN_PLANNING_MODE, properties.get(SCAN_PLANNING_MODE, "client")).lower()
    if mode == "server" and not endpoints.offers(SUBMIT_PLAN):
        raise FeatureUnsupportedError(
            f"table {dotted(identifier)}: {SCAN_PLANNING_MODE} is server, and the server of catalog {endpoints.catalog!r} does not "
            f"offer the endpoint {SUBMIT_PLAN}; set {SCAN_PLANNING_MODE} to client"
        )
    return mode == "server"
