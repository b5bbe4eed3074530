"""Table properties: names, definitions and the one way to read them. Spec: Table Properties."""

from icefloe.table.properties.names import RESERVED_PROPERTIES, TableProperties, properties_as_text

__all__ = ["RESERVED_PROPERTIES", "TableProperties", "properties_as_text"]
