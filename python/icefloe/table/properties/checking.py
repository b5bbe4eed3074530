"""The check of table properties when they are set, of values with which commits, scans or writes would fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.table.properties.definitions import GROUPS, METRICS, NAME_MAPPING
from icefloe.table.properties.maintenance import MAINTENANCE_ENABLED, MAINTENANCE_STEPS
from icefloe.table.properties.names import TableProperties
from icefloe.table.properties.reading import WholeNumber

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from icefloe.schema import Schema
    from icefloe.schema.name_mapping import MappedField

_COLUMN_METRICS = f"{TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX}."


def check_new_properties(properties: Mapping[str, str]) -> None:
    """Raise ValidationError if a whole number, a metrics mode, the name mapping or a setting of the maintenance policy has a wrong value.

    Other properties are checked where they are read, since a table may carry values for other engines.
    """
    check_whole_numbers(properties)
    for definition in (MAINTENANCE_ENABLED, MAINTENANCE_STEPS, *METRICS):
        definition.check(properties)
    mapping = properties.get(NAME_MAPPING.name)
    if mapping is not None:
        check_name_mapping(mapping)


def check_metrics_columns(properties: Mapping[str, str], schema: Schema) -> None:
    """Raise ValidationError if a metrics mode is set for a column that a schema does not have.

    Only the column is checked. Fields of structs, elements, keys and values have full names, such as `place.city`, in exact case.

    Examples:
        >>> from icefloe.schema import Schema
        >>> from icefloe.types import LongType, NestedField
        >>> schema = Schema(NestedField(1, "id", LongType()))
        >>> check_metrics_columns({"write.metadata.metrics.column.id": "full"}, schema)
        >>> check_metrics_columns({"write.metadata.metrics.column.key": "full"}, schema)
        Traceback (most recent call last):
            ...
        icefloe.exceptions.ValidationError: table property write.metadata.metrics.column.key: Could not find field with name key, ...
    """
    for name in properties:
        if name.startswith(_COLUMN_METRICS):
            try:
                schema.find_field(name.removeprefix(_COLUMN_METRICS))
            except ResolveError as error:
                raise ValidationError(f"table property {name}: {error}") from error


def check_name_mapping(text: str) -> None:
    """Raise ValidationError if a text is no name mapping, or one that gives a name to two fields of the same struct.

    Examples:
        >>> check_name_mapping('[{"field-id": 1, "names": ["id"]}]')
        >>> check_name_mapping("[7]")
        Traceback (most recent call last):
            ...
        icefloe.exceptions.ValidationError: table property schema.name-mapping.default: name mapping is not valid: ...
    """
    from icefloe.schema.name_mapping import parse_mapping_from_json

    try:
        mapping = parse_mapping_from_json(text)
    except ValidationError as error:
        raise ValidationError(f"table property {NAME_MAPPING.name}: {error}") from error
    _check_names_once(mapping.root)


def _check_names_once(fields: Sequence[MappedField]) -> None:
    names = [name for field in fields for name in field.names]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValidationError(
            f"table property {NAME_MAPPING.name}: expected each name once, got {repeated!r} in two fields"
        )
    for field in fields:
        _check_names_once(field.fields)


def check_whole_numbers(properties: Mapping[str, str]) -> None:
    """Raise ValidationError if a property that is a whole number is set to another text, or out of its range.

    No engine reads a text as a number, and commits, scans or writes would fail until the property is removed.

    Examples:
        >>> check_whole_numbers({"commit.retry.num-retries": "7", "owner": "me"})
        >>> check_whole_numbers({"commit.retry.num-retries": "many"})
        Traceback (most recent call last):
            ...
        icefloe.exceptions.ValidationError: table property commit.retry.num-retries: expected a whole number, 0 or above, got 'many'
    """
    for definitions in GROUPS.values():
        for definition in definitions:
            if isinstance(definition.kind, WholeNumber):
                definition.check(properties)
