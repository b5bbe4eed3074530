"""Requests to a catalog server: authentication, retries, and the error of each failure."""

from __future__ import annotations

import os
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from icefloe.catalog.rest.masking import secret_values
from icefloe.catalog.rest.property_names import (
    CONNECT_TIMEOUT,
    HEADER_PREFIX,
    MAX_RETRIES,
    READ_TIMEOUT,
    SSL,
    TOKEN,
    whole_number,
)
from icefloe.catalog.rest.replies import Call, Failures, Reply, joined_secrets, json_object
from icefloe.exceptions import IcebergError, OAuthError, ValidationError
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from icefloe.catalog.rest.authentication import Authentication
    from icefloe.table.environment import Environment

_TOO_MANY = 429
# The server did not process the request.
_REPEATABLE = (_TOO_MANY, 503)
# A gateway failed between the server and this client: a read is repeated.
_REPEATABLE_READS = (502, 504)
_READS = ("GET", "HEAD")
_REJECTED_TOKEN = (401, 419)
# The request did not leave this machine.
_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.ProxyError,
    httpx.InvalidURL,
)
_LONGEST_WAIT_S = 64.0
_BEST_EFFORT_TIMEOUT_S = 5.0
_JITTER = 0.1


@dataclass(frozen=True)
class ClientSettings:
    """Retries, timeouts and headers of a client."""

    retries: int
    connect_timeout_s: float
    read_timeout_s: float
    headers: dict[str, str]

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> ClientSettings:
        """Return the settings in a catalog's properties.

        Raises:
            ValidationError: A property is not a number.
        """
        for name, value in properties.items():
            # The value may be secret. Whatever is a header ends here before an HTTP library shows it in an error.
            if name.startswith((HEADER_PREFIX, TOKEN)) and not str(value).isprintable():
                raise ValidationError(f"catalog property {name}: expected text without control characters")
        headers = {"User-Agent": "icefloe", "Accept": "application/json"}
        headers |= {
            name.removeprefix(HEADER_PREFIX): str(value)
            for name, value in properties.items()
            if name.startswith(HEADER_PREFIX)
        }
        return cls(
            retries=whole_number(properties, MAX_RETRIES, 5) or 0,
            connect_timeout_s=(whole_number(properties, CONNECT_TIMEOUT, 30_000, least=1) or 1) / 1000,
            read_timeout_s=(whole_number(properties, READ_TIMEOUT, 300_000, least=1) or 1) / 1000,
            headers=headers,
        )


@dataclass
class _Sending:
    """A request that may be sent several times.

    Attributes:
        call: The request's subject and errors.
        method: HTTP method.
        url: Address and query.
        content: The JSON body.
        headers: Headers without credentials.
        repeated: Whether an earlier attempt may have been processed.
        renewed: Whether the server rejected a token, which was replaced.
    """

    call: Call
    method: str
    url: str
    content: str | None
    headers: Mapping[str, str]
    repeated: bool = False
    renewed: bool = False


class RestClient:
    """Sends the requests of one catalog. Threads may share it, and a forked child opens connections of its own.

    Args:
        catalog: The catalog's name, for errors.
        properties: The catalog's properties.
        environment: Clock, sleep and randomness.

    Attributes:
        authentication: Adds credentials to requests.
        verify: How servers are verified.

    Raises:
        ValidationError: A property is invalid.
    """

    def __init__(self, catalog: str, properties: Mapping[str, str], environment: Environment) -> None:
        self._catalog = catalog
        self._settings = ClientSettings.of(properties)
        self._environment = environment
        self._own_secrets = secret_values(properties)
        self.verify = tls_context(properties)
        self._connections: tuple[int, httpx.Client] | None = None
        self.authentication: Authentication | None = None

    def send(  # noqa: PLR0913 - each is one part of a request
        self,
        call: Call,
        method: str,
        address: str,
        *,
        query: Mapping[str, str] = EMPTY_DICT,
        content: str | None = None,
        headers: Mapping[str, str] = EMPTY_DICT,
    ) -> Reply:
        """Send a request and return its reply.

        A status that says that the server did not process the request (429, 503) repeats it after a wait; so does, for a read,
        a lost reply or the failure of a gateway. No error after a change that got status 503 says that nothing has changed.

        Args:
            call: The request's subject and errors.
            method: HTTP method.
            address: The address without a query.
            query: Query parameters.
            content: The JSON body.
            headers: Further headers.

        Raises:
            CommitStateUnknownException: A change may or may not have taken effect.
            IcebergError: Another error of the reply, or no reply.
        """
        body = {"Content-Type": "application/json"} if content is not None else {}
        sending = _Sending(
            call, method, address + _query(query), content, {**self._settings.headers, **body, **headers}
        )
        is_read = method in _READS
        statuses = (*_REPEATABLE, *_REPEATABLE_READS) if is_read else _REPEATABLE
        for wait in (None,) if call.is_best_effort else self._waits():
            response = self._attempt(sending, last=wait is None or not is_read)
            if response is not None and (wait is None or response.status_code not in statuses):
                return self._checked(call, response, repeated=sending.repeated)
            # A server refuses a request beyond its limit before it processes the request. A proxy may report its own failure by 503.
            sending.repeated = sending.repeated or response is None or response.status_code != _TOO_MANY
            assert wait is not None
            self._environment.sleep(_stated_wait(response, wait))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def post_form(self, address: str, form: dict[str, str], headers: dict[str, str]) -> dict[str, Any]:
        """Send a form to a token server, and return the JSON object of its reply.

        Raises:
            OAuthError: The server refused the request, or its reply has no token.
        """
        call = Call("access token", missing=OAuthError)
        failures = self._failures()
        for wait in self._waits():
            request = self._client().build_request(
                "POST", address, data=form, headers={"Accept": "application/json", **headers}
            )
            try:
                response = self._client().send(request, follow_redirects=False)
            except httpx.HTTPError as error:
                if wait is None or isinstance(error, _UNSENT):
                    raise OAuthError(str(failures.of_unsent(call, request, error))) from None
            else:
                if wait is None or response.status_code not in (*_REPEATABLE, *_REPEATABLE_READS):
                    value = json_object(response)
                    if response.is_success and value is not None and isinstance(value.get("access_token"), str):
                        return value
                    if response.is_success:
                        raise OAuthError(str(failures.of_unreadable(call, response, "an access_token")))
                    raise OAuthError(str(failures.of_reply(call, response, repeated=False)))
            assert wait is not None
            self._environment.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def close(self) -> None:
        """Close the connections of this process."""
        if self._connections is not None and self._connections[0] == os.getpid():
            self._connections[1].close()
        self._connections = None

    def _client(self) -> httpx.Client:
        connections = self._connections
        if connections is None or connections[0] != os.getpid():
            timeout = httpx.Timeout(self._settings.read_timeout_s, connect=self._settings.connect_timeout_s)
            connections = (os.getpid(), httpx.Client(verify=self.verify, timeout=timeout, follow_redirects=False))
            self._connections = connections
        return connections[1]

    def _attempt(self, sending: _Sending, *, last: bool) -> httpx.Response | None:
        """Return the reply, of a second request if the server rejected the token of the first; None if it was lost and may be repeated."""
        response = self._answered(sending, self._authorized(sending), last=last)
        rejected = response is not None and response.status_code in _REJECTED_TOKEN
        if rejected and not sending.renewed and self._renew():
            sending.renewed = True
            response = self._answered(sending, self._authorized(sending), last=True)
        return response

    def _authorized(self, sending: _Sending) -> httpx.Request:
        call = sending.call
        try:
            request = self._client().build_request(
                sending.method,
                sending.url,
                content=sending.content,
                headers=dict(sending.headers),
                timeout=_BEST_EFFORT_TIMEOUT_S if call.is_best_effort else httpx.USE_CLIENT_DEFAULT,
            )
        except (httpx.InvalidURL, ValueError, TypeError) as error:
            raise ValidationError(
                self._failures().masked(
                    f"{call.subject}: catalog {self._catalog!r}: invalid address or header: {error}"
                )
            ) from None
        if self.authentication is not None:
            try:
                self.authentication.authorize(request)
            except IcebergError as error:
                if not (call.changes and sending.repeated):
                    raise
                raise self._failures().of_unrepeated(call, error) from None
        return request

    def _answered(self, sending: _Sending, request: httpx.Request, *, last: bool) -> httpx.Response | None:
        """Return the reply, None if it was lost and the request may be repeated."""
        call = sending.call
        try:
            return self._client().send(request)
        # The cause would show the request with its headers.
        except _UNSENT as error:
            raise self._failures().of_unsent(call, request, error, repeated=sending.repeated) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            if last:
                raise self._failures().of_lost_reply(call, request, error) from None
            return None

    def _checked(self, call: Call, response: httpx.Response, *, repeated: bool) -> Reply:
        if response.status_code == httpx.codes.NOT_MODIFIED and not call.changes:
            return Reply(response.status_code, {}, response.headers.get("etag"))
        if not response.is_success:
            raise self._failures().of_reply(call, response, repeated=repeated)
        if not response.content:
            # A reply to HEAD has no body, and a page has the type of a page all the same.
            if "html" in response.headers.get("content-type", "").lower():
                raise self._failures().of_unreadable(call, response, "a reply of the catalog")
            return Reply(response.status_code, {}, response.headers.get("etag"))
        body = json_object(response)
        if body is None:
            raise self._failures().of_unreadable(call, response, "a JSON object")
        # The plan of a scan may have failed, which it states together with an error.
        if isinstance(body.get("error"), dict) and "status" not in body:
            raise self._failures().of_unreadable(call, response, "no error with this status")
        return Reply(response.status_code, body, response.headers.get("etag"), response.content)

    def unreadable(self, call: Call, method: str, address: str, reason: str) -> IcebergError:
        """Return the error of a reply whose JSON object does not follow the protocol."""
        request = httpx.Request(method, address)
        response = httpx.Response(200, request=request, content=b"{}")
        return self._failures().of_unreadable(call, response, reason)

    def _renew(self) -> bool:
        return self.authentication is not None and self.authentication.renew()

    def _failures(self) -> Failures:
        current: set[str] = set()
        if self.authentication is not None:
            # Finding the secrets of an error must not raise another one.
            with suppress(IcebergError):
                current = self.authentication.secrets()
        return Failures(self._catalog, joined_secrets((self._own_secrets, current)))

    def _waits(self) -> Iterator[float | None]:
        """Yield for each attempt the seconds to wait after it, None for the last: 1, 2, 4 and so on, with jitter."""
        wait = 1.0
        for _ in range(self._settings.retries):
            yield wait + self._environment.uniform(0, wait * _JITTER)
            wait = min(wait * 2, _LONGEST_WAIT_S)
        yield None


def tls_context(properties: Mapping[str, str]) -> ssl.SSLContext | bool:
    """Return how servers are verified: `ssl.cabundle`, `ssl.client.cert`, `ssl.client.key`, else the default of httpx.

    Raises:
        ValidationError: A file cannot be read.
    """
    bundle = properties.get(f"{SSL}.cabundle")
    certificate, key = properties.get(f"{SSL}.client.cert"), properties.get(f"{SSL}.client.key")
    if bundle is None and certificate is None:
        return True
    try:
        if bundle is None:
            context = httpx.create_ssl_context()
        elif Path(bundle).is_dir():
            context = ssl.create_default_context(capath=bundle)
        else:
            context = ssl.create_default_context(cafile=bundle)
        if certificate is not None:
            context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        name = "cabundle" if certificate is None else "cabundle, ssl.client.cert or ssl.client.key"
        raise ValidationError(f"catalog property ssl.{name}: cannot be loaded: {error}") from error
    return context


def _query(parameters: Mapping[str, str]) -> str:
    # A space is `%20` and never `+`, which a signature of the address would have to tell from a plus sign.
    pairs = [f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in parameters.items()]
    return f"?{'&'.join(pairs)}" if pairs else ""


def _stated_wait(response: httpx.Response | None, wait: float) -> float:
    """Return the seconds in the header `Retry-After`, else the given wait."""
    stated = response.headers.get("retry-after", "") if response is not None else ""
    return min(float(stated), _LONGEST_WAIT_S) if stated.isdecimal() else wait
