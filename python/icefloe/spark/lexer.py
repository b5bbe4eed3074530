"""Tokens of a Spark SQL text, with their offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from icefloe.exceptions import ValidationError

_WORDS = re.compile(
    r"""(?P<space>\s+|--(?:\\\n|[^\r\n])*)
      |(?P<comment>/\*(?!\+))
      |(?P<raw>[rR](?:'[^']*'|"[^"]*"))
      |(?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
      |(?P<quoted>`(?:[^`]|``)*`)
      |(?P<word>\w+)
      |(?P<sign>=>|->|<=>|<=|>=|<>|!=|==|\|\||\|>|::|.)""",
    re.DOTALL | re.VERBOSE,
)
_COMMENT_MARKS = re.compile(r"/\*(?!\+)|\*/")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}
PARSER_KEYWORDS = {
    *(
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
    ),
    *(
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
    ),
    *(
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
    ),
    *(
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
    ),
    # Clauses of Spark alone.
    *("CLUSTER", "DISTRIBUTE", "MINUS", "OFFSET", "SORT"),
    *("TOP", "UNION", "UNPIVOT", "UPDATE", "USE", "USING", "VALUES", "WHEN", "WHERE", "WINDOW", "WITH"),
}
_TYPES_WITH_PARAMETERS = ("ARRAY", "MAP", "STRUCT")
_SHOWN_LENGTH = 40
_ESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|U(?:0010|000[0-9A-Fa-f])[0-9A-Fa-f]{4}|[01][0-7]{2}|.)", re.DOTALL)


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

    Raises:
        ValidationError: A comment does not end.

    Examples:
        >>> [word.text for word in words_of("SELECT `a b`, 'it''s' -- all")]
        ['SELECT', 'a b', ',', "it's"]
    """
    words, at = list[Word](), 0
    while at < len(text):
        found = _WORDS.match(text, at)
        assert found is not None, "any character is a sign"
        kind, value = found.lastgroup or "sign", found[0]
        start, at = at, found.end()
        if kind == "comment":
            at = _comment_end(text, start)
        elif kind != "space":
            words.append(_word(kind, value, start))
    while words and words[-1].text == ";" and words[-1].kind == "sign":
        words.pop()
    return words


def _word(kind: str, value: str, start: int) -> Word:
    end = start + len(value)
    if kind == "raw":
        return Word("string", value[2:-1], start, end)
    if kind == "string":
        return Word(kind, _unescaped(value), start, end)
    return Word(kind, value[1:-1].replace("``", "`") if kind == "quoted" else value, start, end)


def _comment_end(text: str, start: int) -> int:
    """Return the offset after a comment in brackets; such comments nest."""
    depth = 0
    for mark in _COMMENT_MARKS.finditer(text, start):
        depth += -1 if mark[0] == "*/" else 1
        if depth == 0:
            return mark.end()
    raise ValidationError(f"SQL, at character {start + 1}: the comment does not end; expected */ after /*, got none")


def _unescaped(literal: str) -> str:
    quote = literal[0]

    def plain(found: re.Match[str]) -> str:
        code = found[1]
        if len(code) == 1:
            return _ESCAPES.get(code, code)
        return chr(int(code, 8) if code.isdigit() else int(code[1:], 16))

    text = _ESCAPED.sub(plain, literal[1:-1].replace(quote * 2, quote))
    # Two escapes may be the halves of one character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def with_backquotes(text: str) -> str:
    """Return a statement whose names in double quotes are in backquotes, for a session in which double quotes are around names.

    Examples:
        >>> with_backquotes('SELECT "a""b", "c`d" FROM t')
        'SELECT `a"b`, `c``d` FROM t'
    """
    for word in reversed(words_of(text)):
        quoted = text[word.start : word.end]
        if quoted.startswith('"'):
            name = quoted[1:-1].replace('""', '"').replace("`", "``")
            text = f"{text[: word.start]}`{name}`{text[word.end :]}"
    return text


def with_quoted_keywords(text: str) -> str:
    """Return a statement with backquotes around keywords that are parts of dotted names, which Spark accepts without them.

    Examples:
        >>> with_quoted_keywords("SELECT t.left FROM lake.inner.t")
        'SELECT t.`left` FROM lake.`inner`.t'
    """
    words = words_of(text)
    for index in range(len(words) - 1, 0, -1):
        word = words[index]
        if word.kind == "word" and word.text.upper() in PARSER_KEYWORDS and words[index - 1].is_keyword("."):
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
        """Return the string literal that follows; literals side by side are one."""
        first = self.index
        while (word := self.peek()) is not None and word.kind == "string":
            self.index += 1
        if self.index == first:
            raise self.error("a string in quotes")
        return "".join(word.text for word in self.words[first : self.index])

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
        before = self.words[self.index - 1] if 0 < self.index <= len(self.words) else None
        # Offsets are left out: a part of a statement, or a statement with other names and values, has other ones.
        place = "" if before is None else f", after {self.text[before.start : before.end][:_SHOWN_LENGTH]!r}"
        return ValidationError(f"SQL{place}: expected {expected}, got {got}")


def split_items(text: str) -> list[str]:
    """Return the parts of a text between commas outside of parentheses, brackets and angle brackets of types.

    Examples:
        >>> split_items("a, bucket(16, b), 'x,y'")
        ['a', 'bucket(16, b)', "'x,y'"]
        >>> split_items("a = b < c, d map<int, array<int>>")
        ['a = b < c', 'd map<int, array<int>>']
    """
    parts, start, opened = [], 0, list[str]()
    before: Word | None = None
    for word in words_of(text):
        of_type = before is not None and before.is_keyword(*_TYPES_WITH_PARAMETERS)
        if word.is_keyword("(", "[") or (word.is_keyword("<") and of_type):
            opened.append(word.text)
        elif opened and (word.is_keyword(")", "]") or (word.is_keyword(">") and opened[-1] == "<")):
            opened.pop()
        elif word.is_keyword(",") and not opened:
            parts.append(text[start : word.start].strip())
            start = word.end
        before = word
    last = text[start:].strip()
    return [*parts, last] if last or parts else []
