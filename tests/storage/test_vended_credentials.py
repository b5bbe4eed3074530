"""Credentials that a catalog lends: used until they expire, renewed at its endpoint, by every process that reads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from icefloe import _core
from icefloe.exceptions import StorageError, ValidationError

from tests.storage.lender import PATH, Lender
from tests.storage.test_gcs_requests import gcs  # noqa: F401  a fixture

HOUR_MS = 3_600_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def s3_credentials(s3, *, prefix: str, expires_ms: int, secret: str | None = None) -> dict[str, object]:
    return {
        "prefix": prefix,
        "config": {
            "s3.access-key-id": s3.access_key,
            "s3.secret-access-key": secret or s3.secret_key,
            "s3.session-token-expires-at-ms": str(expires_ms),
        },
    }


def lent_properties(s3, lender: Lender, **changed: str) -> dict[str, str]:
    properties = {
        **s3.properties(),
        "s3.access-key-id": "expired",
        "s3.secret-access-key": "expired-secret",
        "s3.session-token-expires-at-ms": str(now_ms() - 1),
        "uri": lender.address,
        "token": "catalog-token",
        "header.x-tenant": "blue",
        "client.refresh-credentials-endpoint": PATH,
    }
    return {**properties, **{name.replace("__", ".").replace("_", "-"): value for name, value in changed.items()}}


def test_expired_credentials_are_renewed_once_and_kept(s3, bucket, lender):
    far = now_ms() + HOUR_MS
    lender.credentials = [
        s3_credentials(s3, prefix="s3", expires_ms=far, secret="of-something-wider"),
        s3_credentials(s3, prefix=f"s3://{bucket}/warehouse/", expires_ms=far),
        s3_credentials(s3, prefix="s3://another", expires_ms=far, secret="of-something-else"),
    ]
    io = _core.FileIo(lent_properties(s3, lender))
    for number in range(5):
        io.write(f"s3://{bucket}/warehouse/{number}", b"data", overwrite=False)
        assert io.read(f"s3://{bucket}/warehouse/{number}") == b"data"
    assert [path for path, _ in lender.requests] == [PATH]
    headers = lender.requests[0][1]
    assert (headers["authorization"], headers["x-tenant"]) == ("Bearer catalog-token", "blue")


@pytest.mark.parametrize("prefix", ["s3", "", "s3://{bucket}", "s3://{bucket}/warehouse/"])
def test_renewed_credentials_have_the_longest_prefix_of_the_table(s3, bucket, lender, prefix):
    far = now_ms() + HOUR_MS
    lender.credentials = [
        s3_credentials(s3, prefix=prefix.format(bucket=bucket), expires_ms=far),
        s3_credentials(s3, prefix=f"s3://{bucket}/elsewhere/a/long/path/", expires_ms=far, secret="of-another-table"),
        s3_credentials(s3, prefix=f"s3://{bucket}/warehouse/table/data/", expires_ms=far, secret="of-a-part"),
    ]
    table = {"client.refresh-credentials-location": f"s3://{bucket}/warehouse/table/"}
    io = _core.FileIo(lent_properties(s3, lender, **table))
    io.write(f"s3://{bucket}/warehouse/table/1", b"data", overwrite=False)
    assert io.read(f"s3://{bucket}/warehouse/table/1") == b"data"
    assert len(lender.requests) == 1


def test_first_of_renewed_credentials_with_one_prefix_is_used(s3, bucket, lender):
    far, prefix = now_ms() + HOUR_MS, f"s3://{bucket}/"
    lender.credentials = [
        s3_credentials(s3, prefix=prefix, expires_ms=far),
        s3_credentials(s3, prefix=prefix, expires_ms=far, secret="of-the-second"),
        s3_credentials(s3, prefix=f"s3a://{bucket}/warehouse/", expires_ms=far, secret="of-another-scheme"),
    ]
    table = {"client.refresh-credentials-location": f"s3://{bucket}/warehouse/"}
    io = _core.FileIo(lent_properties(s3, lender, **table))
    io.write(f"s3://{bucket}/one", b"data", overwrite=False)
    assert io.read(f"s3://{bucket}/one") == b"data"
    assert len(lender.requests) == 1


def test_renewed_credentials_of_another_scheme_of_the_service_are_used(s3, bucket, lender):
    lender.credentials = [s3_credentials(s3, prefix=f"s3://{bucket}/", expires_ms=now_ms() + HOUR_MS)]
    table = {"client.refresh-credentials-location": f"s3a://{bucket}/warehouse/"}
    io = _core.FileIo(lent_properties(s3, lender, **table))
    io.write(f"s3a://{bucket}/one", b"data", overwrite=False)
    assert io.read(f"s3a://{bucket}/one") == b"data"
    assert len(lender.requests) == 1


def test_renewed_credentials_for_other_locations_are_an_error(s3, bucket, lender):
    lender.credentials = [s3_credentials(s3, prefix=f"s3://{bucket}/elsewhere/", expires_ms=now_ms() + HOUR_MS)]
    table = {"client.refresh-credentials-location": f"s3://{bucket}/warehouse/"}
    with pytest.raises(StorageError, match=rf"expected credentials for s3://{bucket}/warehouse/, got them for \["):
        _core.FileIo(lent_properties(s3, lender, **table)).read(f"s3://{bucket}/warehouse/1")


def soon_to_expire(s3, lender: Lender, left_ms: int) -> _core.FileIo:
    """Return access whose credentials are valid for this long."""
    own = {"s3.access-key-id": s3.access_key, "s3.secret-access-key": s3.secret_key}
    return _core.FileIo(
        lent_properties(s3, lender, **own, **{"s3.session-token-expires-at-ms": str(now_ms() + left_ms)})
    )


def test_credentials_about_to_expire_are_renewed_before(s3, bucket, lender):
    lender.credentials = [s3_credentials(s3, prefix="s3", expires_ms=now_ms() + HOUR_MS)]
    io = soon_to_expire(s3, lender, 60_000)
    io.write(f"s3://{bucket}/soon", b"data", overwrite=False)
    assert len(lender.requests) == 1
    assert io.read(f"s3://{bucket}/soon") == b"data"
    assert len(lender.requests) == 1


def test_failed_renewal_of_valid_credentials_is_not_repeated_by_each_request(s3, bucket, lender):
    io = soon_to_expire(s3, lender, 60_000)
    lender.statuses = [503] * 8
    for number in range(5):
        io.write(f"s3://{bucket}/{number}", b"data", overwrite=False)
    assert len(lender.requests) == 1


def test_short_credentials_are_not_renewed_by_each_request(s3, bucket, lender):
    lender.credentials = [s3_credentials(s3, prefix="s3", expires_ms=now_ms() + 60_000)]
    io = _core.FileIo(lent_properties(s3, lender))
    for number in range(5):
        io.write(f"s3://{bucket}/{number}", b"data", overwrite=False)
    assert len(lender.requests) == 1


def test_failed_renewal_is_repeated_before_the_credentials_expire(s3, bucket, lender):
    lender.credentials = [s3_credentials(s3, prefix="s3", expires_ms=now_ms() + HOUR_MS)]
    lender.statuses = [503]
    left_ms = 6_000
    io = soon_to_expire(s3, lender, left_ms)
    io.write(f"s3://{bucket}/soon", b"data", overwrite=False)
    assert len(lender.requests) == 1
    time.sleep(left_ms / 4 / 1_000)
    assert io.read(f"s3://{bucket}/soon") == b"data"
    assert len(lender.requests) == 2


def test_valid_credentials_are_used_while_one_request_renews_them(s3, bucket, lender):
    io = soon_to_expire(s3, lender, 60_000)
    lender.credentials = [s3_credentials(s3, prefix="s3", expires_ms=now_ms() + HOUR_MS)]
    with ThreadPoolExecutor(2) as pool, lender.answering_late():
        first = pool.submit(io.write, f"s3://{bucket}/first", b"data", overwrite=False)
        assert lender.asked.wait(timeout=20)
        pool.submit(io.write, f"s3://{bucket}/second", b"data", overwrite=False).result(timeout=20)
        assert not first.done()
    first.result()
    assert len(lender.requests) == 1


def test_good_credentials_ask_nobody_and_outlive_a_lender_that_fails(s3, bucket, lender):
    own = {"s3.access-key-id": s3.access_key, "s3.secret-access-key": s3.secret_key}
    far = {**own, "s3.session-token-expires-at-ms": str(now_ms() + HOUR_MS)}
    _core.FileIo(lent_properties(s3, lender, **far)).write(f"s3://{bucket}/good", b"data", overwrite=False)
    assert lender.requests == []
    soon = {**own, "s3.session-token-expires-at-ms": str(now_ms() + 60_000)}
    lender.statuses = [403]
    assert _core.FileIo(lent_properties(s3, lender, **soon)).read(f"s3://{bucket}/good") == b"data"
    assert len(lender.requests) == 1


def test_lender_that_fails_for_a_moment_is_asked_again(s3, bucket, lender):
    lender.statuses = [503, 429]
    lender.credentials = [s3_credentials(s3, prefix="s3", expires_ms=now_ms() + HOUR_MS)]
    _core.FileIo(lent_properties(s3, lender)).write(f"s3://{bucket}/again", b"data", overwrite=False)
    assert len(lender.requests) == 3


@pytest.mark.parametrize(
    ("status", "credentials", "message"),
    [
        (401, [], "expected status 200, got 401"),
        (200, [], "expected credentials for s3://"),
        (200, [{"prefix": "s3", "config": {"s3.access-key-id": "alone"}}], "expected credentials for s3://"),
        (200, "nothing", "expected a list of storage-credentials"),
    ],
)
def test_what_does_not_come_is_said(s3, bucket, lender, status, credentials, message):
    lender.statuses = [status]
    lender.credentials = credentials
    with pytest.raises(StorageError, match=message) as raised:
        _core.FileIo(lent_properties(s3, lender)).read(f"s3://{bucket}/never")
    assert PATH in str(raised.value)
    assert "catalog-token" not in str(raised.value)


def test_renewal_can_be_switched_off_and_wants_an_address(s3, bucket, lender):
    off = lent_properties(s3, lender, **{"client.refresh-credentials-enabled": "false"})
    with pytest.raises(StorageError):
        _core.FileIo(off).read(f"s3://{bucket}/never")
    assert lender.requests == []
    nowhere = lent_properties(s3, lender)
    del nowhere["uri"]
    with pytest.raises(ValidationError, match=r"client\.refresh-credentials-endpoint"):
        _core.FileIo(nowhere).read(f"s3://{bucket}/never")


def test_tokens_of_google_are_renewed(gcs, lender):  # noqa: F811  the fixture
    address, objects, seen = gcs
    objects["/bucket/one"] = b"data"
    lender.credentials = [
        {
            "prefix": "gs://bucket/warehouse",
            "config": {"gcs.oauth2.token": "fresh", "gcs.oauth2.token-expires-at": str(now_ms() + HOUR_MS)},
        }
    ]
    properties = {
        "gcs.service.host": address,
        "gcs.oauth2.token": "stale",
        "gcs.oauth2.token-expires-at": str(now_ms() - 1),
        "gcs.oauth2.refresh-credentials-endpoint": f"{lender.address}{PATH}",
    }
    assert _core.FileIo(properties).read("gs://bucket/one") == b"data"
    assert {headers["authorization"] for _, headers in seen} == {"Bearer fresh"}
