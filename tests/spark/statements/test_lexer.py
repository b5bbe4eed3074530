"""Statements are split into the same words as by Spark's own lexer."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import split_items, with_backquotes, words_of

WORDS = {
    "a /* b /* ' */ c */ d": ["a", "d"],
    "a -- b \\\n c\n d": ["a", "d"],
    "a -- b\r c": ["a", "c"],
    "a /*+ b */ c": ["a", "/", "*", "+", "b", "*", "/", "c"],
    "'a' \"b\" r'\\n'": ["a", "b", "\\n"],
    r"'\101\u0042\U00000043\n\%\q'": ["ABC\n\\%q"],
    r"'\U0001F600\uD83D\uDE00'": ["😀😀"],
    "a; -- b\n;": ["a"],
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text):
    assert [word.text for word in words_of(text)] == WORDS[text]


def test_a_comment_without_an_end_is_refused():
    with pytest.raises(ValidationError, match="character 3: the comment does not end"):
        words_of("a /* /* b */ c")


def test_comparisons_are_no_brackets_of_types():
    assert split_items("a = b < c, d = e > f, g = h << 1") == ["a = b < c", "d = e > f", "g = h << 1"]
    assert split_items("a map<int, array<int>>, b struct<>, c int") == ["a map<int, array<int>>", "b struct<>", "c int"]


def test_names_in_double_quotes():
    assert with_backquotes('SELECT "a""b", \'"\', r"c", "d`"') == 'SELECT `a"b`, \'"\', r"c", `d```'
