"""Footers of ORC files, taken apart and put together with something else in them: Protocol Buffers by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Message = list[tuple[int, object]]
"""Fields by number, in order: an `int` or `bytes`."""

MAGIC = b"ORC"
STRIPE, TYPE, ROWS = 3, 4, 6


def number_bytes(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def parsed(data: bytes) -> Message:
    """Take a message apart."""
    place = 0

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    fields: Message = []
    while place < len(data):
        key = number()
        value: object = number()
        if key & 7 == 2:
            assert isinstance(value, int)
            place += value
            value = data[place - value : place]
        fields.append((key >> 3, value))
    return fields


def encoded(message: Message) -> bytes:
    """Put a message together."""
    out = b""
    for key, value in message:
        if isinstance(value, bytes):
            out += number_bytes(key << 3 | 2) + number_bytes(len(value)) + value
        else:
            assert isinstance(value, int)
            out += number_bytes(key << 3) + number_bytes(value)
    return out


def put(message: Message, key: int, value: object) -> None:
    """Give a field that is there once another value."""
    [place] = [place for place, (number, _) in enumerate(message) if number == key]
    message[place] = (key, value)


def get(message: Message, key: int) -> object:
    [value] = [value for number, value in message if number == key]
    return value


@dataclass
class OrcEnd:
    """The end of a file that is not compressed."""

    footer: Message
    postscript: Message
    lengths: dict[int, int] = field(default_factory=dict)
    """Fields of the postscript that are given a value at last: lengths that lie."""

    def of(self, key: int, place: int) -> Message:
        """The parsed stripe or type at a place."""
        value = [value for number, value in self.footer if number == key][place]
        assert isinstance(value, bytes)
        return parsed(value)

    def change(self, key: int, place: int, change: Callable[[Message], None]) -> None:
        """Change the stripe or type at a place."""
        message = self.of(key, place)
        change(message)
        at = [at for at, (number, _) in enumerate(self.footer) if number == key][place]
        self.footer[at] = (key, encoded(message))


def rewritten(path: Path, change: Callable[[OrcEnd], None]) -> None:
    """Give a file another end; its stripes stay."""
    data = path.read_bytes()
    postscript = parsed(data[-1 - data[-1] : -1])
    footer_end = len(data) - 1 - data[-1]
    length = get(postscript, 1)
    assert isinstance(length, int)
    end = OrcEnd(parsed(data[footer_end - length : footer_end]), postscript)
    change(end)
    footer = encoded(end.footer)
    put(end.postscript, 1, len(footer))
    for key, value in end.lengths.items():
        put(end.postscript, key, value)
    last = encoded(end.postscript)
    path.write_bytes(data[: footer_end - length] + footer + last + bytes([len(last)]))
