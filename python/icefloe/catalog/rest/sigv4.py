"""AWS Signature Version 4 of requests to a catalog, such as the REST endpoints of AWS Glue and S3 Tables.

The algorithm is 60 lines on the standard library. botocore, which has it too, is 90 MB of service descriptions; it is used
only where it is installed, to find credentials in profiles and instance metadata.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from icefloe.catalog.rest.authentication import AUTHORIZATION
from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

    from icefloe.catalog.rest.authentication import Authentication

_ALGORITHM = "AWS4-HMAC-SHA256"
# The previous Authorization header moves here, as in the Java reference.
_RELOCATED = "Original-Authorization"
# Headers that proxies change, and headers that this module sets last.
_UNSIGNED = {"connection", "user-agent", "accept-encoding", "accept", "expect", "x-amzn-trace-id", "authorization"}


@dataclass(frozen=True)
class AwsKeys:
    """AWS credentials."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


class SigV4:
    """Authentication by signatures of requests.

    Args:
        keys: Returns the present credentials.
        region: The AWS region of the catalog.
        service: The name of the service that signatures are for.
        inner: The authentication whose `Authorization` header is signed too, as `Original-Authorization`.
        now: Seconds since 1970-01-01 UTC.
    """

    def __init__(
        self,
        keys: Callable[[], AwsKeys],
        region: str,
        service: str,
        inner: Authentication,
        now: Callable[[], float],
    ) -> None:
        self._keys, self._region, self._service, self._inner, self._now = keys, region, service, inner, now

    def authorize(self, request: httpx.Request) -> None:  # noqa: D102 - described by the protocol
        self._inner.authorize(request)
        if (own := request.headers.pop(AUTHORIZATION, None)) is not None:
            request.headers[_RELOCATED] = own
        moment = dt.datetime.fromtimestamp(self._now(), dt.timezone.utc)
        sign(request, self._keys(), self._region, self._service, moment)

    def renew(self) -> bool:  # noqa: D102
        return self._inner.renew()

    def fixed_headers(self) -> None:  # noqa: D102
        return None

    def secrets(self) -> set[str]:  # noqa: D102
        keys = self._keys()
        own = {keys.secret_access_key, keys.session_token}
        return self._inner.secrets() | {secret for secret in own if secret is not None}


def sign(request: httpx.Request, keys: AwsKeys, region: str, service: str, moment: dt.datetime) -> None:
    """Add the headers of a signature to a complete request.

    Args:
        request: Method, address, headers and body to sign.
        keys: Credentials.
        region: AWS region.
        service: Service of the signature.
        moment: Time of the signature, in UTC.
    """
    body_hash = hashlib.sha256(request.content).hexdigest()
    stamp, day = moment.strftime("%Y%m%dT%H%M%SZ"), moment.strftime("%Y%m%d")
    request.headers["X-Amz-Date"] = stamp
    request.headers["X-Amz-Content-SHA256"] = body_hash
    if keys.session_token is not None:
        request.headers["X-Amz-Security-Token"] = keys.session_token
    signed = {
        name.lower(): " ".join(value.split())
        for name, value in request.headers.items()
        if name.lower() not in _UNSIGNED
    }
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        [
            request.method,
            _canonical_path(request),
            _canonical_query(request),
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            body_hash,
        ]
    )
    scope = f"{day}/{region}/{service}/aws4_request"
    text = "\n".join([_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{keys.secret_access_key}".encode()
    for part in (day, region, service, "aws4_request"):
        key = _hmac(key, part)
    signature = _hmac(key, text).hex()
    request.headers[AUTHORIZATION] = (
        f"{_ALGORITHM} Credential={keys.access_key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    )


def keys_of(properties: Mapping[str, str]) -> Callable[[], AwsKeys]:
    """Return a source of credentials: `rest.*` properties, `client.*`, `s3.*`, environment variables, else botocore.

    Raises:
        ValidationError: There are no credentials.
    """
    for prefix in ("rest.", "client.", "s3."):
        access, secret = properties.get(f"{prefix}access-key-id"), properties.get(f"{prefix}secret-access-key")
        if access is not None and secret is not None:
            fixed = AwsKeys(access, secret, properties.get(f"{prefix}session-token"))
            return lambda: fixed
    access, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if access is not None and secret is not None:
        of_environment = AwsKeys(access, secret, os.environ.get("AWS_SESSION_TOKEN"))
        return lambda: of_environment
    return _botocore_keys(properties.get("client.profile-name"))


def _botocore_keys(profile: str | None) -> Callable[[], AwsKeys]:
    try:
        from botocore.session import Session
    except ImportError:
        found = None
    else:
        found = Session(profile=profile).get_credentials()
    if found is None:
        raise ValidationError(
            "catalog property rest.sigv4-enabled: no AWS credentials found; set rest.access-key-id and rest.secret-access-key, or "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or install boto3 for profiles and instance metadata"
        )

    def current() -> AwsKeys:
        frozen = found.get_frozen_credentials()
        return AwsKeys(frozen.access_key, frozen.secret_key, frozen.token)

    return current


def _canonical_path(request: httpx.Request) -> str:
    # Every segment is encoded twice: once by the address, once by the signature.
    path = request.url.raw_path.partition(b"?")[0].decode()
    return quote(path if path != "" else "/", safe="/~")


def _canonical_query(request: httpx.Request) -> str:
    pairs = parse_qsl(request.url.query.decode(), keep_blank_values=True)
    return "&".join(
        f"{name}={value}" for name, value in sorted((quote(n, safe="~"), quote(v, safe="~")) for n, v in pairs)
    )


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
