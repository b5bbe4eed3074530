"""The words of a Spark SQL text, with their places in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORDS = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*(?!\+).*?\*/)
      |(?P<raw>[rR](?:'[^']*'|"[^"]*"))
      |(?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
      |(?P<quoted>`(?:[^`]|``)*`)
      |(?P<word>\w+)
      |(?P<sign>=>|->|<=>|<=|>=|<>|!=|==|\|\||\|>|::|.)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_PARSER_KEYWORDS = {
    "ALTER",
    "ANTI",
    "AS",
    "ASOF",
    "BY",
    "CASE",
    "CREATE",
    "CROSS",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "FROM",
    "FULL",
    "GLOBAL",
    "GROUP",
    "HAVING",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCAL",
    "MERGE",
    "NATURAL",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "PIVOT",
    "QUALIFY",
    "RIGHT",
    "ROW",
    "ROWS",
    "SELECT",
    "SEMI",
    "SET",
    "SHOW",
    "STRAIGHT_JOIN",
    "TABLE",
    "TABLESAMPLE",
    "THEN",
    "TOP",
    "UNION",
    "UNPIVOT",
    "UPDATE",
    "USE",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
}
_BEFORE_VALUES = ("CASE", "WHEN", "THEN", "ELSE", "AND", "OR", "NOT", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "DIV")
_ESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)


@dataclass(frozen=True)
class Word:
    """A token: a word, name, string or sign.

    Args:
        kind: ``word``, ``quoted`` (a name in backquotes), ``string`` or ``sign``.
        text: Text without quotes and escapes.
        start: Offset of the first character.
        end: Offset after the last character.
    """

    kind: str
    text: str
    start: int
    end: int

    def is_keyword(self, *keywords: str) -> bool:
        """Return whether this is one of some keywords, in upper case, or signs."""
        return self.kind in ("word", "sign") and self.text.upper() in keywords

    @property
    def is_name(self) -> bool:
        """Whether this can be a part of an identifier."""
        return self.kind in ("word", "quoted")


def words_of(text: str) -> list[Word]:
    """Return the words of a text without spaces and comments; hints are signs and words.

    Examples:
        >>> [word.text for word in words_of("SELECT `a b`, 'it''s' -- all")]
        ['SELECT', 'a b', ',', "it's"]
    """
    words = []
    for found in _WORDS.finditer(text):
        kind, value = found.lastgroup or "sign", found[0]
        if kind == "space":
            continue
        if kind == "raw":
            kind, value = "string", value[2:-1]
        elif kind == "string":
            value = _unescaped(value)
        elif kind == "quoted":
            value = value[1:-1].replace("``", "`")
        words.append(Word(kind, value, found.start(), found.end()))
    while words and words[-1].text == ";" and words[-1].kind == "sign":
        words.pop()
    return words


def _unescaped(literal: str) -> str:
    quote = literal[0]

    def plain(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    return _ESCAPED.sub(plain, literal[1:-1].replace(quote * 2, quote))


def with_quoted_keywords(text: str) -> str:
    """Return a statement with backquotes around keywords that are parts of dotted names, which Spark accepts without them.

    Examples:
        >>> with_quoted_keywords("SELECT t.left FROM lake.inner.t")
        'SELECT t.`left` FROM lake.`inner`.t'
    """
    words = words_of(text)
    for index in range(len(words) - 1, 0, -1):
        word = words[index]
        if word.kind == "word" and word.text.upper() in _PARSER_KEYWORDS and words[index - 1].is_keyword("."):
            text = f"{text[: word.start]}`{word.text}`{text[word.end :]}"
    return text


class Cursor:
    """A position in the words of a statement.

    Args:
        text: The statement.
        start: Index of the first word to read.
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self.words = words_of(text)
        self.index = start

    @property
    def done(self) -> bool:
        """Whether all words have been read."""
        return self.index >= len(self.words)

    def peek(self, ahead: int = 0) -> Word | None:
        """Return a following word, None after the last one."""
        position = self.index + ahead
        return self.words[position] if position < len(self.words) else None

    def accept(self, *keywords: str) -> bool:
        """Skip a sequence of keywords or signs if it follows, and return whether it did."""
        following = self.words[self.index : self.index + len(keywords)]
        if len(following) < len(keywords):
            return False
        if not all(word.is_keyword(keyword) for word, keyword in zip(following, keywords, strict=True)):
            return False
        self.index += len(keywords)
        return True

    def at(self, *keywords: str) -> bool:
        """Return whether one of some keywords or signs follows."""
        word = self.peek()
        return word is not None and word.is_keyword(*keywords)

    def expect(self, *keywords: str) -> None:
        """Skip a sequence of keywords.

        Raises:
            ValidationError: Another word follows.
        """
        if not self.accept(*keywords):
            raise self.error(" ".join(keywords))

    def next_word(self, expected: str) -> Word:
        """Return the next word and move after it.

        Raises:
            ValidationError: The statement ends here.
        """
        word = self.peek()
        if word is None:
            raise self.error(expected)
        self.index += 1
        return word

    def name(self) -> str:
        """Return the next word, which is a name."""
        word = self.peek()
        if word is None or not word.is_name:
            raise self.error("a name")
        self.index += 1
        return word.text

    def names(self) -> tuple[str, ...]:
        """Return the parts of the dotted identifier that follows."""
        parts = [self.name()]
        while self.accept("."):
            parts.append(self.name())
        return tuple(parts)

    def string(self) -> str:
        """Return the string literal that follows."""
        word = self.peek()
        if word is None or word.kind != "string":
            raise self.error("a string in quotes")
        self.index += 1
        return word.text

    def number(self) -> int:
        """Return the whole number that follows."""
        word = self.peek()
        if word is None or not (word.text.isascii() and word.text.isdigit()):
            raise self.error("a whole number")
        self.index += 1
        return int(word.text)

    def group(self) -> str:
        """Return the text between the parentheses that follow, and move after them."""
        self.expect("(")
        first, depth = self.index, 1
        while depth:
            word = self.next_word(")")
            depth += (word.is_keyword("(")) - (word.is_keyword(")"))
        last = self.words[self.index - 1]
        return self.text[self.words[first - 1].end : last.start]

    def items(self) -> list[str]:
        """Return the texts between the commas of the parentheses that follow."""
        return split_items(self.group())

    def name_items(self) -> list[str]:
        """Return the names between the commas of the parentheses that follow.

        Raises:
            ValidationError: An item is no name.
        """
        names = []
        for item in self.items():
            inner = Cursor(item)
            names.append(inner.name())
            inner.finish()
        return names

    def rest(self) -> str:
        """Return the text from the next word to the end, and move there."""
        word = self.peek()
        if word is None:
            return ""
        text = self.text[word.start : self.words[-1].end]
        self.index = len(self.words)
        return text

    def finish(self) -> None:
        """Check that the statement ends here.

        Raises:
            ValidationError: Another word follows.
        """
        if not self.done:
            raise self.error("the end of the statement")

    def error(self, expected: str) -> ValidationError:
        """Return the error that another word was expected here."""
        word = self.peek()
        got = "the end of the statement" if word is None else repr(self.text[word.start : word.end])
        start = len(self.text) if word is None else word.start
        return ValidationError(f"SQL, at character {start + 1}: expected {expected}, got {got}")


def depths(words: Sequence[Word]) -> Iterator[tuple[Word, int]]:
    """Yield each word with the number of parentheses, brackets and CASE expressions around it.

    The words that open and close one are outside of it, but END, like all within CASE, is inside. END where a value is expected is the
    name of a column.

    Examples:
        >>> [depth for _, depth in depths(words_of("(a) + CASE WHEN end THEN b END + end"))]
        [0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0]
    """
    opened: list[str] = []
    before: Word | None = None
    for word in words:
        if word.is_keyword(")", "]"):
            while opened and opened.pop() == "CASE":
                pass
        yield word, len(opened)
        if word.is_keyword("(", "[", "CASE"):
            opened.append(word.text.upper())
        elif word.is_keyword("END") and opened[-1:] == ["CASE"] and not _expects_value(before):
            opened.pop()
        before = word


def _expects_value(word: Word | None) -> bool:
    """Return whether a value follows a word."""
    return word is None or word.is_keyword(*_BEFORE_VALUES) or (word.kind == "sign" and word.text not in (")", "]"))


def split_items(text: str) -> list[str]:
    """Return the parts of a text between commas outside of parentheses, brackets and angle brackets of types.

    Examples:
        >>> split_items("a, bucket(16, b), 'x,y'")
        ['a', 'bucket(16, b)', "'x,y'"]
    """
    parts, depth, start = [], 0, 0
    for word in words_of(text):
        if word.is_keyword("(", "[", "<"):
            depth += 1
        elif word.is_keyword(")", "]", ">"):
            depth -= 1
        elif word.is_keyword(",") and depth == 0:
            parts.append(text[start : word.start].strip())
            start = word.end
    last = text[start:].strip()
    return [*parts, last] if last or parts else []
