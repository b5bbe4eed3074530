"""Databases of a Hive Metastore and their properties, as the Java reference maps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.catalog.configuration import LOCATION
from icefloe.catalog.hive.structs import Database
from icefloe.catalog.metastore import COMMENT
from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from icefloe.typedef import Properties

OWNER = "hive.metastore.database.owner"
OWNER_TYPE = "hive.metastore.database.owner-type"
_OWNER_TYPES = {"USER": 1, "ROLE": 2, "GROUP": 3}
_FIELDS = {COMMENT: "description", LOCATION: "locationUri", OWNER: "ownerName"}


def database_of(name: str, properties: Properties, location: str | None, user: str) -> Database:
    """Return a database with the properties of a namespace.

    Args:
        name: The database's name.
        properties: Properties of the namespace.
        location: The directory of its tables unless the property `location` names one; None lets the metastore choose.
        user: The owner unless the property `hive.metastore.database.owner` names one.

    Raises:
        ValidationError: The owner's type is unknown, or an owner's type has no owner.
    """
    kind = properties.get(OWNER_TYPE, "USER")
    if kind not in _OWNER_TYPES or (OWNER_TYPE in properties and OWNER not in properties):
        raise ValidationError(
            f"namespace {name!r}: property {OWNER_TYPE!r} needs {OWNER!r} beside it; expected USER, ROLE or GROUP, got {kind!r}"
        )
    return Database(
        name=name,
        description=properties.get(COMMENT),
        locationUri=properties.get(LOCATION, location),
        ownerName=properties.get(OWNER, user),
        ownerType=_OWNER_TYPES[kind],
        parameters={key: value for key, value in properties.items() if key not in _FIELDS and key != OWNER_TYPE},
    )


def properties_of(database: Database) -> dict[str, str]:
    """Return the properties of a namespace."""
    properties = dict(database.parameters or {})
    for key, field in _FIELDS.items():
        value = getattr(database, field)
        if value is not None:
            properties[key] = value
    kinds = [name for name, number in _OWNER_TYPES.items() if number == database.ownerType]
    if OWNER in properties and kinds:
        properties[OWNER_TYPE] = kinds[0]
    return properties
