"""Applies commits of schema, spec and sort order changes by the Java reference, and records the metadata after each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JJavaError


class Reference:
    """The Java classes of one process."""

    def __init__(self, jar: str) -> None:
        jars = Path(pyspark.__file__).parent / "jars"
        self.gateway = JavaGateway.launch_gateway(
            classpath=f"{jar}:{jars}/*",
            die_on_exit=True,
            javaopts=["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx768m"],
        )
        jvm = self.gateway.jvm
        self.iceberg = jvm.org.apache.iceberg
        self.tables = self.iceberg.hadoop.HadoopTables(jvm.org.apache.hadoop.conf.Configuration())
        self.text = jvm.java.lang.String
        self.hash_map = jvm.java.util.HashMap

    def schema(self, value: dict[str, Any]) -> Any:
        return self.iceberg.SchemaParser.fromJson(json.dumps(value))

    def create(self, location: str, schema: dict[str, Any], version: int, properties: dict[str, str]) -> Any:
        values = self.hash_map()
        for key, value in {**properties, "format-version": str(version)}.items():
            values.put(key, value)
        return self.tables.create(self.schema(schema), self.iceberg.PartitionSpec.unpartitioned(), values, location)

    def type(self, text: Any) -> Any:
        field = {"id": 1000, "name": "x", "required": False, "type": text}
        return self.schema({"type": "struct", "fields": [field]}).findType("x")

    def term(self, column: str, transform: str) -> Any:
        expressions = self.iceberg.expressions.Expressions
        name, _, width = transform.rstrip("]").partition("[")
        if name == "identity":
            return expressions.ref(column)
        return getattr(expressions, name)(column, int(width)) if width else getattr(expressions, name)(column)

    def commit(self, table: Any, kind: str, steps: list[list[Any]]) -> None:
        table.refresh()
        update = {"schema": table.updateSchema, "spec": table.updateSpec, "order": table.replaceSortOrder}[kind]()
        for verb, *values in steps:
            update = getattr(self, f"_{kind}_{verb}")(update, *values)
        update.commit()

    def _schema_add(self, update: Any, parent: str | None, name: str, kind: Any, doc: str | None) -> Any:
        return (
            update.addColumn(name, self.type(kind), doc)
            if parent is None
            else update.addColumn(parent, name, self.type(kind), doc)
        )

    def _schema_delete(self, update: Any, path: str) -> Any:
        return update.deleteColumn(path)

    def _schema_rename(self, update: Any, path: str, name: str) -> Any:
        return update.renameColumn(path, name)

    def _schema_widen(self, update: Any, path: str, kind: str) -> Any:
        return update.updateColumn(path, self.type(kind).asPrimitiveType())

    def _schema_optional(self, update: Any, path: str) -> Any:
        return update.makeColumnOptional(path)

    def _schema_required(self, update: Any, path: str) -> Any:
        return update.requireColumn(path)

    def _schema_doc(self, update: Any, path: str, doc: str) -> Any:
        return update.updateColumnDoc(path, doc)

    def _schema_first(self, update: Any, path: str) -> Any:
        return update.moveFirst(path)

    def _schema_before(self, update: Any, path: str, other: str) -> Any:
        return update.moveBefore(path, other)

    def _schema_after(self, update: Any, path: str, other: str) -> Any:
        return update.moveAfter(path, other)

    def _schema_union(self, update: Any, schema: dict[str, Any]) -> Any:
        return update.unionByNameWith(self.schema(schema))

    def _schema_identifiers(self, update: Any, *names: str) -> Any:
        chosen = self.gateway.jvm.java.util.ArrayList()
        for name in names:
            chosen.add(name)
        return update.setIdentifierFields(chosen)

    def _spec_add(self, update: Any, column: str, transform: str, name: str | None) -> Any:
        term = self.term(column, transform)
        return update.addField(term) if name is None else update.addField(name, term)

    def _spec_remove(self, update: Any, name: str) -> Any:
        return update.removeField(name)

    def _spec_rename(self, update: Any, name: str, new: str) -> Any:
        return update.renameField(name, new)

    def _order_key(self, update: Any, column: str, transform: str, direction: str, nulls: str) -> Any:
        order = getattr(self.iceberg.NullOrder, f"NULLS_{nulls.upper()}")
        return getattr(update, direction)(self.term(column, transform), order)


def outcome(reference: Reference, table: Any, kind: str, steps: list[list[Any]]) -> dict[str, Any]:
    """Return the metadata after a commit, or the error that refused it."""
    try:
        reference.commit(table, kind, steps)
    except Py4JJavaError as error:
        return {"refused": str(error.java_exception.toString())}
    table.refresh()
    return json.loads(reference.iceberg.TableMetadataParser.toJson(table.operations().current()))


def main(jar: str, source: Path, target: Path) -> None:
    reference = Reference(jar)
    histories = json.loads(source.read_text())
    found = []
    for number, history in enumerate(histories):
        location = str(target.parent / f"java-{number}")
        table = reference.create(location, history["schema"], history["version"], history["properties"])
        found.append([outcome(reference, table, kind, steps) for kind, steps in history["commits"]])
    target.write_text(json.dumps(found))
    reference.gateway.shutdown()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
