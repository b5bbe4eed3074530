"""Storage properties: their names, their values and the errors of wrong ones."""

from __future__ import annotations

import pytest
from icefloe import _core
from icefloe.exceptions import FeatureUnsupportedError, StorageError, ValidationError

S3 = {"s3.access-key-id": "an-id", "s3.secret-access-key": "a-secret", "s3.region": "us-east-1"}
ADLS = {"adls.account-key": "c2VjcmV0", "adls.account-name": "me"}
LOCATIONS = {"s3": "s3://bucket/a", "gcs": "gs://bucket/a", "adls": "abfss://box@me.dfs.core.windows.net/a"}


def refused(properties, location, error=ValidationError):
    with pytest.raises(error) as caught:
        _core.FileIo(properties).exists(location)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("s3.path-style-access", "perhaps"),
        ("s3.anonymous", "1"),
        ("s3.delete-enabled", "no"),
        ("s3.endpoint", "localhost:9000"),
        ("s3.endpoint", "ftp://host"),
        ("s3.proxy-uri", "nowhere"),
        ("s3.connect-timeout", "soon"),
        ("s3.connect-timeout", "-1"),
        ("s3.request-timeout", "nan"),
        ("s3.retry.num-retries", "-1"),
        ("s3.sse.type", "rot13"),
        ("s3.no-such-thing", "1"),
        ("s3.secret-acces-key", "typo"),
        ("gcs.no-auth", "maybe"),
        ("gcs.service.host", "host"),
        ("gcs.oauth2.tokens", "1"),
        ("adls.anonymous", "maybe"),
        ("adls.connection-string", "nothing"),
        ("adls.account-nam", "x"),
        ("adls.client-id", "alone"),
    ],
)
def test_wrong_property_is_named(name, value):
    service = name.split(".", maxsplit=1)[0]
    others = {"s3": S3, "adls": {}, "gcs": {}}[service]
    assert name in refused({**others, name: value}, LOCATIONS[service])


@pytest.mark.parametrize("half", ["s3.access-key-id", "s3.secret-access-key"])
def test_half_of_the_credentials_are_not_enough(half):
    (other,) = {"s3.access-key-id", "s3.secret-access-key"} - {half}
    message = refused({half: S3[half], "s3.region": "x"}, LOCATIONS["s3"])
    assert other in message
    assert S3[half] not in message


@pytest.mark.parametrize(
    ("name", "value"),
    [("s3.role-arn", "arn:aws:iam::1:role/x"), ("s3.profile-name", "me")],
)
def test_unknown_setting_is_refused_by_name(name, value):
    assert name in refused({**S3, name: value}, LOCATIONS["s3"], FeatureUnsupportedError)


def test_properties_of_other_libraries_that_change_nothing_are_accepted(tmp_path):
    ignored = {"s3.checksum-enabled": "true", "s3.delete.batch-size": "5", "s3.remote-signing-enabled": "false"}
    closed = {"s3.endpoint": "http://127.0.0.1:1", "s3.retry.num-retries": "0"}
    message = refused({**S3, **ignored, **closed}, LOCATIONS["s3"], StorageError)
    assert not any(name in message for name in ignored)


def test_azure_account_comes_from_the_location_or_a_property():
    closed = {"adls.account-host": "127.0.0.1:1", "adls.blob-storage-scheme": "http", "adls.retry.num-retries": "0"}
    refused({**closed, "adls.account-key": "c2VjcmV0"}, LOCATIONS["adls"], StorageError)
    refused({**closed, **ADLS}, "abfs://box/a", StorageError)
    refused({**closed, "adls.sas-token.me": "sig=x&se=y"}, "wasbs://box@me.blob.core.windows.net/a", StorageError)
    assert "adls.account-name" in refused({"adls.account-key": "c2VjcmV0"}, "abfs://box/a")


@pytest.mark.parametrize("service", ["s3", "gcs", "adls"])
def test_secrets_are_not_shown(service):
    secrets = {
        "s3": {**S3, "s3.endpoint": "http://127.0.0.1:1", "s3.session-token": "a-token"},
        "gcs": {"gcs.oauth2.token": "a-token", "gcs.service.host": "http://127.0.0.1:1"},
        "adls": {
            "adls.sas-token.me": "sv=1&sig=a-signature",
            "adls.account-host": "127.0.0.1:1",
            "adls.blob-storage-scheme": "http",
        },
    }[service]
    message = refused({**secrets, f"{service}.retry.num-retries": "0"}, LOCATIONS[service], StorageError)
    message += repr(_core.FileIo(secrets))
    assert LOCATIONS[service] in message
    for secret in ("a-secret", "a-token", "a-signature", "an-id"):
        assert secret not in message


def test_local_files_ask_for_no_property(tmp_path):
    io = _core.FileIo({"s3.no-such-thing": "x", "adls.neither": "y"})
    io.write(f"{tmp_path}/a", b"abc", overwrite=False)
    assert io.read(f"{tmp_path}/a") == b"abc"


@pytest.mark.parametrize(
    "location", ["s3://bucket", "s3://bucket/", "gs://bucket", "abfss://box@me.dfs.core.windows.net/"]
)
def test_location_of_a_store_is_no_file(location):
    assert "expected the location of a file" in refused({**S3, **ADLS, "gcs.no-auth": "true"}, location)
