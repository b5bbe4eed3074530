"""Reports of commits and scans, on a server with prepared replies."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.catalogs.rest.protocol_server import Answer, error
from tests.catalogs.rest.served_table import TABLE, ServedTable

REPORTS = f"{TABLE}/metrics"


def test_commit_is_reported_to_a_server_that_wants_reports(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, Answer(None, 204))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1, 2]}))
    (report,) = (request.json() for request in server.received("POST", REPORTS))
    assert report["report-type"] == "commit-report"
    assert report["snapshot-id"] == table.current_snapshot().snapshot_id
    assert report["metrics"]["added-records"] == {"unit": "count", "value": 2}
    assert report["metrics"]["added-data-files"] == {"unit": "count", "value": 1}


@pytest.mark.parametrize("answer", [error(500, "X"), error(400, "X"), Answer(b"<html>")])
def test_commit_succeeds_where_its_report_fails(server, connect, tmp_path, answer):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, answer)
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 1


def test_reports_can_be_disabled(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    connect(**{"rest-metrics-reporting-enabled": "false"}).load_table("db.t").append(pa.table({"id": [1]}))
    assert server.received("POST", REPORTS) == []


def reports_of_scans(server):
    reports = [request.json() for request in server.received("POST", REPORTS)]
    return [report for report in reports if report["report-type"] == "scan-report"]


def test_planned_scan_is_reported_without_the_values_of_its_filter(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, Answer(None, 204))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1, 2, 4711]}))
    assert table.scan("id = 4711").to_arrow().num_rows == 1
    (report,) = reports_of_scans(server)
    size = next(iter(table.scan().plan_files())).file_size_in_bytes
    metrics = report.pop("metrics")
    assert report == {
        "report-type": "scan-report",
        "table-name": "db.t",
        "snapshot-id": table.current_snapshot().snapshot_id,
        "filter": {"type": "eq", "term": "id", "value": "(4-digit-int)"},
        "schema-id": 0,
        "projected-field-ids": [1],
        "projected-field-names": ["id"],
        "metadata": {"engine-name": "icefloe"},
    }
    assert metrics["total-planning-duration"]["total-duration"] > 0
    assert metrics["result-data-files"] == {"unit": "count", "value": 1}
    assert metrics["scanned-data-manifests"] == {"unit": "count", "value": 1}
    assert metrics["total-file-size-in-bytes"] == {"unit": "bytes", "value": size}
    assert metrics["positional-delete-files"] == {"unit": "count", "value": 0}


def test_explanation_of_a_scan_is_not_reported(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, Answer(None, 204))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().explain().counters["files_planned"] == 1
    assert reports_of_scans(server) == []


@pytest.mark.parametrize("answer", [error(503, "X"), error(404, "X"), Answer(b"<html>"), Answer(None, 302)])
def test_scan_succeeds_where_its_report_fails_and_the_report_is_sent_once(server, connect, tmp_path, waits, answer):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, answer)
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().to_arrow().num_rows == 1
    assert len(server.received("POST", REPORTS)) == 2
    assert waits == []
