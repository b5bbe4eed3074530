"""Immutable values of which equal ones are the same object."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, cast
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from typing_extensions import Self


class Interned:
    """An immutable value: one object for each class and its parameters, as long as the object is referenced."""

    __slots__ = ("__weakref__",)
    _instances: ClassVar[WeakValueDictionary[tuple[Any, ...], Interned]] = WeakValueDictionary()
    _lock: ClassVar[Lock] = Lock()

    def __new__(cls) -> Self:
        """Return the instance without parameters."""
        return cls._instance()

    @classmethod
    def _instance(cls, **parameters: Any) -> Self:
        """Return the instance with these attributes."""
        key = (cls, *parameters.values())
        with Interned._lock:
            instance = Interned._instances.get(key)
            if instance is None:
                instance = super().__new__(cls)
                for name, value in parameters.items():
                    object.__setattr__(instance, name, value)
                Interned._instances[key] = instance
        return cast("Self", instance)
