"""Catalog properties from configuration files and environment variables, read at each call and never at import."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FILE_NAMES = (".icefloe.yaml", ".pyiceberg.yaml")
PREFIXES = ("PYICEBERG_CATALOG__", "ICEFLOE_CATALOG__")
DEFAULT_VARIABLES = ("ICEFLOE_DEFAULT_CATALOG", "PYICEBERG_DEFAULT_CATALOG")
DEFAULT_KEY = "default-catalog"
DEFAULT_NAME = "default"
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
    """Return the configured properties of a catalog; environment variables override files.

    Raises:
        ValidationError: A configuration file is malformed.
    """
    variables = os.environ if environment is None else environment
    return {**_from_files(name, variables), **_from_environment(name, variables)}


def default_catalog(environment: Mapping[str, str] | None = None) -> str:
    """Return the configured name of the default catalog: `default-catalog` in a file, or `default`.

    The variables `ICEFLOE_DEFAULT_CATALOG` and `PYICEBERG_DEFAULT_CATALOG` override files.

    Raises:
        ValidationError: A configuration file is malformed.
    """
    variables = os.environ if environment is None else environment
    for variable in DEFAULT_VARIABLES:
        if variables.get(variable, "") != "":
            return variables[variable]
    for path in _files(variables):
        name = _content(path).get(DEFAULT_KEY)
        if name is not None:
            if not isinstance(name, str) or name == "":
                raise ValidationError(f"{path}: {DEFAULT_KEY!r} must be the name of a catalog, got {name!r}")
            return name
    return DEFAULT_NAME


def list_catalogs() -> list[str]:
    """Return the names of configured catalogs, first from files and then from environment variables.

    :func:`icefloe.catalog.load_catalog` reads the same files and variables. Names from variables are in lower case, and are
    omitted if a file configures the same catalog.

    Raises:
        ValidationError: A configuration file is malformed.
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


def properties_of(name: str, path: Path) -> dict[str, str]:
    """Return the properties of a catalog in one configuration file; no other file and no environment variable is read.

    Raises:
        ValidationError: The file does not exist, is malformed, or does not configure the catalog.
    """
    if not path.is_file():
        raise ValidationError(f"configuration file {path} does not exist")
    for own_name, properties in _catalogs(path).items():
        if own_name.lower() == name.lower():
            return _flat(properties, path)
    configured = ", ".join(sorted(_catalogs(path))) or "none"
    raise ValidationError(f"{path} does not configure catalog {name!r}; the catalogs there: {configured}")


def default_catalog_of(path: Path) -> str:
    """Return `default-catalog` of one configuration file, or `default`."""
    name = _content(path).get(DEFAULT_KEY, DEFAULT_NAME) if path.is_file() else DEFAULT_NAME
    return str(name)


def _from_environment(name: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the properties in variables: `PYICEBERG_CATALOG__DEFAULT__S3__ACCESS_KEY_ID` is `s3.access-key-id` of `default`."""
    found: dict[str, str] = {}
    for prefix in PREFIXES:
        for variable, value in variables.items():
            if not variable.upper().startswith(prefix):
                continue
            owner, _, key = variable[len(prefix) :].partition("__")
            if key != "" and _folded(owner) == _folded(name):
                found[_property_key(key)] = value
    return found


# Properties whose names have underscores, which the name of a variable cannot tell from hyphens.
_WITH_UNDERSCORES = {name.replace("_", "-"): name for name in ("init_catalog_tables", "pool_pre_ping")}


def _property_key(key: str) -> str:
    text = key.lower().replace("__", ".").replace("_", "-")
    return _WITH_UNDERSCORES.get(text, text)


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _from_files(name: str, variables: Mapping[str, str]) -> dict[str, str]:
    for path in _files(variables):
        for own_name, properties in _catalogs(path).items():
            if own_name.lower() == name.lower():
                return _flat(properties, path)
    return {}


def _files(variables: Mapping[str, str]) -> Iterator[Path]:
    """Yield the existing configuration files; the first that configures a catalog is used."""
    directories = [Path(variables[home]) for home in HOMES if home in variables]
    directories += [Path.home(), Path.cwd()]
    for directory in directories:
        for file_name in FILE_NAMES:
            path = directory / file_name
            if path.is_file():
                yield path


def _catalogs(path: Path) -> dict[str, Any]:
    catalogs = _content(path).get("catalog", {})
    if not isinstance(catalogs, dict):
        raise ValidationError(f"{path}: 'catalog' must be a map of catalog names to properties")
    return catalogs


def _content(path: Path) -> dict[str, Any]:
    """Return the content of a configuration file, with top-level keys in lower case; an empty file configures nothing."""
    try:
        import yaml
    except ImportError as error:
        raise ValidationError(f"cannot read {path}: PyYAML is not installed; pip install pyyaml") from error
    try:
        # BaseLoader returns every scalar as text and constructs no objects.
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValidationError(f"{path} is not YAML: {error}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ValidationError(f"{path}: expected a map with the key 'catalog', got {type(content).__name__}")
    return {str(key).lower(): value for key, value in content.items()}


def _flat(properties: object, path: Path, prefix: str = "") -> dict[str, str]:
    """Return properties with the keys of nested maps joined by dots, in lower case as in environment variables."""
    if not isinstance(properties, dict):
        raise ValidationError(f"{path}: the properties of a catalog must be a map, got {properties!r}")
    flat: dict[str, str] = {}
    for key, value in properties.items():
        if isinstance(value, dict):
            flat |= _flat(value, path, f"{prefix}{str(key).lower()}.")
        elif isinstance(value, str):
            flat[f"{prefix}{str(key).lower()}"] = value
        else:
            raise ValidationError(f"{path}: catalog property {prefix}{key} must be text or a map, got {value!r}")
    return flat


def flattened(properties: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return properties with the keys of nested maps joined by dots, as configuration files are read.

    Examples:
        >>> flattened({"ssl": {"client": {"cert": "a.pem"}}})
        {'ssl.client.cert': 'a.pem'}
    """
    flat: dict[str, Any] = {}
    for key, value in properties.items():
        if isinstance(value, dict):
            flat |= flattened(value, f"{prefix}{key}.")
        elif isinstance(value, bytes | set) or (isinstance(value, list | tuple) and not _are_texts(value)):
            raise ValidationError(
                f"property {prefix}{key}: expected text, a number, a boolean or a list of texts, got {value!r}"
            )
        elif value is not None:
            flat[f"{prefix}{key}"] = value
    return flat


def _are_texts(values: Sequence[Any]) -> bool:
    return len(values) > 0 and all(isinstance(one, str) for one in values)
