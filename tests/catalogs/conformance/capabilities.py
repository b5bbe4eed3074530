"""Features that a catalog may lack, and names with special characters for databases, directories and URLs."""

from __future__ import annotations

import enum


class Capability(enum.Enum):
    """A feature that a catalog may lack. Tests of a feature run only on the catalogs that have the feature."""

    NESTED_NAMESPACES = "namespaces in namespaces"
    NAMESPACE_PROPERTIES = "properties of namespaces that users set"
    NAMESPACE_PROPERTY_RACES = "changes of the properties of one namespace by several clients at once"
    NAMESPACE_DROP_RACES = "dropping a namespace while other clients create tables in it"
    RENAME = "renaming tables"
    REGISTER = "registering the metadata file of another table"
    REPLACE_REGISTERED = "replacing a table by register_table(overwrite=True)"
    LOCATION = "tables at a location that the user chooses"
    DROP_KEEPS_FILES = "dropping a table without deleting its files"
    SEVERAL_CLIENTS = "clients in several processes"
    LOST_REPLIES = "changes whose reply can be lost"


ODD_NAMES = {
    "dot": "a.b",
    "slash": "a/b",
    "two dots": "..",
    "hidden": ".a",
    "percent": "100%",
    "percent encoded": "a%2Fb",
    "space": "a b",
    "space at the end": "a ",
    "plus": "a+b",
    "hash": "a#1",
    "question mark": "a?b=c",
    "apostrophe": "it's",
    "quote": 'a"b',
    "backtick": "a`b",
    "backslash": "a\\b",
    "semicolon": "a;b",
    "comment": "--a",
    "colon": ":a",
    "placeholder": "%s",
    "braces": "{a}",
    "control character": "a\x1fb",
    "delete character": "a\x7fb",
    "non-character": "a\uffffb",
    "dot at the end": "a.",
    "markup": "a&b<c>*",
    "accent": "täble",
    "decomposed accent": "ta\u0308ble",
    "ideographs": "表格",
    "emoji": "🧊",
    "upper case": "Table",
    "digits": "2024",
    "keyword": "select",
    "255 characters": "n" * 255,
    "256 characters": "n" * 256,
}
"""Unusual names of tables and of namespace levels, by a description."""
