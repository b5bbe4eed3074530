"""Interception of the calls to storage, to the core and to the stores of catalogs by an observer."""

from __future__ import annotations

import inspect
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol
from unittest.mock import patch

from icefloe import _core
from icefloe.catalog.hadoop import directories
from icefloe.io import FileIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.catalog.pointer_catalog import PointerCatalog

STORE = ("_pointer", "_insert", "_swap", "_remove", "_rename")
"""Methods of `PointerCatalog` subclasses that read or change their store."""
DIRECTORIES = ("open", "mkdir", "rename", "fsync", "stat")
"""Functions of hadoop catalogs that make system calls on directories."""


class Observer(Protocol):
    """A recipient of intercepted calls, which decides their effects and replies."""

    def call(self, name: str, effect: Callable[[], Any]) -> Any:
        """Return the reply of a call, or raise its error.

        Args:
            name: The call: `io.<method>`, `core.<function>`, `catalog.<method>` or `directory.<function>`.
            effect: Function that carries out the call and returns its reply.
        """


class ObservedIo:
    """Storage of the core with calls intercepted by an observer."""

    def __init__(self, real: Any, observer: Observer) -> None:
        self.real, self._observer = real, observer

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.real, name)
        if not callable(value) or name == "absolute":
            return value
        if name == "deferring":
            return lambda unsynced: value(unsynced.real)
        return lambda *args, **kwargs: self._observer.call(f"io.{name}", lambda: value(*args, **kwargs))


class _ObservedUnsyncedFiles:
    """New files that are not synced yet, with their sync intercepted by an observer."""

    def __init__(self, real: Any, observer: Observer) -> None:
        self.real, self._observer = real, observer

    def sync(self) -> None:
        self._observer.call("io.sync", self.real.sync)


class _ObservedCopiedRows:
    """Pages that a write copies, with the reads of their files intercepted by an observer."""

    def __init__(self, real: Any, observer: Observer) -> None:
        self.real, self._observer = real, observer

    def add(self, *args: Any) -> Any:
        return self._observer.call("core.CopiedRows.add", lambda: self.real.add(*args))


class _ObservedModule:
    """A module with some functions intercepted by an observer."""

    def __init__(self, real: Any, names: tuple[str, ...], prefix: str, observer: Observer) -> None:
        self._real, self._names, self._prefix, self._observer = real, names, prefix, observer

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if name not in self._names:
            return value
        return lambda *args, **kwargs: self._observer.call(f"{self._prefix}.{name}", lambda: value(*args, **kwargs))


@contextmanager
def observed(observer: Observer, *catalogs: type[PointerCatalog]) -> Iterator[None]:
    """Intercept all calls of storage, of the core's functions on storage and of the stores of catalogs until the block ends.

    Args:
        observer: The recipient of the calls.
        catalogs: The catalog classes whose stores are intercepted.
    """
    with ExitStack() as patches:
        real_core = FileIO.core
        observed_core = property(lambda self: ObservedIo(real_core.fget(self), observer))
        patches.enter_context(patch.object(FileIO, "core", observed_core))
        observed_files = partial(_observed_files, _core.UnsyncedFiles, observer)
        patches.enter_context(patch.object(_core, "UnsyncedFiles", observed_files))
        observed_rows = partial(_observed_rows, _core.CopiedRows, observer)
        patches.enter_context(patch.object(_core, "CopiedRows", observed_rows))
        for name in storage_functions():
            patches.enter_context(patch.object(_core, name, _observed_function(name, observer)))
        for catalog in catalogs:
            for name in STORE:
                patches.enter_context(patch.object(catalog, name, _observed_method(catalog, name, observer)))
        module = _ObservedModule(directories.os, DIRECTORIES, "directory", observer)
        patches.enter_context(patch.object(directories, "os", module))
        yield


@cache
def storage_functions() -> tuple[str, ...]:
    """Return the names of the core's functions that take storage as their first argument."""
    functions = ((name, getattr(_core, name)) for name in dir(_core))
    return tuple(
        name
        for name, value in functions
        if inspect.isbuiltin(value) and str(value.__text_signature__).startswith("(io")
    )


def _observed_files(real: Callable[[], Any], observer: Observer) -> _ObservedUnsyncedFiles:
    return _ObservedUnsyncedFiles(real(), observer)


def _observed_rows(real: Callable[..., Any], observer: Observer, io: ObservedIo, **kwargs: Any) -> _ObservedCopiedRows:
    return _ObservedCopiedRows(real(io.real, **kwargs), observer)


def _observed_function(name: str, observer: Observer) -> Callable[..., Any]:
    function = getattr(_core, name)

    def call(io: ObservedIo, *args: Any, **kwargs: Any) -> Any:
        real = {key: value.real if isinstance(value, _ObservedCopiedRows) else value for key, value in kwargs.items()}
        return observer.call(f"core.{name}", lambda: function(io.real, *args, **real))

    return call


def _observed_method(catalog: type[PointerCatalog], name: str, observer: Observer) -> Callable[..., Any]:
    method = getattr(catalog, name)

    def call(self: PointerCatalog, *args: Any, **kwargs: Any) -> Any:
        return observer.call(f"catalog.{name.lstrip('_')}", lambda: method(self, *args, **kwargs))

    return call
