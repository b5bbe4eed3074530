"""Authentication of requests, on a server that records the requests."""

from __future__ import annotations

import base64
import datetime as dt
import json
import threading
from dataclasses import replace

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from icefloe.catalog.rest import RestCatalog
from icefloe.catalog.rest.sigv4 import AwsKeys, sign
from icefloe.exceptions import AuthorizationExpiredError, FeatureUnsupportedError, OAuthError, UnauthorizedError
from icefloe.table.environment import SYSTEM

from tests.catalogs.rest.protocol_server import Answer, error

TOKENS = "/v1/oauth/tokens"
NAMESPACES = "/v1/namespaces"
NO_NAMESPACES = Answer({"namespaces": []})
CREDENTIAL = "client:very-secret"


class Clock:
    def __init__(self, monkeypatch) -> None:
        self.ms = 1_800_000_000_000
        monkeypatch.setattr(RestCatalog, "environment", replace(SYSTEM, now_ms=lambda: self.ms, sleep=lambda _: None))


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def tokens(*lives):
    return [
        Answer({"access_token": f"token-{number}", "token_type": "bearer", **({"expires_in": life} if life else {})})
        for number, life in enumerate(lives)
    ]


def authorizations(server, path=NAMESPACES):
    return [request.headers.get("authorization") for request in server.received("GET", path)]


def jwt(expires_s):
    claims = base64.urlsafe_b64encode(json.dumps({"exp": expires_s}).encode()).decode().rstrip("=")
    return f"e30.{claims}.c2ln"


def test_client_credentials_become_one_token_for_all_requests(server, connect, clock):
    server.on("POST", TOKENS, tokens(3600))
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    catalog = connect(credential=CREDENTIAL, scope="all", audience="lake")
    catalog.list_namespaces()
    catalog.list_namespaces()
    (request,) = server.received("POST", TOKENS)
    assert request.form() == {
        "grant_type": "client_credentials",
        "client_id": "client",
        "client_secret": "very-secret",
        "scope": "all",
        "audience": "lake",
    }
    assert authorizations(server) == ["Bearer token-0"] * 2
    assert authorizations(server, "/v1/config") == ["Bearer token-0"]


def test_token_is_renewed_five_minutes_before_it_expires(server, connect, clock):
    server.on("POST", TOKENS, tokens(3600, 3600))
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    catalog = connect(credential=CREDENTIAL)
    clock.ms += 3_299_000
    catalog.list_namespaces()
    clock.ms += 2_000
    catalog.list_namespaces()
    assert authorizations(server) == ["Bearer token-0", "Bearer token-1"]


def test_threads_wait_for_one_renewal(server, connect, clock):
    server.on("POST", TOKENS, tokens(3600, 3600))
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    catalog = connect(credential=CREDENTIAL)
    clock.ms += 4_000_000
    threads = [threading.Thread(target=catalog.list_namespaces) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.received("POST", TOKENS)) == 2
    assert authorizations(server) == ["Bearer token-1"] * 8


def test_token_alone_is_exchanged_before_its_stated_expiry(server, connect, clock):
    server.on("POST", TOKENS, tokens(3600))
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    given = jwt(clock.ms // 1000 + 1000)
    catalog = connect(token=given)
    clock.ms += 950_000
    catalog.list_namespaces()
    (request,) = server.received("POST", TOKENS)
    assert request.headers["authorization"] == f"Bearer {given}"
    assert request.form()["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange"
    assert request.form()["subject_token"] == given
    assert authorizations(server) == ["Bearer token-0"]


@pytest.mark.parametrize("properties", [{"token-refresh-enabled": "false"}, {"token-exchange-enabled": "false"}])
def test_token_alone_is_kept_where_renewal_is_disabled(server, connect, clock, properties):
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    given = jwt(clock.ms // 1000 + 1000)
    catalog = connect(token=given, **properties)
    clock.ms += 2_000_000
    catalog.list_namespaces()
    assert authorizations(server) == [f"Bearer {given}"]
    assert server.received("POST", TOKENS) == []


def test_token_of_another_service_is_exchanged_at_the_start(server, connect):
    server.on("POST", "/elsewhere", tokens(3600))
    kind = "urn:ietf:params:oauth:token-type:id_token"
    connect(**{kind: "identity", "credential": CREDENTIAL, "oauth2-server-uri": f"{server.uri}/elsewhere"})
    (request,) = server.received("POST", "/elsewhere")
    assert (request.form()["subject_token"], request.form()["subject_token_type"]) == ("identity", kind)
    assert request.headers["authorization"].startswith("Basic ")
    assert authorizations(server, "/v1/config") == ["Bearer token-0"]


@pytest.mark.parametrize("status", [401, 419])
def test_rejected_token_is_replaced_once(server, connect, status):
    server.on("POST", TOKENS, tokens(3600, 3600, 3600))
    server.on("GET", NAMESPACES, [error(status, "NotAuthorizedException"), NO_NAMESPACES])
    catalog = connect(credential=CREDENTIAL)
    catalog.list_namespaces()
    assert authorizations(server) == ["Bearer token-0", "Bearer token-1"]
    server.on("GET", NAMESPACES, error(status, "NotAuthorizedException", "no: very-secret token-2"))
    with pytest.raises(UnauthorizedError if status == 401 else AuthorizationExpiredError) as raised:
        catalog.list_namespaces()
    assert "very-secret" not in str(raised.value)
    assert "token-2" not in str(raised.value)
    assert "no: *** ***" in str(raised.value)
    assert len(authorizations(server)) == 4


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer({"error": "invalid_client", "error_description": "very-secret is wrong"}, 401), "invalid_client"),
        (Answer({"token": "x"}), "expected an access_token"),
        (Answer(b"<html>", 200, {"Content-Type": "text/html"}), "expected an access_token.*an HTML page"),
        (Answer(None, 503), "status 503"),
    ],
)
def test_refused_token_is_one_error_without_the_secret(server, connect, waits, answer, message):
    server.on("POST", TOKENS, answer)
    with pytest.raises(OAuthError, match=message) as raised:
        connect(credential=CREDENTIAL)
    assert "very-secret" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_basic_and_own_headers_are_in_every_request(server, connect):
    connect(**{"auth": {"type": "basic", "basic": {"username": "me", "password": "pass"}}, "header.X-Tenant": "blue"})
    (request,) = server.received("GET", "/v1/config")
    assert request.headers["authorization"] == "Basic " + base64.b64encode(b"me:pass").decode()
    assert request.headers["x-tenant"] == "blue"


def test_authentication_that_is_not_supported_is_refused(connect):
    with pytest.raises(
        FeatureUnsupportedError,
        match=r"auth\.type: expected noop, none, basic, oauth2, sigv4, google, entra, custom, got 'other'",
    ):
        connect(**{"auth.type": "other"})


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/namespaces/a%1Fb/tables/c%20d?pageToken=x%2By%3D%3D&pageSize=2", None),
        ("GET", "/v1/namespaces?parent=", None),
        ("POST", "/v1/namespaces/%C3%A4/tables", '{"name": "t"}'),
        ("DELETE", "/v1/namespaces/a~b-c_d.e", None),
    ],
)
@pytest.mark.parametrize("session_token", [None, "session"])
def test_signature_is_botocores(method, path, body, session_token):
    moment = dt.datetime.now(dt.timezone.utc)
    headers = {"X-Tenant": "blue  green", "Content-Type": "application/json"}
    request = httpx.Request(method, f"https://catalog.example:8443{path}", headers=headers, content=body)
    sign(request, AwsKeys("AKID", "SECRET", session_token), "eu-west-1", "glue", moment)
    signer = SigV4Auth(Credentials("AKID", "SECRET", session_token), "glue", "eu-west-1")
    names = request.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    only = AWSRequest(
        method, str(request.url), data=body or "", headers={name: request.headers[name] for name in names}
    )
    only.context["timestamp"] = request.headers["x-amz-date"]
    canonical = signer.canonical_request(only)
    signature = signer.signature(signer.string_to_sign(only, canonical), only)
    assert request.headers["authorization"].endswith(f"Signature={signature}")


def test_signed_requests_carry_the_date_and_the_hash(server, connect):
    connect(
        **{
            "rest.sigv4-enabled": "true",
            "rest.signing-region": "eu-west-1",
            "rest.access-key-id": "AKID",
            "rest.secret-access-key": "very-secret",
            "token": "of-the-user",
        }
    )
    (request,) = server.received("GET", "/v1/config")
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "/eu-west-1/execute-api/aws4_request" in request.headers["authorization"]
    assert request.headers["original-authorization"] == "Bearer of-the-user"
    assert "very-secret" not in str(request.headers)


def test_secrets_are_not_shown(server, connect):
    server.on("POST", TOKENS, tokens(3600))
    catalog = connect(credential=CREDENTIAL)
    shown = [repr(catalog), str(catalog), repr(vars(catalog)["_connection"].client.authentication)]
    assert all("very-secret" not in text and "token-0" not in text for text in shown)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("tokne", "token"),
        ("credentials", "credential"),
        ("oauth2_server_uri", "oauth2-server-uri"),
        ("oauth2-server-url", "oauth2-server-uri"),
        ("rest.sigv4-enable", "rest.sigv4-enabled"),
        ("rest-pagesize", "rest-page-size"),
        ("scan-planing-mode", "scan-planning-mode"),
        ("rest.client.max-retrys", "rest.client.max-retries"),
        ("auth.basic.user", "auth.basic.username"),
        ("ssl.ca-bundle", "ssl.cabundle"),
        ("warehous", "warehouse"),
    ],
)
def test_misspelled_property_is_reported_with_the_near_name(connect, name, near):
    with pytest.warns(
        UserWarning, match=rf"catalog 'prod': unknown property '{name}' has no effect; did you mean '{near}'"
    ):
        connect(**{name: "very-secret"})


def test_properties_for_storage_headers_and_other_engines_are_left_alone(connect, recwarn):
    others = ["io-impl", "clients", "cache-enabled", "cache.expiration-interval-ms", "rest-table-cache.max-entries"]
    others += ["rest.client.proxy.hostname", "rest.client.max-connections", "table-default.format-version", "owner"]
    others += [
        "metrics-reporter-impl",
        "fs.s3a.token",
        "header.tokne",
        "s3.signer.uri",
        "client.region",
        "polaris.realm",
    ]
    others += ["rest.client.connections-per-route", "rest.auth.type2", "cache.case-sensitive", "jdbc.user", "team"]
    connect(**dict.fromkeys(others, "1"))
    assert [str(one.message) for one in recwarn] == []
