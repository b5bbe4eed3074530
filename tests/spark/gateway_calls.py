"""The calls from Python into the JVM of a session, each of which takes a round trip."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.java_gateway import GatewayClient

if TYPE_CHECKING:
    from collections.abc import Iterator

_RELEASE = "m\nd"


@contextmanager
def recorded_calls() -> Iterator[list[str]]:
    """Record the commands of calls in a block, without the release of objects, which garbage collection causes."""
    commands: list[str] = []
    send = GatewayClient.send_command

    def recording(self, command, *others, **named):
        if not command.startswith(_RELEASE):
            commands.append(command)
        return send(self, command, *others, **named)

    GatewayClient.send_command = recording
    try:
        yield commands
    finally:
        GatewayClient.send_command = send
