"""Type aliases of the package, and the base classes of its frozen values."""

from __future__ import annotations

import threading
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from annotated_types import Ge, Lt
from pydantic import BaseModel, ConfigDict, StrictInt
from pydantic import ValidationError as PydanticError

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

Identifier: TypeAlias = tuple[str, ...]
Properties: TypeAlias = dict[str, str]
RecursiveDict: TypeAlias = dict[str, Any]

UTF8 = "utf-8"

K = TypeVar("K")
V = TypeVar("V")
TableVersion: TypeAlias = Literal[1, 2, 3]
ViewVersion: TypeAlias = Literal[1]
JsonInt: TypeAlias = Annotated[StrictInt, Ge(-(2**31)), Lt(2**31)]
"""A whole number of 32 bits in JSON."""
JsonLong: TypeAlias = Annotated[StrictInt, Ge(-(2**63)), Lt(2**63)]
"""A whole number of 64 bits in JSON."""


def hyphenated(name: str) -> str:
    """Return the JSON key of a field: ``schema-id`` for ``schema_id``."""
    return name.replace("_", "-")


def explain(what: str, error: PydanticError) -> str:
    """Return one line with the missing or invalid keys of a value.

    Args:
        what: The name of the value.
        error: The error of the validation.
    """
    problems = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "missing":
            problems.append(f"`{where}` is missing")
        else:
            problems.append(f"`{where}`: {message}, got {_short(problem['input'])}" if where else message)
    return f"{what} is not valid: {'; '.join(problems)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


_building = threading.RLock()


class JsonModel(BaseModel):
    """A frozen value whose JSON object has the specification's keys, with hyphens, and omits None."""

    # A validator is built at a model's first use: building all of them takes a third of the time of an import.
    model_config = ConfigDict(
        frozen=True,
        populate_by_name=True,
        alias_generator=hyphenated,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except PydanticError as error:
            raise ValidationError(explain(type(self).__name__, error)) from error

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build the validator unless the model has one. Threads that use a model first at the same time wait for one build."""
        # Before pydantic 2.14, a second build deletes the validator that the first one has just made.
        with _building:
            return super().model_rebuild(**options)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some attributes replaced. Cached properties, which derive from the attributes, are computed again."""
        copied = super().model_copy(update=update, deep=deep)
        if update:
            for name in copied.__dict__.keys() - type(copied).model_fields.keys():
                del copied.__dict__[name]
        return copied

    def model_dump(self, *, by_alias: bool | None = True, exclude_none: bool = True, **options: Any) -> dict[str, Any]:
        """Return the JSON object as dictionaries and lists."""
        return super().model_dump(by_alias=by_alias, exclude_none=exclude_none, **options)

    def model_dump_json(self, *, by_alias: bool | None = True, exclude_none: bool = True, **options: Any) -> str:
        """Return the JSON object as text."""
        return super().model_dump_json(by_alias=by_alias, exclude_none=exclude_none, **options)


class FrozenDict(dict[Any, Any]):
    """A dictionary that raises AttributeError for changes."""

    def __setitem__(self, instance: Any, value: Any) -> None:
        raise AttributeError("FrozenDict does not support assignment")

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Raise AttributeError."""
        raise AttributeError("FrozenDict does not support .update()")


EMPTY_DICT: Any = FrozenDict()


class KeyDefaultDict(dict[K, V]):
    """A dictionary that computes missing values from their keys and stores them.

    >>> KeyDefaultDict(str.upper)["a"]
    'A'
    """

    def __init__(self, default_factory: Callable[[K], V]) -> None:
        super().__init__()
        self.default_factory = default_factory

    def __missing__(self, key: K) -> V:
        value = self[key] = self.default_factory(key)
        return value


@runtime_checkable
class StructProtocol(Protocol):
    """A row with values by position."""

    def __getitem__(self, pos: int) -> Any: ...

    def __setitem__(self, pos: int, value: Any) -> None: ...


class Record:
    """An immutable tuple of values, such as a partition tuple; compares and hashes by its values.

    >>> Record(47, None, "a")[2]
    'a'
    """

    __slots__ = ("_data",)
    __class_getitem__: Any = classmethod(GenericAlias)
    _data: tuple[Any, ...]

    def __init__(self, *data: Any) -> None:
        object.__setattr__(self, "_data", data)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: a Record is immutable")

    def __getitem__(self, position: int) -> Any:
        return self._data[position]

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, Record) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}[{', '.join(map(str, self._data))}]"

    def __reduce__(self) -> tuple[type[Record], tuple[Any, ...]]:
        return Record, self._data
