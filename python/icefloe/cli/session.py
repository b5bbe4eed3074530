"""The settings of one run of the command: catalog, format of the output, and the tables that arguments name."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from icefloe.catalog.configuration import default_catalog_of, properties_of
from icefloe.catalog.load import load_catalog
from icefloe.cli.output import Output

if TYPE_CHECKING:
    from icefloe.catalog.catalog import Catalog
    from icefloe.table import Table


@dataclass
class Session:
    """The settings of one run, filled from options before and behind the verb.

    Attributes:
        catalog_name: The catalog; None for the configured default.
        config: A configuration file that takes precedence over the environment and the usual files.
        properties: Catalog properties from options.
        format: Format of the output.
        quiet: Whether progress and notes are left out.
        verbose: Whether errors show their traceback.
    """

    catalog_name: str | None = None
    config: Path | None = None
    properties: dict[str, str] = field(default_factory=dict)
    format: str = "text"
    quiet: bool = False
    verbose: bool = False

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog, opened at its first use."""
        name, properties = self.catalog_name, {}
        if self.config is not None:
            name = name if name is not None else default_catalog_of(self.config)
            properties = properties_of(name, self.config)
        return load_catalog(name, **{**properties, **self.properties})

    @cached_property
    def output(self) -> Output:
        """Standard output in the chosen format."""
        return Output(self.format)

    def table(self, name: str) -> Table:
        """Return the table of an argument: an identifier, a table directory, or a metadata file.

        Tables of directories and files are read-only.

        Raises:
            NoSuchTableError: There is no such table.
        """
        from icefloe.table import StaticTable

        if is_location(name):
            return StaticTable.from_metadata(name, self._storage_properties())
        return self.catalog.load_table(name)

    def changeable_table(self, name: str) -> Table:
        """Return the table of an argument for a change of it.

        Raises:
            UsageError: The argument is a location: a change needs the catalog that the table belongs to.
        """
        if is_location(name):
            raise click.UsageError(
                f"{name} is a location, which can only be read; expected the table's name in its catalog, such as db.events"
            )
        return self.catalog.load_table(name)

    def note(self, text: str) -> None:
        """Write a line to standard error, unless the run is quiet."""
        if not self.quiet:
            click.echo(text, err=True)

    def close(self) -> None:
        """Close the catalog if it was opened."""
        if "catalog" in self.__dict__:
            self.catalog.close()

    def _storage_properties(self) -> dict[str, str]:
        """Return the properties of the storage of a table without a catalog; a named catalog lends its own."""
        if self.catalog_name is None and self.config is None:
            return dict(self.properties)
        return dict(self.catalog.properties)


pass_session = click.make_pass_decorator(Session)


def is_location(name: str) -> bool:
    """Return whether an argument is a location, and not an identifier such as `db.events`."""
    if name == "":
        return False
    return "/" in name or "\\" in name or name.startswith(".") or name.endswith(".json") or Path(name).is_dir()


def has_terminal() -> bool:
    """Return whether questions can be put to a person."""
    # A stream is None if the parent process closed it.
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
