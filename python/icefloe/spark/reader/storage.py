"""The check that Spark's own reader has access to the files of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

_LOCAL = frozenset({"", "file"})
# Spark reads such files whole, and does not know their sizes.
_NOT_FOR_SPARK = frozenset({"http", "https"})
_CREDENTIALS = ("s3.", "client.", "gcs.", "adls.")


def storage_obstacle(spark: Any, files: pa.RecordBatch, properties: Mapping[str, str]) -> str | None:
    """Return the reason why Spark's JVM cannot read these files; None if it can.

    It can if it has a file system for their scheme, and the catalog has no storage properties, which Spark does not get.

    Args:
        spark: Session.
        files: Files of a plan.
        properties: Catalog and storage properties.
    """
    matches = pc.extract_regex(files.column("file_path"), r"^(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):")
    schemes = pc.unique(pc.fill_null(pc.struct_field(matches, 0), "")).to_pylist()
    found = {scheme.lower() for scheme in schemes}
    for scheme in sorted(found - _LOCAL):
        if scheme in _NOT_FOR_SPARK or not _has_file_system(spark, scheme):
            return f"Spark has no file system for {scheme}://"
        if any(name.startswith(_CREDENTIALS) for name in properties):
            return f"Spark does not have the catalog's storage properties for {scheme}://"
    return None


def _has_file_system(spark: Any, scheme: str) -> bool:
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        return False
    from py4j.protocol import Py4JJavaError

    configuration = spark._jsc.hadoopConfiguration()  # noqa: SLF001  PySpark has no public access to it
    try:
        jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, configuration)
    except Py4JJavaError:
        return False
    return True
