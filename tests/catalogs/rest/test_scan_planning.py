"""Scans that the server plans: on the Java reference's server, and replies that it does not send on a prepared one."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.catalog.rest import RestCatalog
from icefloe.exceptions import (
    FeatureUnsupportedError,
    ForbiddenError,
    NoSuchTableError,
    RESTError,
    StorageError,
    ValidationError,
)
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform, DayTransform, IdentityTransform
from icefloe.types import DateType, DecimalType, LongType, NestedField, StringType, StructType

from tests.catalogs.rest.protocol_server import Answer, error
from tests.catalogs.rest.served_table import ENDPOINT, TABLE, ServedTable

SERVER = {"scan-planning-mode": "server"}
PLAN = f"{TABLE}/plan"
OFFERED = [
    f"GET {ENDPOINT}",
    f"POST {ENDPOINT}",
    f"POST {ENDPOINT}/plan",
    f"GET {ENDPOINT}/plan/{{plan-id}}",
    f"DELETE {ENDPOINT}/plan/{{plan-id}}",
    f"POST {ENDPOINT}/tasks",
]
SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "name", StringType()),
    NestedField(3, "day", DateType()),
    NestedField(4, "price", DecimalType(9, 2)),
    NestedField(5, "place", StructType(NestedField(6, "city", StringType()))),
)
SPECS = {
    "unpartitioned": PartitionSpec(),
    "identity": PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name")),
    "bucket and day": PartitionSpec(
        PartitionField(1, 1000, BucketTransform(4), "id_bucket"), PartitionField(3, 1001, DayTransform(), "day_of")
    ),
}
FILTERS = [
    "true",
    "false",
    "id > 2 and id < 9",
    "name = 'b'",
    "name is null or id in (1, 4, 7)",
    "day >= '2020-01-03'",
    "price < 3.50",
    "not (id = 4 or name = 'c')",
    "place.city = 'c1'",
    "id = 100",
]


def rows(first):
    ids = range(first, first + 5)
    return pa.table(
        {
            "id": list(ids),
            "name": ["a", "b", None, "bb", "c"],
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=number) for number in range(5)],
            "price": [Decimal(number) for number in range(5)],
            "place": [{"city": f"c{number % 2}"} for number in range(5)],
        },
        schema=SCHEMA.as_arrow(),
    )


@pytest.fixture(params=SPECS)
def filled(catalog, namespace, request):
    made = catalog.create_table(
        (namespace, "planned"),
        SCHEMA,
        partition_spec=SPECS[request.param],
        properties={"write.delete.mode": "merge-on-read"},
    )
    made.append(rows(0))
    made.append(rows(5))
    made.delete("id in (3, 8)")
    return made


@pytest.fixture
def planned(rest, filled):
    """The same table through a catalog whose server plans scans."""
    with RestCatalog("planned", uri=rest.uri, **SERVER) as client:
        yield client.load_table(filled.name())


def sorted_rows(scan):
    return scan.to_arrow().sort_by("id").to_pylist()


@pytest.mark.parametrize("row_filter", FILTERS)
def test_plan_of_the_java_server_reads_the_same_rows(filled, planned, row_filter):
    own = filled.scan(row_filter)
    assert sorted_rows(planned.scan(row_filter)) == sorted_rows(own)
    assert planned.scan(row_filter).count() == own.count()
    columns = ("id", "place.city", "_file")
    assert sorted_rows(planned.scan(row_filter, columns)) == sorted_rows(filled.scan(row_filter, columns))


def test_plan_of_the_java_server_has_ordinary_tasks(filled, planned):
    own = {task.file_path: task for task in filled.scan().plan_files()}
    found = {task.file_path: task for task in planned.scan().plan_files()}
    assert found == own
    assert all(found[path].file.partition == own[path].file.partition for path in own)
    assert all(found[path].delete_files == own[path].delete_files for path in own)
    groups = pickle.loads(pickle.dumps(list(planned.scan().plan_tasks())))
    assert sum(group.read().read_all().num_rows for group in groups) == 8


def test_older_snapshot_is_planned_with_its_schema(filled, planned):
    first = filled.snapshots()[0].snapshot_id
    with filled.update_schema() as update:
        update.rename_column("name", "title")
    planned.refresh()
    assert sorted_rows(planned.scan("name = 'b'", snapshot_id=first)) == sorted_rows(
        filled.scan("name = 'b'", snapshot_id=first)
    )
    assert sorted_rows(planned.scan("title = 'b'")) == sorted_rows(filled.scan("title = 'b'"))


def test_pickled_scan_reads_the_same_rows(planned):
    scan = planned.scan("id > 2")
    assert sorted_rows(pickle.loads(pickle.dumps(scan))) == sorted_rows(scan)


def test_changes_of_a_table_do_not_need_the_servers_plans(planned):
    planned.delete("id = 1")
    planned.overwrite(rows(20), "id > 4")
    assert [row["id"] for row in sorted_rows(planned.scan(selected_fields=("id",)))] == [0, 2, 4, *range(20, 25)]


def test_table_without_a_snapshot_is_empty(rest, catalog, namespace):
    catalog.create_table((namespace, "empty"), SCHEMA)
    with RestCatalog("planned", uri=rest.uri, **SERVER) as client:
        assert client.load_table((namespace, "empty")).scan().count() == 0


# ---- replies that the Java server does not send


class Planner:
    """A table on the prepared server, with the tasks of its files as the protocol writes them."""

    def __init__(self, server, connect, tmp_path, **properties) -> None:
        server.configure(endpoints=OFFERED)
        ServedTable(server, str(tmp_path))
        self.table = connect(**{**SERVER, **properties}).load_table("db.t")
        for number in range(3):
            self.table.append(pa.table({"id": [number]}))
        own = connect().load_table("db.t").scan()
        self.tasks = [
            {
                "data-file": {
                    "content": "data",
                    "file-path": task.file_path,
                    "file-format": "parquet",
                    "spec-id": 0,
                    "partition": [],
                    "file-size-in-bytes": task.file_size_in_bytes,
                    "record-count": task.record_count,
                }
            }
            for task in own.plan_files()
        ]

    def ids(self, row_filter="true"):
        return sorted(self.table.scan(row_filter).to_arrow().column("id").to_pylist())


@pytest.fixture
def planner(server, connect, tmp_path):
    return Planner(server, connect, tmp_path)


def completed(tasks=(), **parts):
    return Answer({"status": "completed", "file-scan-tasks": list(tasks), **parts})


def test_submitted_plan_is_polled_until_it_is_complete(server, planner, waits):
    server.on("POST", PLAN, Answer({"status": "submitted", "plan-id": "p/1"}))
    submitted = Answer({"status": "submitted"})
    server.on("GET", f"{PLAN}/p%2F1", [submitted, submitted, completed(planner.tasks)])
    assert planner.ids() == [0, 1, 2]
    assert waits == [1.0, 2.0, 4.0]
    assert server.received("DELETE", f"{PLAN}/p%2F1") == []


def test_plan_tasks_are_fetched_with_the_plan_tasks_in_their_replies(server, planner):
    first, second, third = planner.tasks
    server.on("POST", PLAN, completed([first], **{"plan-id": "p", "plan-tasks": ["one"]}))
    replies = {
        "one": {"file-scan-tasks": [second], "plan-tasks": ["two"]},
        "two": {"file-scan-tasks": [third]},
    }
    server.on("POST", f"{TABLE}/tasks", lambda request: Answer(replies[request.json()["plan-task"]]))
    assert planner.ids() == [0, 1, 2]
    assert [one.json() for one in server.received("POST", f"{TABLE}/tasks")] == [
        {"plan-task": "one"},
        {"plan-task": "two"},
    ]


def test_request_has_snapshot_columns_and_filter(server, planner):
    server.on("POST", PLAN, completed(planner.tasks))
    planner.table.scan("id > 1 and id < 5", selected_fields=("id", "_file"), case_sensitive=False).to_arrow()
    planner.ids()
    first, second = (request.json() for request in server.received("POST", PLAN))
    snapshot_id = planner.table.current_snapshot().snapshot_id
    both = {"snapshot-id": snapshot_id, "use-snapshot-schema": False}
    sides = {
        "left": {"type": "gt", "term": "id", "value": 1},
        "right": {"type": "lt", "term": "id", "value": 5},
    }
    assert first == {**both, "case-sensitive": False, "select": ["id"], "filter": {"type": "and", **sides}}
    assert second == {**both, "case-sensitive": True}


def test_rows_are_filtered_unless_the_server_proves_that_all_match(server, planner):
    proven = [{**task, "residual-filter": True} for task in planner.tasks]
    server.on("POST", PLAN, [completed(planner.tasks), completed(proven)])
    assert planner.ids("id > 1") == [2]
    assert planner.ids("id > 1") == [0, 1, 2]


@pytest.mark.parametrize(
    ("reply", "expected", "message"),
    [
        (
            {"status": "failed", "error": {"message": "too large", "type": "X", "code": 500}},
            RESTError,
            "failed to plan: too large",
        ),
        ({"status": "cancelled"}, RESTError, "cancelled the plan"),
        ({"status": "other"}, RESTError, "expected `status` completed"),
        ({"status": "submitted"}, RESTError, "expected `status` completed, submitted with a `plan-id`"),
        ({"status": "completed", "plan-tasks": [1]}, RESTError, "a list of texts `plan-tasks`"),
        ({"status": "completed", "plan-id": 1}, RESTError, "a text `plan-id`"),
        ({"status": "completed", "file-scan-tasks": "x"}, RESTError, "reply of the server is not valid"),
        ({"status": "completed", "file-scan-tasks": [{}]}, RESTError, "reply of the server is not valid: .*data-file"),
        ({"status": "completed", "storage-credentials": "x"}, RESTError, "a list `storage-credentials`"),
        ({}, RESTError, "expected `status`"),
    ],
)
def test_plan_that_is_no_plan_is_one_error(server, planner, reply, expected, message):
    server.on("POST", PLAN, Answer(reply))
    with pytest.raises(expected, match=message) as raised:
        planner.ids()
    assert "db.t" in str(raised.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"spec-id": 7}, "expected a partition spec of the table, got 7"),
        ({"partition": ["x"]}, "partition: expected 0 values, got 1"),
        ({"partition": "x"}, "partition: expected an array"),
        ({"content": "position-deletes"}, "data-file: expected data"),
        ({"content": "other"}, "content: expected data, position-deletes or equality-deletes"),
        ({"record-count": -1}, "expected counts of 0 or more"),
    ],
)
def test_task_that_does_not_fit_the_table_is_one_error(server, planner, changed, message):
    (task, *_) = planner.tasks
    server.on("POST", PLAN, completed([{"data-file": {**task["data-file"], **changed}}]))
    with pytest.raises(RESTError, match=message):
        planner.ids()


def test_reference_to_no_delete_file_is_one_error(server, planner):
    server.on("POST", PLAN, completed([{**planner.tasks[0], "delete-file-references": [0]}]))
    with pytest.raises(RESTError, match="delete-file-references: expected one of 0, got 0"):
        planner.ids()


def test_plan_that_takes_too_long_is_cancelled(server, connect, tmp_path):
    planner = Planner(server, connect, tmp_path, **{"rest-scan-planning.poll-timeout-ms": "500"})
    server.on("POST", PLAN, Answer({"status": "submitted", "plan-id": "p"}))
    server.on("DELETE", f"{PLAN}/p", Answer(None, 204))
    with pytest.raises(StorageError, match=r"not complete after .*raise rest-scan-planning\.poll-timeout-ms"):
        planner.ids()
    assert len(server.received("DELETE", f"{PLAN}/p")) == 1


def test_plan_whose_tasks_fail_is_cancelled_and_its_error_raised(server, planner):
    server.on("POST", PLAN, completed(**{"plan-id": "p", "plan-tasks": ["one"]}))
    server.on("POST", f"{TABLE}/tasks", error(404, "NoSuchPlanTaskException", "expired"))
    server.on("DELETE", f"{PLAN}/p", error(500, "X"))
    with pytest.raises(RESTError, match="tasks of a scan: got status 404, NoSuchPlanTaskException: expired"):
        planner.ids()
    assert len(server.received("DELETE", f"{PLAN}/p")) == 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(404, "NoSuchTableException"), NoSuchTableError),
        (error(403, "ForbiddenException"), ForbiddenError),
        (error(406, "UnsupportedOperationException"), FeatureUnsupportedError),
        (Answer(b"<html>"), RESTError),
    ],
)
def test_refused_plan_has_the_error_of_its_status(server, planner, answer, expected):
    server.on("POST", PLAN, answer)
    with pytest.raises(expected, match=r"table db\.t: plan of a scan"):
        planner.ids()


def test_servers_word_for_a_table_wins_over_the_property(server, connect, tmp_path):
    server.configure(endpoints=OFFERED)
    ServedTable(server, str(tmp_path), config={"scan-planning-mode": "server"})
    server.on("POST", PLAN, completed())
    catalog = connect(**{"scan-planning-mode": "client"})
    table = catalog.load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 0
    assert len(server.received("POST", PLAN)) == 1


@pytest.mark.parametrize("properties", [{}, {"scan-planning-mode": "client"}])
def test_scans_are_planned_here_by_default(server, connect, tmp_path, properties):
    server.configure(endpoints=OFFERED)
    ServedTable(server, str(tmp_path))
    table = connect(**properties).load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 1
    assert server.received("POST", PLAN) == []


def test_server_without_the_endpoint_cannot_be_made_to_plan(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    with pytest.raises(
        FeatureUnsupportedError, match=r"scan-planning-mode is server.*set scan-planning-mode to client"
    ):
        connect(**SERVER).load_table("db.t")


def test_unknown_mode_is_refused(connect):
    with pytest.raises(ValidationError, match="scan-planning-mode: expected client or server, got 'both'"):
        connect(**{"scan-planning-mode": "both"})
