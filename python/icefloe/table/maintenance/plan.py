"""The values that maintenance begins and ends with: a plan before anything changes, and a result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.display import rows_as_html, rows_as_text

if TYPE_CHECKING:
    import pyarrow as pa


class Plan(ABC):
    """The changes that one maintenance verb would make, computed from one version of the table.

    A plan is frozen and picklable. `Table.maintenance.execute` makes exactly its changes, or raises: ValidationError for a plan of another
    table, ValidationException if a concurrent commit changed what the plan depends on.

    Attributes:
        verb: The name of the procedure, `expire_snapshots` for example; the method of `Table.maintenance` has the same name.
    """

    verb: ClassVar[str]

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""

    @property
    @abstractmethod
    def file_count(self) -> int:
        """The number of files that the plan deletes or rewrites."""

    @property
    @abstractmethod
    def total_bytes(self) -> int:
        """The bytes of these files, as far as their sizes are recorded."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to look at the plan before it is executed, one sentence each."""
        return ()

    @property
    def refusals(self) -> tuple[str, ...]:
        """Parts of the plan that cannot run on this table, with the reason, one sentence each."""
        return ()

    @abstractmethod
    def summary(self) -> str:
        """Return one sentence on what the plan does."""

    @abstractmethod
    def rows(self) -> pa.Table:
        """Return one row for each thing that the plan is about, with a text column `reason`."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values: keys in snake_case, ids as strings, times in ISO 8601 in UTC, sizes in bytes."""

    def __str__(self) -> str:
        return rows_as_text(self.summary(), self.rows())

    def _repr_html_(self) -> str:
        return rows_as_html(self.summary(), self.rows())


class Result(ABC):
    """The result of one maintenance verb.

    Attributes:
        verb: The name of the procedure.
    """

    verb: ClassVar[str]

    @abstractmethod
    def summary(self) -> str:
        """Return one sentence on what was done."""

    def as_dict(self) -> dict[str, Any]:
        """Return the verb, the summary and the attributes as JSON values, as `Plan.as_dict` does."""
        values = {name: _json_value(name, value) for name, value in vars(self).items()}
        return {"verb": self.verb, "summary": self.summary(), **values}

    def __str__(self) -> str:
        return self.summary()


def check_plan_kind(plan: object, kind: type[Plan], verb: str) -> None:
    """Raise ValidationError if a value is not a plan of a verb."""
    if not isinstance(plan, kind):
        found = f"a plan of {plan.verb}" if isinstance(plan, Plan) else repr(plan)
        raise ValidationError(f"{verb}: expected a plan of {verb}, got {found}")


def _json_value(name: str, value: Any) -> Any:
    """Return an attribute of a result as a JSON value: ids are texts."""
    if name == "snapshot_id":
        return None if value is None else str(value)
    if name == "snapshot_ids":
        return [str(one) for one in value]
    return list(value) if isinstance(value, tuple) else value
