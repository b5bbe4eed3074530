import pytest
from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.exceptions import NoSuchTableError, ValidationError


def test_text_is_split_at_dots():
    assert to_identifier("a.b.c") == ("a", "b", "c")


def test_tuple_is_taken_as_it_is():
    assert to_identifier(("a", "b.c")) == ("a", "b.c")


@pytest.mark.parametrize("name", ["a..b", ".a", ("a", "")], ids=["middle", "front", "tuple"])
def test_empty_level_is_refused(name):
    with pytest.raises(ValidationError, match="not a name"):
        to_identifier(name)


def test_table_needs_a_namespace():
    with pytest.raises(NoSuchTableError, match=r"namespace\.table"):
        split_table_identifier("events")


def test_dotted_is_the_inverse_of_splitting():
    assert dotted(to_identifier("a.b")) == "a.b"
