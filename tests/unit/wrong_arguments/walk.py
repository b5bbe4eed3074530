"""A walk over the parameters of public calls: each gets values that it cannot take, the other parameters keep right ones.

A value that the annotation of a parameter excludes must be refused. A value that the annotation admits, such as a negative number or the
name that no column has, may be accepted. A call raises only exceptions of `icefloe.exceptions`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from icefloe.exceptions import IcebergError

WRONG_VALUES: Mapping[str, Any] = {
    "None": None,
    "True": True,
    "7": 7,
    "-1": -1,
    "nan": math.nan,
    "''": "",
    "'no such'": "no such",
    "b'x'": b"x",
    "[]": [],
    "[7]": [7],
    "{}": {},
    "{7: 7}": {7: 7},
    "object()": object(),
    "a datetime": datetime(2026, 1, 2),
}

# What a member of an annotation admits, besides an instance of the type itself. Any and object admit everything.
_SEQUENCES = ("[]", "[7]")
_ADMITTED: Mapping[str, tuple[str, ...]] = {
    "None": ("None",),
    "bool": ("True",),
    "int": ("7", "-1"),
    "float": ("7", "-1", "nan"),
    "str": ("''", "'no such'"),
    "bytes": ("b'x'",),
    "datetime": ("a datetime",),
    "Moment": ("''", "'no such'", "a datetime"),
    "Age": ("''", "'no such'"),
    "Identifier": ("[]",),
    "Properties": ("{}",),
    "Path": ("''", "'no such'", "[]"),
    "FileCheck": ("''", "'no such'"),
    "Condition": ("None",),
    "Values": ("None",),
    "dict": ("{}",),
    "Mapping": ("{}",),
    "tuple": ("[]",),
    "list": ("[]",),
    "set": ("[]",),
    "Sequence": ("[]",),
    "Iterable": ("[]", "{}"),
    "Any": tuple(WRONG_VALUES),
    "object": tuple(WRONG_VALUES),
}


@dataclass(frozen=True)
class FromSubject:
    """An argument that is computed from the subject, such as the id of its snapshot."""

    value: Callable[[Any], Any]


@dataclass(frozen=True)
class Call:
    """A public call with right arguments.

    Attributes:
        function: Returns the function or bound method from the subject of the walk.
        args: Right positional arguments.
        kwargs: Right keyword arguments.
        admitted: For a parameter, the wrong values that are accepted on purpose although the annotation excludes them.
        then: Uses the result as a caller would.
    """

    function: Callable[[Any], Callable[..., Any]]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    admitted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    then: Callable[[Any], object] = lambda result: result

    def parameters(self, subject: Any) -> Iterator[tuple[str, str, Callable[[Any], Callable[[Any], object]]]]:
        """Yield each parameter with its annotation, and a function that replaces its argument."""
        bound = self._bound(subject)
        for name, parameter in bound.signature.parameters.items():
            if name not in bound.arguments:
                continue
            annotation = str(parameter.annotation)
            given = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                for position in range(len(given)):
                    yield name, annotation, self._replaced(name, position)
            elif parameter.kind is parameter.VAR_KEYWORD:
                for key in given:
                    yield key, annotation, self._replaced(name, key)
            else:
                yield name, annotation, self._replaced(name, None)

    def run(self, subject: Any) -> object:
        """Make the call with the right arguments."""
        bound = self._bound(subject)
        return self.then(self.function(subject)(*bound.args, **bound.kwargs))

    def _bound(self, subject: Any) -> inspect.BoundArguments:
        def of(value: Any) -> Any:
            return value.value(subject) if isinstance(value, FromSubject) else value

        kwargs = {name: of(value) for name, value in self.kwargs.items()}
        return inspect.signature(self.function(subject)).bind(*map(of, self.args), **kwargs)

    def _replaced(self, name: str, part: Any) -> Callable[[Any], Callable[[Any], object]]:
        def with_value(value: Any) -> Callable[[Any], object]:
            def run(subject: Any) -> object:
                bound = self._bound(subject)
                if part is None:
                    bound.arguments[name] = value
                elif isinstance(part, int):
                    given = list(bound.arguments[name])
                    given[part] = value
                    bound.arguments[name] = tuple(given)
                else:
                    bound.arguments[name] = {**bound.arguments[name], part: value}
                return self.then(self.function(subject)(*bound.args, **bound.kwargs))

            return run

        return with_value


def admitted_values(annotation: str) -> set[str]:
    """Return the names of the wrong values that a parameter of an annotation may accept."""
    members = re.split(r"\s*\|\s*", re.sub(r"\[[^\[\]]*(\[[^\]]*\][^\[\]]*)*\]", "", annotation.strip("'")))
    return {name for member in members for name in _ADMITTED.get(member.split(".")[-1], ())}


def used(result: Any) -> Any:
    """Read a scan, plan a maintenance verb, commit a builder, exhaust an iterator."""
    for verb in ("to_arrow", "plan", "commit"):
        if hasattr(result, verb) and not isinstance(result, type):
            return getattr(result, verb)()
    if isinstance(result, Iterator):
        return list(islice(result, 10))
    return result


def faults(calls: Mapping[str, Call], new_subject: Callable[[], Any], state: Callable[[Any], object]) -> list[str]:
    """Return one line for each wrong value that is accepted or that raises an exception outside the tree.

    Args:
        calls: The calls by name.
        new_subject: Returns the subject of the calls, a table for example.
        state: Returns a value that a refused call must not change.
    """
    found = []
    subject = new_subject()
    for label, call in calls.items():
        call.run(subject)
        subject = new_subject()
        for name, annotation, replaced in call.parameters(subject):
            accepted = admitted_values(annotation) | set(call.admitted.get(name, ()))
            for value_name, value in WRONG_VALUES.items():
                before = state(subject)
                try:
                    replaced(value)(subject)
                except IcebergError as error:
                    if state(subject) != before:
                        found.append(f"{label}({name}={value_name}): refused after a change: {error}")
                    elif not str(error).strip():
                        found.append(f"{label}({name}={value_name}): refused without a message")
                except Exception as error:  # noqa: BLE001 - every other exception is a fault of the call
                    found.append(f"{label}({name}={value_name}): {type(error).__name__}: {error}"[:240])
                    subject = new_subject()
                else:
                    if value_name not in accepted:
                        found.append(f"{label}({name}={value_name}): accepted")
                    subject = new_subject()
    return found


def public_calls(subject: Any) -> set[str]:
    """Return the names of the public methods of an object that have parameters."""
    names = set()
    for name in dir(type(subject)):
        attribute = inspect.getattr_static(type(subject), name)
        if name.startswith("_") or (
            not isinstance(attribute, staticmethod | classmethod) and not inspect.isfunction(attribute)
        ):
            continue
        if inspect.signature(getattr(subject, name)).parameters:
            names.add(name)
    return names
