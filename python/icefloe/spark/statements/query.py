"""Queries over attached tables: each table that a query names is read by a scan of its own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlglot
from pyspark.errors import ParseException
from sqlglot import exp

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Word, words_of
from icefloe.spark.metadata_tables import metadata_frame, metadata_rows
from icefloe.spark.reader.read import read, resolve_scan
from icefloe.spark.session import is_case_sensitive
from icefloe.spark.statements.parsed_query import parsed
from icefloe.spark.statements.pushdown import Pushdown, QueryColumns, row_filter
from icefloe.spark.statements.row_count import counted_query, counts_only
from icefloe.spark.statements.star import star_edits
from icefloe.spark.statements.unparsed_query import named_tables
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.references import Reference, References

    Arguments = Mapping[str, Any] | Sequence[Any] | None

_FRAME = "icefloe_{}"
_VERSION_WORDS = ("FOR", "VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME")


@dataclass(frozen=True)
class Statement:
    """A statement under way.

    Args:
        spark: Session.
        lakes: Attached catalogs by name.
        references: Tables that the statement has loaded.
        arguments: Parameters as the caller gave them.
        above: The WITH clause of a change, which its queries begin with; empty without one.
    """

    spark: Any
    lakes: dict[str, AttachedCatalog]
    references: References
    arguments: Arguments = None
    above: str = ""

    @property
    def named_arguments(self) -> Mapping[str, Any]:
        """The parameters that have names."""
        given = self.arguments
        return {} if given is None or not hasattr(given, "keys") else dict(given)

    def case_sensitive(self) -> bool:
        """Return whether the session distinguishes names of columns by case."""
        return is_case_sensitive(self.spark)

    def quotes_names(self) -> bool:
        """Return whether double quotes are around names in the session, not around texts."""
        settings = ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers")
        return all(self.spark.conf.get(key) == "true" for key in settings)

    def values(self, expressions: Sequence[str]) -> list[Any]:
        """Return the values of SQL expressions without columns, computed by Spark."""
        if not expressions:
            return []
        row: Any = run(
            self, "SELECT " + ", ".join(f"{text} AS c{index}" for index, text in enumerate(expressions))
        ).first()
        return list(row)


@dataclass(frozen=True)
class TableInQuery:
    """A table of an attached catalog in a query.

    Args:
        node: Its place in the tree.
        reference: The table and its version.
        alias: Its name in the query.
        start: Offset of its first character.
        end: Offset after its name and version.
        alias_at: Offset after which an alias must be added; None if the query has one.
    """

    node: exp.Table
    reference: Reference
    alias: str
    start: int
    end: int
    alias_at: int | None


def frame_of_query(
    statement: Statement, text: str, frames: Mapping[str, DataFrame] | None = None, *, command: str = ""
) -> DataFrame:
    """Return the rows of a query.

    Args:
        statement: The statement that the query is a part of.
        text: The query.
        frames: DataFrames that the query names as tables.
        command: Words before the query for Spark, such as `EXPLAIN`.

    Raises:
        ValidationError: The query does not parse, or a version is no version.
        NoSuchTableError: A table does not exist.
    """
    frames = dict(frames or {})
    if not frames and not mentions(statement, text):
        return run(statement, command + text)
    words = words_of(text)
    if words and words[0].is_keyword("TABLE"):
        text = f"SELECT * FROM {text[words[0].end :]}"
    try:
        tree = parsed(text)
    except ValidationError as error:
        return _frame_of_unparsed_query(statement, text, frames, command, error)
    tables = _tables(statement, tree, text)
    columns = QueryColumns(text, tree)
    counted = None if frames else _counted_query(statement, tree, tables, columns)
    if counted is not None:
        return run(statement, command + counted)
    edits: list[tuple[int, int, str]] = []
    given: dict[str, DataFrame] = {}
    for table in tables:
        name = _FRAME.format(len(given))
        given[name] = _table_frame(statement, table, columns)
        edits.append((table.start, table.end, f"{{{name}}}"))
        if table.alias_at is not None:
            edits.append((table.alias_at, table.alias_at, f" AS {_quoted(table.alias)}"))
    for node in tree.find_all(exp.Table):
        if len(node.parts) == 1 and node.name in frames:
            start, end = _span(node)
            given[node.name] = frames[node.name]
            edits.append((start, end, f"{{{node.name}}}"))
    edits += _qualifiers(text, tables, edits)
    edits += star_edits(
        text,
        {
            table.start: (_quoted(table.alias), columns.hidden)
            for table in tables
            if columns.hidden and table.reference.metadata_table is None
        },
    )
    return run(statement, command + _edited(text, edits), given)


def _frame_of_unparsed_query(
    statement: Statement, text: str, frames: Mapping[str, DataFrame], command: str, error: ValidationError
) -> DataFrame:
    """Return the rows of a query that only Spark can parse: all rows and columns of each table are scanned.

    Raises:
        ValidationError: `error`, if Spark cannot parse the query either, or the query has a clause for a version.
    """
    tables = None if frames else named_tables(statement.references, text)
    if not tables:
        raise error
    edits: list[tuple[int, int, str]] = []
    given: dict[str, DataFrame] = {}
    for table in tables:
        name = _FRAME.format(len(given))
        given[name] = _whole_table_frame(statement, table.reference)
        alias = "" if table.has_alias else f" AS {_quoted(table.reference.identifier[-1])}"
        edits.append((table.start, table.end, f"{{{name}}}{alias}"))
    try:
        frame = run(statement, command + _edited(text, edits), given)
        # Over Spark Connect, reading the schema makes Spark parse the query.
        _ = frame.schema
    except ParseException as refusal:
        raise error from refusal
    return frame


def run(statement: Statement, text: str, frames: Mapping[str, DataFrame] | None = None) -> DataFrame:
    """Run a text in Spark with the parameters that the text uses."""
    words = words_of(text)
    takes = any(word.is_keyword("?", ":") for word in words)
    arguments = statement.arguments if takes else None
    if arguments is not None and hasattr(arguments, "keys"):
        named = {after.text for word, after in itertools.pairwise(words) if word.is_keyword(":")}
        arguments = {key: value for key, value in statement.named_arguments.items() if key in named}
    frame: DataFrame = statement.spark.sql(text, args=arguments, **(frames or {}))
    return frame


def mentions(statement: Statement, text: str) -> bool:
    """Return whether a text may name a table of an attached catalog."""
    words = words_of(text)
    for word, after in itertools.pairwise(words):
        if word.is_name and after.is_keyword("."):
            if word.text.lower() in statement.lakes:
                return True
            if any(word.text.lower() in lake.databases for lake in statement.lakes.values()):
                return True
    return False


def pushdown_of(statement: Statement, table: TableInQuery, columns: QueryColumns) -> Pushdown:
    """Return the columns and rows of a table that a query reads."""
    schema = resolve_scan(table.reference.table, None, None, table.reference.version).schema()
    if columns.has_pipes:
        return Pushdown(columns.of(table.node, schema))
    found = row_filter(
        table.node, table.alias, schema, statement.named_arguments, case_sensitive=statement.case_sensitive()
    )
    return Pushdown(columns.of(table.node, schema), found)


def single_table(statement: Statement, text: str) -> tuple[TableInQuery, QueryColumns]:
    """Return the first table of a query's FROM clause and the names in the query."""
    tree = parsed(text)
    tables = _tables(statement, tree, text)
    first = tree.args.get("from_") or tree.args.get("from")
    return next(table for table in tables if table.node is first.this), QueryColumns(text, tree)


def _table_frame(statement: Statement, table: TableInQuery, columns: QueryColumns) -> DataFrame:
    reference = table.reference
    if reference.metadata_table is not None:
        return _whole_table_frame(statement, reference)
    part = pushdown_of(statement, table, columns)
    return read(
        reference.table,
        spark=statement.spark,
        columns=part.columns,
        filter=None if part.row_filter is None else part.row_filter.expression,
        **reference.version,
    )


def _whole_table_frame(statement: Statement, reference: Reference) -> DataFrame:
    if reference.metadata_table is not None:
        rows = metadata_rows(reference.table, reference.metadata_table, _snapshot_id(reference))
        frame: DataFrame = metadata_frame(statement.spark, rows)
        return frame
    return read(reference.table, spark=statement.spark, **reference.version)


def _counted_query(
    statement: Statement, tree: Any, tables: Sequence[TableInQuery], columns: QueryColumns
) -> str | None:
    """Return the query of the numbers of a query that only counts the rows of one table; None if it needs a scan."""
    if len(tables) != 1 or tables[0].reference.metadata_table is not None or not counts_only(tree, tables[0].node):
        return None
    return counted_query(statement.spark, tree, tables[0].reference, pushdown_of(statement, tables[0], columns))


def _snapshot_id(reference: Reference) -> int | None:
    if not reference.version:
        return None
    scan: Any = resolve_scan(reference.table, None, None, reference.version)
    snapshot = scan.snapshot()
    return None if snapshot is None else int(snapshot.snapshot_id)


def _tables(statement: Statement, tree: Any, text: str) -> list[TableInQuery]:
    words = words_of(text)
    found = []
    for node in tree.find_all(exp.Table):
        parts = tuple(part.name for part in node.parts)
        if not isinstance(node.this, exp.Expression) or not statement.references.is_attached(parts):
            continue
        reference = statement.references.resolve(parts)
        start, name_end = _span(node)
        end = name_end
        if node.args.get("version") is not None:
            version, end = _version(statement, node, words, text, name_end)
            if reference.version:
                raise ValidationError(
                    f"{'.'.join(parts)}: the name has a version already; expected one version, got two"
                )
            reference = replace(reference, version=version)
        alias = node.alias
        alias_at = None if alias else _after_sample(words, end)
        found.append(TableInQuery(node, reference, alias or parts[-1], start, end, alias_at))
    return found


def _span(node: exp.Table) -> tuple[int, int]:
    first, last = node.parts[0].meta, node.parts[-1].meta
    if "start" not in first:
        raise ValidationError(f"SQL: expected the name of a table, got {node.sql('spark')}")
    return int(first["start"]), int(last["end"]) + 1


def _version(
    statement: Statement, node: exp.Table, words: list[Word], text: str, name_end: int
) -> tuple[dict[str, Any], int]:
    """Return the version in ``VERSION AS OF`` or ``TIMESTAMP AS OF``, and the offset after it."""
    tree = node.args["version"]
    clause = [word for word in words if word.start >= name_end]
    if clause and clause[0].is_keyword("FOR"):
        clause = clause[1:]
    if len(clause) < 4 or not clause[0].is_keyword(*_VERSION_WORDS) or not clause[1].is_keyword("AS"):
        raise ValidationError(f"SQL, at character {name_end + 1}: expected VERSION AS OF or TIMESTAMP AS OF")
    start = clause[3].start
    expected = tree.expression.sql("spark")
    for word, after in itertools.zip_longest(clause[3:], clause[4:]):
        if after is not None and after.is_keyword("(") and after.start == word.end:
            continue  # the name of a function, which means the same as its call without arguments
        try:
            same = sqlglot.parse_one(text[start : word.end], dialect="spark").sql("spark") == expected
        except sqlglot.errors.SqlglotError:
            continue
        if same:
            return _version_value(statement, clause[0], text[start : word.end]), word.end
    raise ValidationError(f"SQL, at character {start + 1}: expected a version, got {text[start : start + 40]!r}")


def _version_value(statement: Statement, kind: Word, value: str) -> dict[str, Any]:
    if kind.is_keyword("TIMESTAMP", "SYSTEM_TIME"):
        (time,) = statement.values([f"unix_millis(cast(({value}) AS timestamp))"])
        if time is None:
            raise ValidationError(f"TIMESTAMP AS OF {value}: expected a time, got null")
        return {"as_of_timestamp": time}
    (version,) = statement.values([f"({value})"])
    if isinstance(version, int):
        return {"snapshot_id": version}
    if isinstance(version, str):
        digits = version.removeprefix("-")
        return {"snapshot_id": int(version)} if digits.isascii() and digits.isdigit() else {"branch": version}
    raise ValidationError(f"VERSION AS OF {value}: expected a snapshot id, branch or tag, got {version!r}")


def _after_sample(words: list[Word], end: int) -> int:
    """Return the offset after TABLESAMPLE and its parentheses, which stand between a table and its alias."""
    following = [word for word in words if word.start >= end]
    if not following or not following[0].is_keyword("TABLESAMPLE"):
        return end
    depth = 0
    for index, word in enumerate(following):
        depth += word.is_keyword("(") - word.is_keyword(")")
        if depth == 0 and word.is_keyword(")"):
            after = following[index + 1] if index + 1 < len(following) else None
            if after is None or not after.is_keyword("REPEATABLE"):
                return word.end
    return end


def _qualifiers(
    text: str, tables: Sequence[TableInQuery], edits: Sequence[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """Return the edits that replace full names of tables before columns by their aliases."""
    aliases = {
        tuple(part.name for part in table.node.parts): table.alias for table in tables if table.alias_at is not None
    }
    found = [edit for parts, alias in aliases.items() for edit in _qualifier_edits(text, parts, _quoted(alias))]
    return [edit for edit in found if not any(start <= edit[0] < end for start, end, _ in edits)]


def with_alias(text: str, parts: tuple[str, ...], alias: str) -> str:
    """Return a text in which an alias replaces the full name of a table before columns.

    Examples:
        >>> with_alias("lake.db.t.id > 5 AND t.n = 1", ("lake", "db", "t"), "t")
        '`t`.id > 5 AND t.n = 1'
    """
    for start, end, new in reversed(_qualifier_edits(text, parts, quoted(alias))):
        text = text[:start] + new + text[end:]
    return text


def _qualifier_edits(text: str, parts: tuple[str, ...], alias: str) -> list[tuple[int, int, str]]:
    words = words_of(text)
    found = []
    for index, word in enumerate(words):
        following = words[index : index + 2 * len(parts)]
        if len(following) < 2 * len(parts) or (index and words[index - 1].is_keyword(".")):
            continue
        if all(
            one.text.lower() == part.lower() and one.is_name and dot.is_keyword(".")
            for one, dot, part in zip(following[::2], following[1::2], parts, strict=True)
        ):
            found.append((word.start, following[-2].end, alias))
    return found


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with replaced parts, as a format of DataFrames: other braces are doubled."""
    pieces, at = [], 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        pieces += [text[at:start].replace("{", "{{").replace("}", "}}"), new]
        at = end
    return "".join([*pieces, text[at:].replace("{", "{{").replace("}", "}}")])


def _quoted(name: str) -> str:
    # A brace in a name would be taken for a DataFrame.
    return "`" + name.replace("`", "``").replace("{", "{{").replace("}", "}}") + "`"
