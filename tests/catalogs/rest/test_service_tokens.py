"""Tokens of Google Cloud, of Microsoft Entra ID and of a class of the user's, on local token servers."""

from __future__ import annotations

import json
import sys

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from icefloe.exceptions import NotInstalledError, OAuthError, UnauthorizedError, ValidationError

from tests.catalogs.rest.protocol_server import Answer, error
from tests.catalogs.rest.test_authentication import NAMESPACES, NO_NAMESPACES, authorizations

TOKENS = "/token"
IDENTITY = "/msi/token"
SECONDS = 1_900_000_000


class HeaderOfTheUser:
    """An authentication as a user writes it."""

    def __init__(self, key: str, scheme: str = "Key") -> None:
        self.header = f"{scheme} {key}"

    def auth_header(self) -> str | None:
        return self.header


class NoHeader:
    def auth_header(self) -> str | None:
        return None


class NotAnAuthentication:
    """A class without `auth_header`."""


HERE = f"{__name__}."


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])


@pytest.fixture
def google_account(server, tmp_path):
    """Return properties of a service account whose token server is the prepared server."""
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "client_email": "reader@project.iam.gserviceaccount.com",
        "private_key_id": "1",
        "private_key": key.decode(),
        "token_uri": f"{server.uri}{TOKENS}",
    }
    path = tmp_path / "account.json"
    path.write_text(json.dumps(account))
    return {"type": "google", "google": {"credentials_path": str(path), "scopes": ["https://one", "https://two"]}}


def test_token_of_a_google_service_account_is_in_every_request(server, connect, google_account):
    server.on("POST", TOKENS, Answer({"access_token": "of-google", "expires_in": 3600, "token_type": "Bearer"}))
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    catalog = connect(auth=google_account)
    catalog.list_namespaces()
    catalog.list_namespaces()
    assert authorizations(server) == ["Bearer of-google"] * 2
    (request,) = server.received("POST", TOKENS)
    assert request.form()["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert "of-google" not in repr(catalog)


def test_google_token_that_the_catalog_rejects_is_obtained_again(server, connect, google_account):
    replies = [Answer({"access_token": f"of-google-{number}", "expires_in": 3600}) for number in range(2)]
    server.on("POST", TOKENS, replies)
    server.on("GET", NAMESPACES, [error(401, "NotAuthorizedException"), NO_NAMESPACES])
    connect(auth=google_account).list_namespaces()
    assert authorizations(server) == ["Bearer of-google-0", "Bearer of-google-1"]


def test_google_token_server_that_refuses_is_one_error(server, connect, google_account):
    server.on("POST", TOKENS, Answer({"error": "invalid_grant"}, 400))
    with pytest.raises(OAuthError, match=r"catalog 'prod': Google issued no token: .*invalid_grant"):
        connect(auth=google_account)


def test_google_credentials_that_are_missing_are_one_error(connect, tmp_path):
    with pytest.raises(OAuthError, match=r"auth\.type google: no credentials"):
        connect(auth={"type": "google", "google": {"credentials_path": str(tmp_path / "missing.json")}})


def test_unknown_property_of_google_tokens_is_refused(connect):
    with pytest.raises(
        ValidationError, match=r"auth\.google\.credential_path; expected auth\.google\.credentials_path"
    ):
        connect(**{"auth.type": "google", "auth.google.credential_path": "x"})


@pytest.fixture
def managed_identity(server, monkeypatch):
    """Make the prepared server the identity service of this machine."""
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.uri}{IDENTITY}")
    monkeypatch.setenv("IDENTITY_HEADER", "of-the-machine")
    others = ("environment", "shared_token_cache", "visual_studio_code", "cli", "powershell", "developer_cli", "broker")
    excluded = {f"exclude_{name}_credential": "true" for name in (*others, "workload_identity")}
    return {"type": "entra", "entra": {name: value for name, value in excluded.items() if "broker" not in name}}


def test_token_of_a_managed_identity_is_in_every_request(server, connect, managed_identity):
    reply = {"access_token": "of-entra", "expires_on": str(SECONDS), "resource": "x", "token_type": "Bearer"}
    server.on("GET", IDENTITY, Answer(reply))
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    catalog = connect(auth=managed_identity)
    catalog.list_namespaces()
    assert authorizations(server) == ["Bearer of-entra"]
    (request,) = server.received("GET", IDENTITY)
    assert request.headers["x-identity-header"] == "of-the-machine"
    assert request.query["resource"] == "https://storage.azure.com"


def test_scope_of_entra_tokens_is_a_property(server, connect, managed_identity):
    reply = {"access_token": "of-entra", "expires_on": str(SECONDS), "resource": "x", "token_type": "Bearer"}
    server.on("GET", IDENTITY, Answer(reply))
    managed_identity["entra"]["scopes"] = ["api://lake/.default"]
    connect(auth=managed_identity)
    assert server.received("GET", IDENTITY)[0].query["resource"] == "api://lake"


def test_entra_identity_that_gets_no_token_is_one_error(server, connect, managed_identity):
    server.on("GET", IDENTITY, Answer({"message": "no such identity"}, 400))
    with pytest.raises(OAuthError, match="catalog 'prod': Microsoft Entra ID issued no token"):
        connect(auth=managed_identity)


@pytest.mark.parametrize(("kind", "module"), [("google", "google.auth"), ("entra", "azure.identity")])
def test_library_that_is_not_installed_is_named_with_its_extra(connect, monkeypatch, kind, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NotInstalledError, match=rf"pip install 'icefloe\[rest-{kind}\]'"):
        connect(**{"auth.type": kind})


def test_class_of_the_user_authenticates_requests(server, connect):
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    custom = {"type": "custom", "impl": f"{HERE}HeaderOfTheUser", "custom": {"key": "very-secret", "scheme": "ApiKey"}}
    connect(auth=custom).list_namespaces()
    assert authorizations(server) == ["ApiKey very-secret"]


def test_class_of_the_user_may_send_no_header(server, connect):
    server.on("GET", NAMESPACES, NO_NAMESPACES)
    connect(**{"auth.type": "custom", "auth.impl": f"{HERE}NoHeader"}).list_namespaces()
    assert authorizations(server) == [None]


def test_header_of_the_users_class_is_in_no_error(server, connect):
    server.on("GET", NAMESPACES, error(401, "NotAuthorizedException", "bad key very-secret"))
    custom = {"type": "custom", "impl": f"{HERE}HeaderOfTheUser", "custom": {"key": "very-secret"}}
    with pytest.raises(UnauthorizedError) as raised:
        connect(auth=custom).list_namespaces()
    assert "very-secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"auth.type": "custom"}, r"property auth\.impl is required"),
        (
            {"auth.type": "custom", "auth.impl": "missing.module.Class"},
            r"auth\.impl: cannot load 'missing\.module\.Class'",
        ),
        ({"auth.type": "custom", "auth.impl": "Class"}, r"auth\.impl: cannot load 'Class'"),
        (
            {"auth.type": "custom", "auth.impl": f"{HERE}NotAnAuthentication"},
            r"expected a class with a method auth_header",
        ),
        (
            {"auth.type": "custom", "auth.impl": f"{HERE}HeaderOfTheUser"},
            r"properties auth\.custom\.\*: .* refuses them",
        ),
        ({"auth.type": "basic", "auth.impl": f"{HERE}NoHeader"}, r"auth\.impl: expected auth\.type custom beside it"),
        ({"auth.impl": f"{HERE}NoHeader"}, r"auth\.impl: expected auth\.type custom beside it"),
    ],
)
def test_invalid_class_of_the_user_is_refused(connect, properties, message):
    with pytest.raises(ValidationError, match=message):
        connect(**properties)
