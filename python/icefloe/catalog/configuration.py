"""Catalog properties from files and from the environment, read when asked for and never at import."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE_NAMES = (".icefloe.yaml", ".pyiceberg.yaml")
PREFIXES = ("PYICEBERG_CATALOG__", "ICEFLOE_CATALOG__")
HOMES = ("ICEFLOE_HOME", "PYICEBERG_HOME")

# PyIceberg's constants: keys of catalog properties, and of the parameters that catalogs store for a table.
TOKEN = "token"  # noqa: S105 - a name
TYPE = "type"
PY_CATALOG_IMPL = "py-catalog-impl"
ICEBERG = "iceberg"
TABLE_TYPE = "table_type"
WAREHOUSE_LOCATION = "warehouse"
METADATA_LOCATION = "metadata_location"
PREVIOUS_METADATA_LOCATION = "previous_metadata_location"
MANIFEST = "manifest"
MANIFEST_LIST = "manifest list"
PREVIOUS_METADATA = "previous metadata"
METADATA = "metadata"
URI = "uri"
LOCATION = "location"
EXTERNAL_TABLE = "EXTERNAL_TABLE"
BOTOCORE_SESSION = "botocore_session"


def catalog_properties(name: str, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the properties that files and environment give a catalog; the environment wins.

    Raises:
        ValidationError: A configuration file is not what it should be.
    """
    variables = os.environ if environment is None else environment
    return {**_from_files(name, variables), **_from_environment(name, variables)}


def list_catalogs() -> list[str]:
    """Return the names of the catalogs that configuration files and environment describe: those of files first.

    Files and variables are the ones that :func:`icefloe.catalog.load_catalog` reads. Names of variables are in lower case; a variable of a catalog
    that a file describes adds no name.

    Raises:
        ValidationError: A configuration file is not what it should be.
    """
    names: dict[str, str] = {}
    for path in _files(os.environ):
        for name in _catalogs(path):
            names.setdefault(_folded(name), name)
    for prefix in PREFIXES:
        for variable in os.environ:
            if variable.upper().startswith(prefix):
                owner, _, key = variable[len(prefix) :].partition("__")
                if owner != "" and key != "":
                    names.setdefault(_folded(owner), owner.lower())
    return list(names.values())


def _from_environment(name: str, variables: Mapping[str, str]) -> dict[str, str]:
    """`PYICEBERG_CATALOG__DEFAULT__S3__ACCESS_KEY_ID` is `s3.access-key-id` of `default`."""
    found: dict[str, str] = {}
    for prefix in PREFIXES:
        for variable, value in variables.items():
            if not variable.upper().startswith(prefix):
                continue
            owner, _, key = variable[len(prefix) :].partition("__")
            if key != "" and _folded(owner) == _folded(name):
                found[_property_key(key)] = value
    return found


def _property_key(key: str) -> str:
    text = key.lower().replace("__", ".").replace("_", "-")
    return {"init-catalog-tables": "init_catalog_tables"}.get(text, text)


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _from_files(name: str, variables: Mapping[str, str]) -> dict[str, str]:
    for path in _files(variables):
        catalogs = _catalogs(path)
        if name in catalogs:
            return _flat(catalogs[name], path)
    return {}


def _files(variables: Mapping[str, str]) -> Iterator[Path]:
    """Yield the configuration files that exist; of a catalog in several of them the first counts."""
    directories = [Path(variables[home]) for home in HOMES if home in variables]
    directories += [Path.home(), Path.cwd()]
    for directory in directories:
        for file_name in FILE_NAMES:
            path = directory / file_name
            if path.is_file():
                yield path


def _catalogs(path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError as error:
        raise ValidationError(f"reading {path} needs PyYAML: pip install pyyaml") from error
    try:
        # The base loader makes text of every scalar and constructs nothing else.
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise ValidationError(f"{path} is not YAML: {error}") from error
    catalogs = content.get("catalog", {}) if isinstance(content, dict) else None
    if not isinstance(catalogs, dict):
        raise ValidationError(f"{path}: 'catalog' must map names to properties")
    return catalogs


def _flat(properties: object, path: Path, prefix: str = "") -> dict[str, str]:
    """Nested maps are dotted keys."""
    if not isinstance(properties, dict):
        raise ValidationError(f"{path}: a catalog's properties must be a map")
    flat: dict[str, str] = {}
    for key, value in properties.items():
        if isinstance(value, dict):
            flat |= _flat(value, path, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat
