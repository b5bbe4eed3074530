"""The names shared with PyIceberg: every public one is here at the same path and works the same, or the page says why not."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.interop.names.compare import differences
from tests.interop.names.page import NAMES, VALUES, justified
from tests.interop.names.public import OURS, THEIRS
from tests.interop.names.samples import namespace, outcome

pytestmark = pytest.mark.interop

SAMPLES = (Path(__file__).parent / "names" / "samples.txt").read_text(encoding="utf-8").splitlines()


@cache
def names_of(package: str) -> dict[str, Any]:
    return namespace(package)


def test_every_difference_of_a_name_is_on_the_page() -> None:
    on_page = set(justified(NAMES))
    missing = {name: texts for name, texts in differences().items() if name not in on_page}
    assert missing == {}, "mend them, or add a line to docs/from-pyiceberg.md"


def test_every_name_on_the_page_differs() -> None:
    assert [name for name in justified(NAMES) if name not in differences()] == [], "remove them from the page"


def test_every_value_on_the_page_is_a_sample() -> None:
    assert [code for code in justified(VALUES) if code not in SAMPLES] == []


@pytest.mark.parametrize("section", [NAMES, VALUES])
def test_page_justifies_each_difference_once(section: str) -> None:
    assert [name for name, count in Counter(justified(section)).items() if count > 1] == []


@pytest.mark.parametrize("code", SAMPLES)
def test_value_prints_as_in_pyiceberg_or_is_on_the_page(code: str) -> None:
    ours, theirs = outcome(code, names_of(OURS)), outcome(code, names_of(THEIRS))
    if code in justified(VALUES):
        assert not ours.agrees_with(theirs), "the same by now: remove it from the page"
    else:
        assert ours.agrees_with(theirs), f"\nours:   {ours}\ntheirs: {theirs}"


# Texts that users match, in `except` clauses and in `pytest.raises(match=...)`.
MESSAGES = [
    ("flat.find_field('nope')", "Could not find field with name nope, case_sensitive=True"),
    ("flat.find_field(99)", "Could not find field with id: 99"),
    ("flat.select('nope')", "Could not find column: 'nope'"),
    ("flat.accessor_for_field(99)", "Could not find accessor for field with id: 99"),
    (
        "Schema(flat.fields[0], flat.fields[0].model_copy(update={'field_id': 9}))",
        "multiple fields for name id: 1 and 9",
    ),
    ("Schema(flat.fields[1], identifier_field_ids=[2])", "Identifier field 2 invalid: not a required field"),
    ("prune_columns(nested, {2}, False)", "Cannot explicitly project List or Map types, 2:tags of type list<string>"),
    ("promote(LongType(), IntegerType())", "Cannot promote long to int"),
    ("DecimalType(39, 2)", r"Decimal precision must be between 1 and 38 \(inclusive\), got: 39"),
    ("literal('abc').to(LongType())", "Could not convert abc into a long"),
    ("DataFileContent.from_rest_type('rows')", "Invalid file content value: rows"),
    ("SetPropertiesUpdate(updates={'a': None})", "None type is not a supported value in properties: a"),
]


@pytest.mark.parametrize(("code", "text"), MESSAGES)
@pytest.mark.parametrize("package", [OURS, THEIRS])
def test_message_has_the_text_that_users_match(code: str, text: str, package: str) -> None:
    with pytest.raises(Exception, match=text):
        eval(code, names_of(package))
