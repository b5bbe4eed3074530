"""Data sources, databases and tables of a session, created by the methods behind Spark's statements.

The first SQL statement of a JVM compiles much of Spark SQL, and the first registration of a data source starts a Python process that
looks for installed data sources. The methods that these end in take milliseconds. Spark does not publish them: Spark Connect, a
``spark_catalog`` of another class and a Spark whose methods differ get the statements.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from icefloe.spark.session import is_connect
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.types import StructType

_CATALOG = "org.apache.spark.sql.catalyst.catalog."
_PYTHON_SOURCE = "org.apache.spark.sql.execution.datasources.v2.python.UserDefinedPythonDataSource"
# Positions of CatalogTable's parameters, the first of which is 1; those after the provider have defaults.
_PROVIDER, _PROPERTIES, _TRACKS_PARTITIONS = 5, 12, 18


def register_source(spark: Any, source: type[Any]) -> None:
    """Register a data source with a session, in place of another one of its name, which is in lower case."""
    if is_connect(spark) or not _done(lambda: _put_source(spark, source)):
        spark.dataSource.register(source)


def create_database(spark: Any, name: str, comment: str) -> None:
    """Create a database in Spark's own catalog.

    Args:
        spark: Session.
        name: Name of letters, digits and underscores.
        comment: Text without quotes.
    """
    if not _has_own_catalog(spark) or not _done(lambda: _put_database(spark, name, comment)):
        spark.sql(f"CREATE DATABASE {name} COMMENT '{comment}'")


def database_exists(spark: Any, name: str) -> bool:
    """Return whether Spark's own catalog has a database."""
    if _has_own_catalog(spark):
        with suppress(Py4JError, TypeError):
            return bool(_session_catalog(spark).databaseExists(name))
    return bool(spark.catalog.databaseExists(name))


def create_table(spark: Any, database: str, table: str, source: str, schema: StructType) -> None:
    """Create a table of a registered data source in Spark's own catalog.

    Args:
        spark: Session.
        database: Its database, which exists.
        table: Name of letters, digits and underscores.
        source: Name of the data source.
        schema: Schema of the rows.
    """
    name = f"{database}.{quoted(table)}"
    if is_connect(spark):
        # A Connect client reads all rows of a table that its catalog interface creates; SQL has Spark infer the schema.
        spark.sql(f"CREATE TABLE {name} USING {source}")
    elif not _has_own_catalog(spark) or not _done(lambda: _put_table(spark, database, table, source, schema)):
        # SQL would start a Python process for the schema, and has no required elements of lists and maps.
        spark.catalog.createTable(name, source=source, schema=schema)


def _done(change: Callable[[], Any]) -> bool:
    """Run a change and return True, or return False if this Spark has no such methods."""
    try:
        change()
    except (ImportError, Py4JError, TypeError):  # a function, method or class that this Spark does not have
        return False
    return True


def _has_own_catalog(spark: Any) -> bool:
    """Return whether ``spark_catalog`` is Spark's own class in this JVM."""
    return not is_connect(spark) and spark.conf.get("spark.sql.catalog.spark_catalog", "builtin") == "builtin"


def _session_catalog(spark: Any) -> Any:
    return spark._jsparkSession.sessionState().catalog()  # noqa: SLF001 - it has no public name


def _put_source(spark: Any, source: type[Any]) -> None:
    """Register a data source as ``dataSource.register`` does, without the process that it starts to warn of other sources of the name."""
    from pyspark.sql.udf import _wrap_function

    manager = spark._jsparkSession.sessionState().dataSourceManager()  # noqa: SLF001
    sources = manager.getClass().getDeclaredField("runtimeDataSourceBuilders")
    sources.setAccessible(True)
    made = getattr(spark._jvm, _PYTHON_SOURCE)(_wrap_function(spark.sparkContext, source))  # noqa: SLF001
    sources.get(manager).put(source.name(), made)


def _put_database(spark: Any, name: str, comment: str) -> None:
    jvm, catalog = spark._jvm, _session_catalog(spark)  # noqa: SLF001
    properties = jvm.PythonUtils.toScalaMap({"owner": _user(jvm)})
    database = getattr(jvm, f"{_CATALOG}CatalogDatabase")(name, comment, catalog.getDefaultDBPath(name), properties)
    catalog.createDatabase(database, False)


def _put_table(spark: Any, database: str, table: str, source: str, schema: StructType) -> None:
    jvm = spark._jvm  # noqa: SLF001
    kind = getattr(jvm, f"{_CATALOG}CatalogTable")
    parameters = jvm.java.lang.Class.forName(f"{_CATALOG}CatalogTable").getConstructors()[0].getParameterCount()
    others = {
        _PROPERTIES: jvm.PythonUtils.toScalaMap({"owner": _user(jvm), "provider": source}),
        _TRACKS_PARTITIONS: spark.conf.get("spark.sql.hive.manageFilesourcePartitions") == "true",
    }
    made = kind(
        jvm.org.apache.spark.sql.catalyst.TableIdentifier(table, jvm.scala.Some(database)),
        getattr(jvm, f"{_CATALOG}CatalogTableType").MANAGED(),
        getattr(jvm, f"{_CATALOG}CatalogStorageFormat").empty(),
        spark._jsparkSession.parseDataType(schema.json()),  # noqa: SLF001
        jvm.scala.Some(source),
        *(
            others[number] if number in others else getattr(kind, f"apply$default${number}")()
            for number in range(_PROVIDER + 1, parameters + 1)
        ),
    )
    _session_catalog(spark).createTable(made, False, True)


def _user(jvm: Any) -> str:
    return str(jvm.org.apache.spark.util.Utils.getCurrentUserName())
