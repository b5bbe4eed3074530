"""Requests of planning a remote table: delete and data manifests in one round, and none for cached manifests."""

from __future__ import annotations

import pytest

from tests.storage.servers import Gate
from tests.storage.test_s3_table import SCHEMA, make_catalog, rows


def is_manifest(request) -> bool:
    name = request.path.rpartition("/")[2]
    return request.method == "GET" and name.endswith(".avro") and not name.startswith("snap-")


def manifests(line) -> list[str]:
    return [request.path for request in line.requests if is_manifest(request)]


@pytest.fixture
def near(s3, bucket, tmp_path):
    """A table of one data manifest and one delete manifest."""
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    table = make_catalog(s3, bucket, tmp_path).create_table("db.t", SCHEMA, properties=properties)
    table.append(rows(0, 100))
    table.delete("id < 10")
    assert sorted(table.inspect.manifests()["content"].to_pylist()) == [0, 1]
    return table


@pytest.fixture
def far(s3, bucket, tmp_path, near, line):
    """The same table behind the proxy."""
    return make_catalog(s3, bucket, tmp_path, **{"s3.endpoint": line.endpoint}).load_table("db.t")


@pytest.mark.parametrize("include_stats", [False, True])
@pytest.mark.parametrize("row_filter", ["true", "id > 5"])
def test_planning_requests_data_manifests_before_delete_manifests_arrive(line, far, row_filter, include_stats):
    line.fault = Gate(2, is_manifest)
    plan = far.scan(row_filter=row_filter).plan(include_stats=include_stats)
    assert (plan.files.num_rows, plan.deletes.num_rows) == (1, 1)
    assert len(manifests(line)) == len(set(manifests(line))) == 2


def test_planning_after_a_delete_requests_only_manifests_that_are_not_cached(line, near, far):
    far.scan().plan()
    line.requests.clear()
    far.scan().plan()
    assert manifests(line) == []
    near.delete("id < 20")
    plan = far.refresh().scan().plan()
    assert plan.deletes.num_rows == 2
    assert len(manifests(line)) == 1
