"""Requests to S3 that the catalog signs, on a real S3 server and behind a signer that holds the keys."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from icefloe.exceptions import FeatureUnsupportedError, IcebergError

from tests.catalogs.rest.protocol_server import Answer, error
from tests.catalogs.rest.served_table import TABLE, ServedTable
from tests.storage.conftest import bucket, s3  # noqa: F401 - fixtures

SIGN = "/v1/aws/s3/sign"
# The reference's signer does not sign these: a cached signature serves requests that differ in them.
UNSIGNED = ("range", "user-agent", "content-length")


class UnsignedPayload(S3SigV4Auth):
    def payload(self, request):
        return "UNSIGNED-PAYLOAD"


class Signer:
    """Signs requests below one location with the server's keys and refuses others."""

    def __init__(self, storage, location, *, private=True) -> None:
        self.location = location.removeprefix("s3://")
        self.root = f"{storage.endpoint}/{self.location}"
        self.endpoint = storage.endpoint
        self.credentials = Credentials(storage.access_key, storage.secret_key)
        self.private = private
        self.requests: list[dict] = []

    def __call__(self, received):
        request = received.json()
        self.requests.append(request)
        if not self.is_allowed(request):
            return error(403, "ForbiddenException", "another table")
        headers = {name: ", ".join(values) for name, values in request["headers"].items() if name not in UNSIGNED}
        signed = AWSRequest(request["method"], request["uri"], headers=headers)
        UnsignedPayload(self.credentials, "s3", request["region"]).add_auth(signed)
        reply = {"uri": request["uri"], "headers": {name: [value] for name, value in signed.headers.items()}}
        is_private = self.private and request["method"] in ("GET", "HEAD")
        return Answer(reply, headers={"Cache-Control": "private" if is_private else "no-cache"})

    def is_allowed(self, request):
        if request["uri"].startswith(self.root):
            return True
        name, _, prefix = self.location.partition("/")
        if request["method"] == "POST" and request["uri"] == f"{self.endpoint}/{name}?delete":
            return all(key.startswith(prefix) for key in keys_of(request["body"]))
        return request["method"] == "GET" and f"{self.endpoint}/{name}?" in request["uri"]


def keys_of(body):
    return [part.partition("</Key>")[0] for part in body.split("<Key>")[1:]]


@pytest.fixture
def location(bucket):  # noqa: F811
    return f"s3://{bucket}/warehouse/t"


def served(server, s3, location, **config):  # noqa: F811
    ServedTable(
        server,
        location,
        config={
            "s3.remote-signing-enabled": "true",
            "s3.endpoint": s3.endpoint,
            "client.region": "us-east-1",
            "s3.retry.min-wait-ms": "5",
            "s3.retry.max-wait-ms": "20",
            **config,
        },
    )


def test_table_is_written_and_read_without_keys_of_the_client(server, connect, s3, location):  # noqa: F811
    served(server, s3, location)
    signer = Signer(s3, location)
    server.on("POST", SIGN, signer)
    catalog = connect(token="of-the-user", **{"header.x-tenant": "blue"})
    table = catalog.load_table("db.t")
    table.append(pa.table({"id": [1, 2, 3]}))
    table.append(pa.table({"id": [4]}))
    table.delete("id = 2")
    assert sorted(catalog.load_table("db.t").scan().to_arrow().column("id").to_pylist()) == [1, 3, 4]
    requests = server.received("POST", SIGN)
    assert {request.headers["authorization"] for request in requests} == {"Bearer of-the-user"}
    assert {request.headers["x-tenant"] for request in requests} == {"blue"}
    assert {request["region"] for request in signer.requests} == {"us-east-1"}
    assert {request["provider"] for request in signer.requests} == {"s3"}
    assert all("body" not in request for request in signer.requests)


def test_tasks_are_signed_in_other_processes_too(server, connect, s3, location):  # noqa: F811
    served(server, s3, location)
    server.on("POST", SIGN, Signer(s3, location))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1, 2, 3]}))
    groups = pickle.loads(pickle.dumps(list(table.scan().plan_tasks())))
    assert sum(group.read().read_all().num_rows for group in groups) == 3


def test_large_data_file_is_uploaded_in_signed_parts(server, connect, s3, location):  # noqa: F811
    served(server, s3, location)
    signer = Signer(s3, location)
    server.on("POST", SIGN, signer)
    table = connect().load_table("db.t")
    table.append(pa.table({"id": np.random.default_rng(1).integers(0, 1 << 62, 3_000_000)}))
    assert table.scan().count() == 3_000_000
    assert table.scan().to_arrow().num_rows == 3_000_000
    assert sum("partNumber=" in request["uri"] for request in signer.requests) >= 2


def test_deletion_of_many_objects_shows_their_names_to_the_signer(server, connect, s3, location):  # noqa: F811
    served(server, s3, location)
    signer = Signer(s3, location)
    server.on("POST", SIGN, signer)
    io = connect().load_table("db.t").io
    names = [f"{location}/{number}" for number in range(3)]
    for name in names:
        with io.new_output(name).create() as stream:
            stream.write(b"data")
    assert [str(one) for one in io.core.delete_many(names)] == []
    bodies = [request["body"] for request in signer.requests if "body" in request]
    assert sorted(keys_of("".join(bodies))) == ["warehouse/t/0", "warehouse/t/1", "warehouse/t/2"]


@pytest.mark.parametrize(("private", "signatures"), [(True, 1), (False, 3)])
def test_signature_is_repeated_only_where_the_signer_allows_it(server, connect, s3, location, private, signatures):  # noqa: F811
    served(server, s3, location)
    signer = Signer(s3, location, private=private)
    server.on("POST", SIGN, signer)
    io = connect().load_table("db.t").io
    with io.new_output(f"{location}/small").create() as stream:
        stream.write(b"0123456789")
    assert [io.core.read(f"{location}/small") for _ in range(3)] == [b"0123456789"] * 3
    assert len([one for one in signer.requests if one["method"] == "GET"]) == signatures


def test_location_that_the_signer_refuses_is_an_error_that_names_the_signer(server, connect, s3, location):  # noqa: F811
    served(server, s3, location)
    server.on("POST", SIGN, Signer(s3, location))
    io = connect(token="of-the-user").load_table("db.t").io
    with pytest.raises(IcebergError, match=rf"{SIGN} refused this request") as raised:
        io.new_input(f"{location.rpartition('/')[0]}/other/file").open().read()
    assert "of-the-user" not in str(raised.value)


def test_signer_that_is_not_ready_is_asked_again(server, connect, s3, location):  # noqa: F811
    served(server, s3, location)
    signer = Signer(s3, location)
    failures = [Answer(None, 503), Answer(None, 500), Answer(None, 429)]
    server.on("POST", SIGN, lambda request: failures.pop() if failures else signer(request))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 1
    assert failures == []


@pytest.mark.parametrize(
    "answer",
    [Answer(b"<html>sign in</html>"), Answer({}), Answer({"uri": "x", "headers": []}), Answer([]), Answer(b"")],
    ids=["page", "empty object", "other types", "list", "empty"],
)
def test_signer_that_answers_nonsense_is_one_error(server, connect, s3, location, answer):  # noqa: F811
    served(server, s3, location, **{"s3.retry.num-retries": "0"})
    server.on("POST", SIGN, answer)
    table = connect(token="of-the-user").load_table("db.t")
    with pytest.raises(IcebergError, match="signer") as raised:
        table.append(pa.table({"id": [1]}))
    assert "of-the-user" not in str(raised.value)


@pytest.mark.parametrize("prefix", ["s3.signer", "signer"])
def test_signer_has_an_address_of_its_own(server, connect, s3, location, prefix):  # noqa: F811
    served(server, s3, location, **{f"{prefix}.uri": f"{server.uri}/other", f"{prefix}.endpoint": "v1/t/sign"})
    signer = Signer(s3, location)
    server.on("POST", "/other/v1/t/sign", signer)
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert signer.requests != []
    assert server.received("POST", SIGN) == []


def test_keys_of_the_user_are_used_instead_of_the_signer(server, connect, s3, location):  # noqa: F811
    served(server, s3, location)
    table = connect(**{"s3.access-key-id": s3.access_key, "s3.secret-access-key": s3.secret_key}).load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 1
    assert server.received("POST", SIGN) == []


def test_signer_cannot_be_asked_with_signatures_of_the_catalog(server, connect):
    server.on("GET", TABLE, Answer(None, 500))
    ServedTable(server, "s3://bucket/t", config={"s3.remote-signing-enabled": "true"})
    keys = {"rest.access-key-id": "AKID", "rest.secret-access-key": "very-secret", "rest.signing-region": "eu-west-1"}
    with pytest.raises(FeatureUnsupportedError, match=r"table db\.t: the catalog signs storage requests"):
        connect(**{"rest.sigv4-enabled": "true", **keys}).load_table("db.t")
