"""Lent credentials that expire during one read and one write, on a real S3 server behind a gate that refuses old ones."""

from __future__ import annotations

import threading
import time

import pyarrow as pa
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from icefloe.exceptions import IcebergError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import IdentityTransform

from tests.catalogs.rest.protocol_server import Answer
from tests.catalogs.rest.served_table import ENDPOINT, TABLE, ServedTable
from tests.catalogs.rest.test_remote_signing import UnsignedPayload
from tests.storage.conftest import bucket, s3  # noqa: F401 - fixtures
from tests.storage.servers import Proxy, Relay, serving

# Storage requests that credentials are good for: more than a client has in flight at once.
GOOD_FOR = 100
FILES = 150
LIFETIME_MS = 5


class Gate(Proxy):
    """Lends credentials, and passes requests on while their session token is good."""

    def __init__(self, storage) -> None:
        super().__init__(storage.endpoint)
        self.storage = storage
        self.lock = threading.Lock()
        self.lent: list[int] = []
        self.passed = 0
        self.refused = 0

    def lend(self, location):
        """Return new credentials, which expire at once by the clock: each storage request renews them, or uses those of another."""
        with self.lock:
            self.lent.append(self.passed)
            config = {
                "s3.access-key-id": self.storage.access_key,
                "s3.secret-access-key": self.storage.secret_key,
                "s3.session-token": f"session-{len(self.lent) - 1}",
                "s3.session-token-expires-at-ms": str(time.time_ns() // 1_000_000 + LIFETIME_MS),
            }
        return [{"prefix": location, "config": config}]

    def accepts(self, token):
        with self.lock:
            self.passed += 1
            good = self.passed - self.lent[int(token.removeprefix("session-"))] <= GOOD_FOR
            self.refused += not good
            return good


class GatedRelay(Relay):
    def answer(self) -> None:
        if self.state.accepts(self.headers["x-amz-security-token"]):
            self.sign_again()
            super().answer()
            return
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send(403, [], b"<Error><Code>ExpiredToken</Code><Message>expired</Message></Error>")

    def sign_again(self) -> None:
        """Replace the signature, since the storage server knows no session tokens."""
        target = self.state.target
        own = ("host", "authorization", "x-amz-security-token", "x-amz-date", "user-agent", "content-length", "accept")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in own}
        headers["X-Amz-Content-SHA256"] = self.headers.get("x-amz-content-sha256", "UNSIGNED-PAYLOAD")
        signed = AWSRequest(self.command, target + self.path, headers=headers)
        keys = Credentials(self.state.storage.access_key, self.state.storage.secret_key)
        UnsignedPayload(keys, "s3", "us-east-1").add_auth(signed)
        del self.headers["Host"], self.headers["x-amz-security-token"]
        self.headers["Host"] = target.removeprefix("http://")
        for name in ("Authorization", "X-Amz-Date", "X-Amz-Content-SHA256"):
            del self.headers[name]
            self.headers[name] = signed.headers[name]

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer  # noqa: N815 - the names that the server calls


@pytest.fixture
def gate(s3):  # noqa: F811
    state = Gate(s3)
    with serving(type("GateOfOne", (GatedRelay,), {"state": state})) as address:
        state.endpoint = address
        yield state


@pytest.fixture
def table(server, connect, gate, bucket):  # noqa: F811
    """A table with lent credentials, partitioned by its only column."""
    location = f"s3://{bucket}/warehouse/t"
    server.configure(endpoints=[f"GET {ENDPOINT}", f"POST {ENDPOINT}", f"GET {ENDPOINT}/credentials"])
    served = ServedTable(server, location, config={"s3.endpoint": gate.endpoint, "s3.region": "us-east-1"})
    served.body["storage-credentials"] = gate.lend(location)
    server.on("GET", f"{TABLE}/credentials", lambda request: Answer({"storage-credentials": gate.lend(location)}))
    made = connect().load_table("db.t")
    with made.update_spec() as update:
        update.add_field("id", IdentityTransform(), "part")
    assert made.spec() == PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "part"), spec_id=1)
    return made


def test_credentials_are_renewed_in_one_long_write_and_one_long_read(table, gate):
    table.append(pa.table({"id": range(FILES)}))
    written = gate.passed
    assert written > GOOD_FOR
    reader = table.scan().to_arrow_batch_reader()
    assert sum(batch.num_rows for batch in reader) == FILES
    assert gate.passed - written > GOOD_FOR
    assert gate.refused == 0


def test_handle_of_expired_credentials_reads_and_commits(table, gate):
    table.append(pa.table({"id": [1]}))
    gate.passed += GOOD_FOR
    time.sleep(2 * LIFETIME_MS / 1_000)
    assert table.scan().count() == 1
    table.append(pa.table({"id": [2]}))
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [1, 2]
    assert gate.refused == 0


def test_credentials_that_are_not_renewed_end_a_long_write_without_a_change(server, connect, table, gate):
    switched_off = connect(**{"client.refresh-credentials-enabled": "false"}).load_table("db.t")
    with pytest.raises(IcebergError, match=r"ExpiredToken"):
        switched_off.append(pa.table({"id": range(FILES)}))
    assert gate.refused > 0
    assert switched_off.refresh().current_snapshot() is None
