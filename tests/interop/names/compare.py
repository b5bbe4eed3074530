"""The differences between the public names of PyIceberg and of icefloe, by name."""

from __future__ import annotations

import enum
from functools import cache
from typing import Any

from pydantic import BaseModel

from tests.interop.names import signatures
from tests.interop.names.public import THEIRS, Module, is_class, is_method, members, model_fields, modules, public_names


@cache
def differences() -> dict[str, list[str]]:
    """Return what differs, by PyIceberg's name of it without `pyiceberg.`; names that agree are absent.

    A module or a class that is missing is one difference, whatever it holds.
    """
    found: dict[str, list[str]] = {}
    missing: tuple[str, ...] = ()
    for module in modules():
        if module.path.startswith(missing):
            continue
        if module.theirs is None or (module.ours is None and not public_names_below(module)):
            continue
        if module.ours is None:
            found[module.path] = ["missing module"]
            missing = (*missing, f"{module.path}.")
            continue
        for name in public_names(module.theirs):
            key = f"{module.path}.{name}"
            found.update({where: texts for where, texts in of_name(key, module, name).items() if texts})
    return found


def public_names_below(module: Module) -> bool:
    """Return whether a module, or one inside it, has any name at all."""
    assert module.theirs is not None
    return bool(public_names(module.theirs)) or hasattr(module.theirs, "__path__")


def of_name(key: str, module: Module, name: str) -> dict[str, list[str]]:
    """Return what differs in one name of a module."""
    theirs = getattr(module.theirs, name)
    try:
        ours = getattr(module.ours, name)
    except AttributeError:
        return {key: ["missing"]}
    if is_class(theirs):
        return of_class(key, ours, theirs) if is_class(ours) else {key: ["not a class"]}
    if callable(theirs) and not hasattr(theirs, "__origin__"):
        return {key: signatures.differences(ours, theirs)}
    return {key: of_constant(ours, theirs)}


def of_constant(ours: Any, theirs: Any) -> list[str]:
    """Return what differs in a constant: text and numbers are compared by value, anything else is only there."""
    if isinstance(theirs, (str, int, float, bytes, tuple, frozenset)) and ours != theirs and plain(theirs):
        return [f"{ours!r}, there {theirs!r}"]
    return []


def plain(value: Any) -> bool:
    """Return whether a constant holds nothing but values of the language."""
    return isinstance(value, (str, int, float, bytes)) or all(map(plain, value))


def of_class(key: str, ours: type, theirs: type) -> dict[str, list[str]]:
    """Return what differs in a class: its bases, how it is made, its members."""
    found = {key: [*of_bases(ours, theirs), *of_construction(ours, theirs), *of_subscript(ours, theirs)]}
    of_base = [
        (base, counterpart)
        for base in theirs.__mro__[1:]
        if (counterpart := counterpart_of(base)) is not None and issubclass(ours, counterpart)
    ]
    for name, member in members(theirs).items():
        texts = of_member(ours, theirs, name, member)
        inherited = any(
            name in members(base) and of_member(counterpart, base, name, members(base)[name]) == texts
            for base, counterpart in of_base
        )
        found[f"{key}.{name}"] = [] if inherited else texts
    return found


def of_bases(ours: type, theirs: type) -> list[str]:
    """Return the classes that an instance is of there, and so an `except` or `isinstance` finds, and here is not."""
    found = []
    for base in theirs.__mro__[1:]:
        counterpart = counterpart_of(base)
        if counterpart is not None and not issubclass(ours, counterpart):
            found.append(f"no {base.__name__}")
    return found


def counterpart_of(base: type) -> type | None:
    """Return the class of icefloe, or of Python itself, that stands for one of PyIceberg's."""
    if issubclass(base, BaseException) and base.__module__ == "builtins":
        return base
    package, _, path = base.__module__.partition(".")
    if package != THEIRS or base.__name__.startswith("_"):
        return base if base in {int, str, dict} else None
    for module in modules_by_path():
        if module.path == path and module.ours is not None:
            value = getattr(module.ours, base.__name__, None)
            return value if is_class(value) else None
    return None


@cache
def modules_by_path() -> tuple[Module, ...]:
    return tuple(modules())


def of_construction(ours: type, theirs: type) -> list[str]:
    """Return what differs in making an instance: the signature; of a model, the fields and their JSON keys."""
    if issubclass(theirs, enum.Enum):
        return []
    if issubclass(theirs, BaseModel) and "__init__" not in vars(theirs):
        return of_fields(ours, theirs)
    if issubclass(theirs, BaseException) or getattr(theirs, "_is_protocol", False):
        return []
    return signatures.differences(ours, theirs)


def of_fields(ours: type, theirs: type) -> list[str]:
    mine = model_fields(ours)
    if not mine:
        return []
    found = [
        f"field {name} has no key {key}" for name, key in model_fields(theirs).items() if mine.get(name, key) != key
    ]
    needed = {name for name, field in theirs.model_fields.items() if field.is_required()}
    assert issubclass(ours, BaseModel)
    return found + [
        f"needs {name}" for name, field in ours.model_fields.items() if field.is_required() and name not in needed
    ]


def of_subscript(ours: type, theirs: type) -> list[str]:
    """Return whether the class cannot be written with a type in brackets, though there it can."""
    generic = hasattr(theirs, "__class_getitem__") and not issubclass(theirs, BaseModel)
    generic = generic and bool(getattr(theirs, "__parameters__", ()))
    return ["not subscriptable"] if generic and not hasattr(ours, "__class_getitem__") else []


def of_member(ours: type, theirs: type, name: str, member: Any) -> list[str]:
    """Return what differs in one member of a class."""
    if issubclass(theirs, enum.Enum) and name in theirs.__members__:
        if name not in getattr(ours, "__members__", {}):
            return ["missing"]
        mine = ours[name].value  # type: ignore[index]
        return [] if mine == theirs[name].value else [f"{mine!r}, there {theirs[name].value!r}"]
    fields = set(model_fields(ours)) | set(getattr(ours, "__dataclass_fields__", ())) | attributes(ours)
    if not hasattr(ours, name):
        return [] if name in fields else ["missing"]
    if name in model_fields(theirs) or member is None:
        return ["a method"] if is_method(found_in(ours, name)) and name not in fields else []
    called_there = is_method(member)
    if is_class(member):
        return []
    mine = found_in(ours, name)
    if called_there != (is_method(mine) and not is_class(mine)):
        return ["a method there" if called_there else "no method there"]
    if called_there:
        return signatures.differences(getattr(ours, name), getattr(theirs, name))
    if isinstance(member, (str, int, float, bytes)):
        return of_constant(getattr(ours, name), member)
    return []


def attributes(kind: type) -> set[str]:
    """Return the attributes of instances: annotated ones and ones that the constructor sets."""
    found = {name for owner in kind.__mro__ for name in vars(owner).get("__annotations__", {})}
    for owner in kind.__mro__:
        code = getattr(vars(owner).get("__init__"), "__code__", None)
        found |= set() if code is None else set(code.co_names)
    return found


def found_in(kind: type, name: str) -> Any:
    return next((vars(owner)[name] for owner in kind.__mro__ if name in vars(owner)), None)
