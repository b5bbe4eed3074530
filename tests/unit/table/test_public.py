"""The public names of `icefloe.table`."""

import icefloe.table
import pytest
from icefloe.table import public


def test_package_has_the_names_of_its_public_module():
    assert icefloe.table.__all__ == public.__all__
    assert set(public.__all__) <= set(dir(icefloe.table))
    for name in public.__all__:
        assert getattr(icefloe.table, name) is getattr(public, name)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'icefloe\.table' has no attribute 'Nothing'"):
        _ = icefloe.table.Nothing
