"""The public names of PyIceberg, read from its source: what a module defines, not what it imports."""

from __future__ import annotations

import ast
import importlib
import inspect
import logging
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, singledispatchmethod
from types import ModuleType
from typing import Any, TypeVar

import pyiceberg
from pydantic import BaseModel, RootModel
from pydantic._internal._decorators import PydanticDescriptorProxy

THEIRS = "pyiceberg"
OURS = "icefloe"
# Methods that pydantic gives to every model are pydantic's, not PyIceberg's.
OF_PYDANTIC = frozenset(dir(BaseModel)) | frozenset(dir(RootModel))


@dataclass(frozen=True)
class Module:
    """One module of PyIceberg and the module of icefloe at the same path; None where icefloe has none."""

    path: str
    theirs: ModuleType | None
    ours: ModuleType | None


def modules() -> Iterator[Module]:
    """Yield every module of PyIceberg that has no underscore in front of its name."""
    for found in pkgutil.walk_packages(pyiceberg.__path__, f"{THEIRS}."):
        path = found.name.removeprefix(f"{THEIRS}.")
        if not any(part.startswith("_") for part in path.split(".")):
            yield Module(path, load(found.name), load(f"{OURS}.{path}"))


def load(name: str) -> ModuleType | None:
    """Return a module, or None if it or an optional package that it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module defines itself, in the order of its source."""
    names: dict[str, None] = {}
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            names[statement.name] = None
        elif isinstance(statement, ast.Assign):
            names.update({target.id: None for target in statement.targets if isinstance(target, ast.Name)})
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names[statement.target.id] = None
    return [name for name in names if not name.startswith("_") and is_of_interest(getattr(module, name, None))]


def is_of_interest(value: object) -> bool:
    """Return whether a module's value is for its users: type variables and loggers are not."""
    return value is not None and not isinstance(value, (TypeVar, logging.Logger))


def is_class(value: object) -> bool:
    """Return whether a value is a class; a parametrised generic is none."""
    return isinstance(value, type) and getattr(value, "__origin__", None) is None


def members(kind: type) -> dict[str, Any]:
    """Return the public members of a class that PyIceberg's own classes define, as the class holds them."""
    found: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        if owner.__module__.partition(".")[0] == THEIRS:
            found.update({name: value for name, value in vars(owner).items() if not name.startswith("_")})
            found.update(dict.fromkeys(model_fields(owner)))
            found.update({name: None for name in vars(owner).get("__annotations__", {}) if not name.startswith("_")})
    if issubclass(kind, BaseModel):
        # Validators and serializers are how a model is checked, `root` is where pydantic keeps a value: not for users.
        hidden = {name for name, value in found.items() if isinstance(value, PydanticDescriptorProxy)}
        hidden |= set(kind.__pydantic_decorators__.model_validators) | set(
            kind.__pydantic_decorators__.field_validators
        )
        hidden |= set(kind.__pydantic_decorators__.model_serializers) | set(
            kind.__pydantic_decorators__.field_serializers
        )
        return {name: value for name, value in found.items() if name not in OF_PYDANTIC | hidden | {"root"}}
    return found


def model_fields(kind: type) -> dict[str, str]:
    """Return the fields of a pydantic model, each with the key that its JSON has."""
    if not issubclass(kind, BaseModel) or issubclass(kind, RootModel):
        return {}
    return {
        name: field.serialization_alias or field.alias or name
        for name, field in kind.model_fields.items()
        if field.exclude is not True
    }


def is_method(member: Any) -> bool:
    """Return whether a member is called with parentheses."""
    return not isinstance(member, (property, cached_property)) and (
        callable(member) or isinstance(member, (staticmethod, classmethod, singledispatchmethod))
    )
