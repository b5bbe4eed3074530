"""The exception tree."""

from __future__ import annotations

import inspect

import pytest
from icefloe import exceptions

CLASSES = [value for value in vars(exceptions).values() if inspect.isclass(value)]


def test_all_is_sorted_and_complete() -> None:
    assert exceptions.__all__ == sorted(exceptions.__all__)
    assert set(exceptions.__all__) == {value.__name__ for value in CLASSES}


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_exception_is_in_the_tree_of_the_docstring(error: type[Exception]) -> None:
    assert issubclass(error, exceptions.IcebergError) or issubclass(error, UserWarning)
    assert error.__name__ in (exceptions.__doc__ or "")


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (exceptions.ValidationError, ValueError),
        (exceptions.ResolveError, ValueError),
        (exceptions.FeatureUnsupportedError, NotImplementedError),
        (exceptions.MissingFileError, FileNotFoundError),
        (exceptions.FileAlreadyExistsError, FileExistsError),
        (exceptions.StorageError, OSError),
    ],
    ids=lambda value: value.__name__,
)
def test_exception_is_also_the_exact_builtin(error: type[Exception], builtin: type[Exception]) -> None:
    with pytest.raises(builtin, match="why"):
        raise error("why")
