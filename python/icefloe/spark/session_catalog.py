"""Data sources, databases and tables of a session, created by the methods behind Spark's statements.

The first SQL statement of a JVM compiles much of Spark SQL, and the first registration of a data source starts a Python process that
looks for installed data sources. The methods that these end in take milliseconds. Spark does not publish them: Spark Connect, a
``spark_catalog`` of another class and a Spark whose methods differ get the statements.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.serializers import CloudPickleSerializer

from icefloe.spark.session import is_connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.types import StructType

_CATALYST = "org.apache.spark.sql.catalyst."
_PYTHON_FUNCTION = "org.apache.spark.api.python.SimplePythonFunction"
_PYTHON_SOURCE = "org.apache.spark.sql.execution.datasources.v2.python.UserDefinedPythonDataSource"
# Positions of CatalogTable's parameters, the first of which is 1; those after the provider have defaults.
_PROVIDER, _PROPERTIES, _TRACKS_PARTITIONS = 5, 12, 18
_SERIALIZER: Any = CloudPickleSerializer  # it has no annotations
_NO_COLUMNS = '{"type":"struct","fields":[]}'


class SessionCatalog:
    """Spark's own catalog of a session, and the session's data sources.

    Args:
        spark: Session.
    """

    def __init__(self, spark: Any) -> None:
        self._spark = spark

    def prepare(self) -> None:
        """Have the JVM make the session's catalog and load the classes of the other methods; no entry changes.

        Their first use takes the JVM hundreds of milliseconds, in which another thread loads modules and tables.
        """
        if self._is_own:
            with suppress(Py4JError, TypeError):
                self._entries.prepare()

    def register_source(self, source: type[Any]) -> None:
        """Register a data source with the session, in place of another one of its name, which is in lower case."""
        if is_connect(self._spark) or not _done(lambda: self._sources.put(source)):
            self._spark.dataSource.register(source)

    def create_database(self, name: str, comment: str) -> None:
        """Create a database.

        Args:
            name: Name of letters, digits and underscores.
            comment: Text without quotes.
        """
        if not self._is_own or not _done(lambda: self._entries.put_database(name, comment)):
            self._spark.sql(f"CREATE DATABASE {name} COMMENT '{comment}'")

    def database_exists(self, name: str) -> bool:
        """Return whether there is a database of a name."""
        if self._is_own:
            with suppress(Py4JError, TypeError):
                return bool(self._entries.catalog.databaseExists(name))
        return bool(self._spark.catalog.databaseExists(name))

    def create_table(self, database: str, table: str, source: str, schema: StructType) -> None:
        """Create a table of a registered data source.

        Args:
            database: Its database, which exists.
            table: Name of letters, digits and underscores.
            source: Name of the data source.
            schema: Schema of the rows.
        """
        name = f"{database}.`{table}`"
        if is_connect(self._spark):
            # A Connect client reads all rows of a table that its catalog interface creates; SQL has Spark infer the schema.
            self._spark.sql(f"CREATE TABLE {name} USING {source}")
        elif not self._is_own or not _done(lambda: self._entries.put_table(database, table, source, schema)):
            # SQL would start a Python process for the schema.
            self._spark.catalog.createTable(name, source=source, schema=schema)

    @cached_property
    def _is_own(self) -> bool:
        """Whether ``spark_catalog`` is Spark's own class in this JVM."""
        spark = self._spark
        return not is_connect(spark) and spark.conf.get("spark.sql.catalog.spark_catalog", "builtin") == "builtin"

    @cached_property
    def _entries(self) -> _Entries:
        return _Entries(self._spark)

    @cached_property
    def _sources(self) -> _Sources:
        return _Sources(self._spark)


class _Entries:
    """The methods of Spark's own catalog in this JVM. What tables share is made once: each call takes a round trip.

    Args:
        spark: Session.
    """

    def __init__(self, spark: Any) -> None:
        self._jvm = spark._jvm  # noqa: SLF001 - neither has a public name
        self._session = spark._jsparkSession  # noqa: SLF001
        self._tracks_partitions = spark.conf.get("spark.sql.hive.manageFilesourcePartitions") == "true"
        self.catalog = self._session.sessionState().catalog()
        self._last_database: tuple[str | None, Any] = (None, None)

    def prepare(self) -> None:
        """Have the JVM load what the other methods use."""
        self.catalog.databaseExists("default")
        self._table("default", "t", "s", self._struct(_NO_COLUMNS))

    def put_database(self, name: str, comment: str) -> None:
        """Create a database."""
        properties = self._map({"owner": self._owner})
        path = self.catalog.getDefaultDBPath(name)
        self.catalog.createDatabase(self._class("catalog.CatalogDatabase")(name, comment, path, properties), False)

    def put_table(self, database: str, table: str, source: str, schema: StructType) -> None:
        """Create a table of a data source."""
        self.catalog.createTable(self._table(database, table, source, self._struct(schema.json())), False, True)

    def _table(self, database: str, table: str, source: str, struct: Any) -> Any:
        """Return an entry of a table."""
        identifier = self._identifier_class(table, self._database(database))
        # Spark makes a directory for a table without a location, and starts a process for its permissions.
        location = self._some(self.catalog.defaultTablePath(identifier))
        parameters = {**self._parameters, _PROPERTIES: self._properties.updated("provider", source)}
        return self._table_class(
            identifier,
            self._managed,
            self._no_storage.copy(location, *self._storage_parameters),
            struct,
            self._some(source),
            *(parameters[number] for number in sorted(parameters)),
        )

    def _database(self, name: str) -> Any:
        """Return a database in an identifier; most tables have the database of the table before."""
        if self._last_database[0] != name:
            self._last_database = (name, self._some(name))
        return self._last_database[1]

    def _struct(self, schema: str) -> Any:
        return self._session.parseDataType(schema)

    def _map(self, values: dict[str, str]) -> Any:
        return self._jvm.PythonUtils.toScalaMap(values)

    def _class(self, name: str) -> Any:
        return getattr(self._jvm, f"{_CATALYST}{name}")

    def _parameter_count(self, name: str) -> int:
        found = self._jvm.java.lang.Class.forName(f"{_CATALYST}{name}").getConstructors()[0]
        return int(found.getParameterCount())

    @cached_property
    def _owner(self) -> str:
        return str(getattr(self._jvm, "org.apache.spark.util.Utils").getCurrentUserName())

    @cached_property
    def _properties(self) -> Any:
        """The properties of a table without its provider."""
        return self._map({"owner": self._owner})

    @cached_property
    def _some(self) -> Any:
        return getattr(self._jvm, "scala.Some")

    @cached_property
    def _identifier_class(self) -> Any:
        return self._class("TableIdentifier")

    @cached_property
    def _table_class(self) -> Any:
        return self._class("catalog.CatalogTable")

    @cached_property
    def _managed(self) -> Any:
        return self._class("catalog.CatalogTableType").MANAGED()

    @cached_property
    def _no_storage(self) -> Any:
        return self._class("catalog.CatalogStorageFormat").empty()

    @cached_property
    def _storage_parameters(self) -> list[Any]:
        """The parameters of a table's storage after its location."""
        count = self._parameter_count("catalog.CatalogStorageFormat")
        return [getattr(self._no_storage, f"copy$default${number}")() for number in range(2, count + 1)]

    @cached_property
    def _parameters(self) -> dict[int, Any]:
        """The parameters of a table after its provider, by their position, without the properties."""
        count = self._parameter_count("catalog.CatalogTable")
        others = [
            number for number in range(_PROVIDER + 1, count + 1) if number not in (_PROPERTIES, _TRACKS_PARTITIONS)
        ]
        defaults = {number: getattr(self._table_class, f"apply$default${number}")() for number in others}
        return {**defaults, _TRACKS_PARTITIONS: self._tracks_partitions}


class _Sources:
    """The data sources of a session in this JVM. What sources share is made once: each call takes a round trip.

    Args:
        spark: Session.
    """

    def __init__(self, spark: Any) -> None:
        manager = spark._jsparkSession.sessionState().dataSourceManager()  # noqa: SLF001
        sources = manager.getClass().getDeclaredField("runtimeDataSourceBuilders")
        sources.setAccessible(True)
        self._context = spark.sparkContext
        self._sources = sources.get(manager)
        self._source_class = getattr(spark._jvm, _PYTHON_SOURCE)  # noqa: SLF001
        self._function_class = getattr(spark._jvm, _PYTHON_FUNCTION)  # noqa: SLF001

    def put(self, source: type[Any]) -> None:
        """Register a data source as ``dataSource.register`` does, without the process that it starts to warn of other sources of the name."""
        self._sources.put(source.name(), self._source_class(self._function(source)))

    def _function(self, source: type[Any]) -> Any:
        """Return the pickled class of a source, which is smaller than the classes that Spark broadcasts, for Spark's Python workers."""
        context = self._context
        environment, includes, broadcasts = self._shared
        return self._function_class(
            bytearray(_SERIALIZER().dumps(source)),
            environment,
            includes,
            context.pythonExec,
            context.pythonVer,
            broadcasts,
            context._javaAccumulator,  # noqa: SLF001
        )

    @cached_property
    def _shared(self) -> tuple[Any, Any, Any]:
        """The environment, the files and the broadcasts of every function of the session."""
        from pyspark.sql.udf import _wrap_function

        made = _wrap_function(self._context, object)
        return made.envVars(), made.pythonIncludes(), made.broadcastVars()


def _done(change: Callable[[], Any]) -> bool:
    """Run a change and return True, or return False if this Spark has no such methods."""
    try:
        change()
    except (ImportError, Py4JError, TypeError):  # a function, method or class that this Spark does not have
        return False
    return True
