"""Connections to a Hive Metastore, and the errors of its calls."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TApplicationException, TMessageType
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TSaslClientTransport

from icefloe.catalog.hive.calls import SET_UGI, Call
from icefloe.catalog.hive.structs import Kind, Refusal, Struct, of, specification
from icefloe.exceptions import NotInstalledError, StorageError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_PORT = 9083
LONGEST_TEXT = 256 * 1024 * 1024
MOST_ELEMENTS = 10_000_000
APPLICATION_ERROR = "TApplicationException"


class CallRefusedError(Exception):
    """The metastore replied to a call with an exception. Internal to the Hive catalog.

    Attributes:
        kind: The name of the exception in the interface.
        message: The message of the metastore.
        is_unknown_function: Whether this version of the metastore has no such function.
    """

    def __init__(self, kind: str, message: str, *, is_unknown_function: bool = False) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.is_unknown_function = is_unknown_function


class CallUnansweredError(Exception):
    """A call was sent, and no complete reply arrived. Internal to the Hive catalog."""


class Session:
    """A connection to a metastore; used by one thread.

    Args:
        transport: An open transport of Thrift.
        address: The address in error messages.
    """

    def __init__(self, transport: Any, address: str) -> None:
        self._protocol = TBinaryProtocol(
            transport, string_length_limit=LONGEST_TEXT, container_length_limit=MOST_ELEMENTS
        )
        self._address = address
        self._number = 0

    def call(self, call: Call, *arguments: Any) -> Any:
        """Make a call and return its result.

        Raises:
            CallRefusedError: The metastore replied with an exception.
            CallUnansweredError: The call was sent, and no complete reply arrived.
        """
        self._number += 1
        kinds = {number: (f"argument_{number}", kind) for number, kind in enumerate(call.arguments, 1)}
        values = {f"argument_{number}": value for number, value in enumerate(arguments, 1)}
        try:
            self._protocol.writeMessageBegin(call.name, TMessageType.CALL, self._number)
            _message(kinds)(**values).write(self._protocol)
            self._protocol.writeMessageEnd()
            self._protocol.trans.flush()
            reply = self._read_reply(call)
        except CallRefusedError:
            raise
        # Whatever the bytes of a reply make the library raise, the call may have taken effect.
        except Exception as error:
            raise CallUnansweredError(f"{self._address}, {call.name}: {_reason(error)}") from error
        for number, kind in call.refusals.items():
            refusal = getattr(reply, f"refusal_{number}")
            if refusal is not None:
                raise CallRefusedError(kind, refusal.message if refusal.message is not None else "")
        if call.result is not None and reply.success is None:
            raise CallUnansweredError(f"{self._address}, {call.name}: expected a result, got a reply without one")
        return reply.success if call.result is not None else None

    def _read_reply(self, call: Call) -> Struct:
        _, kind, number = self._protocol.readMessageBegin()
        if kind == TMessageType.EXCEPTION:
            error = TApplicationException()
            error.read(self._protocol)
            raise CallRefusedError(
                APPLICATION_ERROR,
                str(error.message),
                is_unknown_function=error.type == TApplicationException.UNKNOWN_METHOD,
            )
        if number != self._number:
            raise CallUnansweredError(f"expected the reply to call {self._number}, got {number}")
        fields = {number: (f"refusal_{number}", of(Refusal)) for number in call.refusals}
        if call.result is not None:
            fields[0] = ("success", call.result)
        reply = _message(fields)()
        reply.read(self._protocol)
        self._protocol.readMessageEnd()
        return reply


class Metastore:
    """The addresses of a metastore and the way to connect to it; picklable.

    Args:
        uri: One or more comma-separated addresses, `thrift://host:port`. The first that accepts a connection is used.
        timeout_seconds: The longest wait for a connection and for each part of a reply.
        user: `user` or `user:group`, passed to metastores without authentication; None passes none.
        service: The service name of the metastore's Kerberos principal; None connects without Kerberos.

    Raises:
        ValidationError: An address is not valid.
        NotInstalledError: A package that Kerberos needs is not installed.
    """

    def __init__(
        self, uri: str, *, timeout_seconds: float = 600, user: str | None = None, service: str | None = None
    ) -> None:
        self.addresses = [_parsed(part) for part in uri.split(",")]
        self._timeout_ms = timeout_seconds * 1000
        self._user = user
        self._service = service
        if service is not None:
            _check_kerberos()

    def __repr__(self) -> str:
        return "metastore " + ",".join(f"{host}:{port}" for host, port in self.addresses)

    def repeatable_call(self, call: Call, *arguments: Any) -> Any:
        """Make a call that may be made twice, and return its result. The next address is used after one that accepts connections without replying.

        Raises:
            CallRefusedError: A metastore replied with an exception.
            CallUnansweredError: No metastore replied.
            StorageError: No address accepts a connection.
        """
        failure: Exception | None = None
        for at in range(len(self.addresses)):
            try:
                with self.session(self.addresses[at:]) as session:
                    return session.call(call, *arguments)
            except CallUnansweredError as error:  # noqa: PERF203 - the next address may reply
                failure = error
            except StorageError:
                if failure is None:
                    raise
        assert failure is not None, "a metastore has an address"
        raise failure

    @contextmanager
    def session(self, addresses: list[tuple[str, int]] | None = None) -> Iterator[Session]:
        """Open a connection and close it at the end of the block.

        Args:
            addresses: The addresses to try in this order; None tries all.

        Raises:
            StorageError: No address accepts a connection.
        """
        transport, address = self._open(self.addresses if addresses is None else addresses)
        try:
            session = Session(transport, address)
            if self._user is not None:
                self._set_user(session, self._user)
            yield session
        finally:
            with suppress(Exception):
                transport.close()

    def _set_user(self, session: Session, user: str) -> None:
        try:
            session.call(
                SET_UGI, *(part if at == 0 else [part] for at, part in enumerate([*user.split(":", 1), user][:2]))
            )
        except (CallRefusedError, CallUnansweredError) as error:
            raise StorageError(f"{self!r}: cannot connect as user {user!r}: {error}") from error

    def _open(self, addresses: list[tuple[str, int]]) -> tuple[Any, str]:
        failures = []
        for host, port in addresses:
            socket = TSocket(host, port)
            socket.setTimeout(self._timeout_ms)
            try:
                transport = self._transport(socket, host)
                transport.open()
            # The SASL library raises errors of its own, and of the Kerberos library below it.
            except Exception as error:  # noqa: BLE001
                socket.close()
                failures.append(f"{host}:{port}: {_reason(error)}")
                continue
            return transport, f"metastore {host}:{port}"
        raise StorageError(f"{self!r}: cannot connect; check the property 'uri': {'; '.join(failures)}")

    def _transport(self, socket: Any, host: str) -> Any:
        if self._service is None:
            return TBufferedTransport(socket)
        return TSaslClientTransport(socket, host=host, service=self._service, mechanism="GSSAPI")


def _message(fields: dict[int, tuple[str, Kind]]) -> type[Struct]:
    """Return the struct of a call's arguments or of its reply."""
    return type("Message", (Struct,), {"fields": fields, "thrift_spec": specification(fields)})


def _parsed(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = urlsplit("")
    if parts.scheme != "thrift" or host is None:
        raise ValidationError(
            f"property 'uri': {address.strip()!r} is not the address of a Hive Metastore; expected thrift://host:port"
        )
    return host, port if port is not None else DEFAULT_PORT


def _check_kerberos() -> None:
    try:
        import kerberos  # noqa: F401
        import puresasl.client  # noqa: F401
    except ImportError as error:
        raise NotInstalledError(
            f"hive.kerberos-authentication needs the package {error.name}: pip install 'icefloe[hive-kerberos]'"
        ) from error


def _reason(error: BaseException) -> str:
    text = str(getattr(error, "message", None) or error).strip()
    return text if text != "" else type(error).__name__
