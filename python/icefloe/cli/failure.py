"""Errors of the command: exit codes, and the text or the JSON document on standard error."""

from __future__ import annotations

import json
from enum import IntEnum

import click

from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    MissingFileError,
    NoSuchIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    ValidationError,
    ValidationException,
)


class ExitCode(IntEnum):
    """The exit codes of the command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    UNKNOWN = 5
    PARTLY = 6
    PROBLEMS = 10
    INTERRUPTED = 130


class NotFoundError(ValidationError):
    """A snapshot, branch, tag or property of a table does not exist."""


_CODES: tuple[tuple[type[BaseException], ExitCode], ...] = (
    (click.UsageError, ExitCode.USAGE),
    (CommitStateUnknownException, ExitCode.UNKNOWN),
    (CommitFailedException, ExitCode.CONFLICT),
    (ValidationException, ExitCode.CONFLICT),
    (NotFoundError, ExitCode.NOT_FOUND),
    (NoSuchTableError, ExitCode.NOT_FOUND),
    (NoSuchNamespaceError, ExitCode.NOT_FOUND),
    (NoSuchViewError, ExitCode.NOT_FOUND),
    (NoSuchIdentifierError, ExitCode.NOT_FOUND),
    (MissingFileError, ExitCode.NOT_FOUND),
    (KeyboardInterrupt, ExitCode.INTERRUPTED),
    (click.Abort, ExitCode.INTERRUPTED),
)
_HINTS = {
    ExitCode.CONFLICT: "Another writer changed the table first, and nothing was changed; run the command again.",
    ExitCode.UNKNOWN: "Look at the table with `icefloe snapshots` before you run the command again; no file was deleted.",
    ExitCode.NOT_FOUND: "`icefloe list` shows namespaces and tables, `icefloe refs` and `icefloe snapshots` the versions of a table.",
    ExitCode.INTERRUPTED: "What was committed before the interrupt stays; run the command with --dry-run to see the rest.",
}
_MISSING_FILE = (
    "`icefloe doctor TABLE --files list` shows which files of a table are missing; a file that was named must exist."
)


def exit_code(error: BaseException) -> ExitCode:
    """Return the exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.FAILED)


def hint(error: BaseException) -> str | None:
    """Return advice on an error, None if its message has the advice already."""
    if isinstance(error, MissingFileError):
        return _MISSING_FILE
    if isinstance(error, click.UsageError):
        context = error.ctx
        return None if context is None else f"`{context.command_path} --help` shows the usage."
    return _HINTS.get(exit_code(error))


def message(error: BaseException) -> str:
    """Return the text of an error."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        # click raises Abort from the interrupt, whose text says how far the work came.
        return str(error) or str(error.__cause__ or "") or "interrupted"
    return str(error) or type(error).__name__


def _type_name(error: BaseException) -> str:
    """Return the type of an error; versions of click have different classes for wrong usage."""
    if isinstance(error, click.UsageError):
        return "UsageError"
    return "KeyboardInterrupt" if isinstance(error, click.Abort) else type(error).__name__


def report(error: BaseException, *, as_json: bool) -> ExitCode:
    """Write an error to standard error, and return the exit code."""
    kind = _type_name(error)
    advice = hint(error)
    if as_json:
        document = {"error": {"type": kind, "message": message(error), "hint": advice}}
        click.echo(json.dumps(document, ensure_ascii=False).encode(), err=True)
        return exit_code(error)
    click.echo(f"{click.style('error:', fg='red', bold=True)} {message(error)}", err=True)
    if advice is not None:
        click.echo(f"{click.style('hint:', fg='cyan')} {advice}", err=True)
    return exit_code(error)
