"""Storage credentials that a server lends, with prepared replies."""

from __future__ import annotations

import time

import pyarrow as pa

from tests.catalogs.rest.protocol_server import Answer
from tests.catalogs.rest.served_table import ENDPOINT, TABLE, ServedTable
from tests.storage.conftest import bucket, s3  # noqa: F401 - fixtures


def test_lent_credentials_of_the_longest_prefix_read_and_write(server, connect, s3, bucket):  # noqa: F811
    location = f"s3://{bucket}/warehouse/t"

    def lent(prefix, secret):
        keys = {"s3.access-key-id": s3.access_key, "s3.secret-access-key": secret, "s3.session-token": ""}
        return {"prefix": prefix, "config": {name: value for name, value in keys.items() if value}}

    ServedTable(
        server,
        location,
        config={"s3.endpoint": s3.endpoint, "s3.region": "us-east-1", "client.region": "us-east-1"},
        **{"storage-credentials": [lent("s3", "wrong"), lent(location, s3.secret_key), lent("s3://other", "wrong")]},
    )
    catalog = connect()
    table = catalog.load_table("db.t")
    table.append(pa.table({"id": [1, 2, 3]}))
    assert catalog.load_table("db.t").scan().count() == 3
    assert server.received("GET", TABLE)[0].headers["x-iceberg-access-delegation"] == "vended-credentials"
    assert s3.secret_key not in repr(table.io) + repr(catalog) + repr(table)


def test_lent_credentials_are_renewed_at_the_servers_endpoint(server, connect, s3, bucket):  # noqa: F811
    location = f"s3://{bucket}/warehouse/t"
    now_ms = time.time_ns() // 1_000_000
    expired = {
        "s3.access-key-id": "expired",
        "s3.secret-access-key": "expired",
        "s3.session-token-expires-at-ms": str(now_ms - 1),
    }
    fresh = {
        "s3.access-key-id": s3.access_key,
        "s3.secret-access-key": s3.secret_key,
        "s3.session-token-expires-at-ms": str(now_ms + 3_600_000),
    }
    renewed = [
        {"prefix": location, "config": fresh},
        {"prefix": f"s3://{bucket}/elsewhere/a/long/path", "config": {**fresh, "s3.secret-access-key": "wrong"}},
    ]
    server.configure(endpoints=[f"GET {ENDPOINT}", f"POST {ENDPOINT}", f"GET {ENDPOINT}/credentials"])
    ServedTable(
        server,
        location,
        config={"s3.endpoint": s3.endpoint, "s3.region": "us-east-1"},
        **{"storage-credentials": [{"prefix": location, "config": expired}]},
    )
    server.on("GET", f"{TABLE}/credentials", Answer({"storage-credentials": renewed}))
    catalog = connect(token="of-the-user", **{"header.x-tenant": "blue"})
    table = catalog.load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 1
    renewals = server.received("GET", f"{TABLE}/credentials")
    assert renewals
    assert {request.headers["authorization"] for request in renewals} == {"Bearer of-the-user"}
    assert {request.headers["x-tenant"] for request in renewals} == {"blue"}
