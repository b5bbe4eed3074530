"""The maintenance policy of a table: the verbs that its properties ask for, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.plan import Plan, Result
from icefloe.table.maintenance.policy_steps import POLICY_STEPS
from icefloe.table.properties.maintenance import MAINTENANCE_ENABLED, MAINTENANCE_STEPS, step_names

if TYPE_CHECKING:
    from icefloe.table.maintenance.policy_steps import PolicyStep

_ROWS = pa.schema([("step", pa.string()), ("files", pa.int64()), ("bytes", pa.int64()), ("reason", pa.string())])


@dataclass(frozen=True)
class PlannedStep:
    """One step of a policy's plan.

    Attributes:
        step: Name of the step.
        plan: The plan of its verb; None if the verb cannot run on this table.
        refusal: Why the verb cannot run.
    """

    step: str
    plan: Plan | None
    refusal: str | None = None

    def text(self) -> str:
        """Return what the step would do, or why it cannot run."""
        return self.plan.summary() if self.plan is not None else f"cannot run: {self.refusal}"


@dataclass(frozen=True)
class PolicyPlan(Plan):
    """What the steps of a policy would do to the table as it is now.

    It is a preview: each step is planned again when its turn comes, because earlier steps change what later steps find.

    Attributes:
        steps: The steps that have something to do, or cannot run, in their order.
    """

    verb: ClassVar[str] = "policy"
    steps: tuple[PlannedStep, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no step has anything to do."""
        return all(one.plan is None for one in self.steps)

    @property
    def file_count(self) -> int:
        """The number of files that the steps delete or rewrite."""
        return sum(one.plan.file_count for one in self.steps if one.plan is not None)

    @property
    def total_bytes(self) -> int:
        """The bytes of these files."""
        return sum(one.plan.total_bytes for one in self.steps if one.plan is not None)

    def summary(self) -> str:
        """Return one sentence on what the policy does."""
        names = [one.step for one in self.steps if one.plan is not None]
        return "policy: nothing to do" if not names else f"policy: {', '.join(names)}"

    def rows(self) -> pa.Table:
        """Return one row per step: step, files, bytes, reason."""
        rows = [
            {
                "step": one.step,
                "files": None if one.plan is None else one.plan.file_count,
                "bytes": None if one.plan is None else one.plan.total_bytes,
                "reason": one.text(),
            }
            for one in self.steps
        ]
        return pa.Table.from_pylist(rows, _ROWS)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        steps = [
            {"step": one.step, "refusal": one.refusal, "plan": None if one.plan is None else one.plan.as_dict()}
            for one in self.steps
        ]
        return {"verb": self.verb, "steps": steps}


@dataclass(frozen=True)
class StepOutcome:
    """What one step of a policy did.

    Attributes:
        step: Name of the step.
        result: The result of its verb; None if it failed.
        failure: Why it failed.
    """

    step: str
    result: Result | None
    failure: str | None = None


@dataclass(frozen=True)
class PolicyResult(Result):
    """What the steps of a policy did, in their order.

    Attributes:
        steps: The steps that had something to do.
    """

    verb: ClassVar[str] = "policy"
    steps: tuple[StepOutcome, ...]

    @property
    def failures(self) -> tuple[str, ...]:
        """One text for each step that failed, or that failed in part."""
        failed = [f"{one.step}: {one.failure}" for one in self.steps if one.failure is not None]
        partly = [one.step for one in self.steps if one.result is not None and _is_partial(one.result)]
        return (*failed, *(f"{step}: partly done" for step in partly))

    def summary(self) -> str:
        """Return what was done, one sentence for each step."""
        if not self.steps:
            return "policy: nothing to do"
        texts = [
            one.result.summary() if one.result is not None else f"{one.step} failed: {one.failure}"
            for one in self.steps
        ]
        return "\n".join([f"policy: ran {count_text(len(self.steps), 'step')}", *texts])

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        steps = [
            {"step": one.step, "failure": one.failure, "result": None if one.result is None else one.result.as_dict()}
            for one in self.steps
        ]
        return {"verb": self.verb, "steps": steps}


def _is_partial(result: Result) -> bool:
    return bool(getattr(result, "is_partial", False) or getattr(result, "failures", ()))


class MaintenancePolicy:
    """Runs compaction, rewriting of deletes, of manifests, expiry and orphan removal as the table's properties ask for.

    A second run finds nothing to do. Steps that other writers get in the way of are reported and leave the table as it was; the
    steps after them run.

    Args:
        table: The table's handle.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def plan(self) -> PolicyPlan:
        """Return what each step would do to the table as it is now.

        Raises:
            ValidationError: A property of the policy has no valid value.

        Examples:
            >>> table.maintenance.policy().plan().is_empty
            True
        """
        planned = (self._planned(step) for step in self._steps())
        return PolicyPlan(tuple(one for one in planned if one is not None))

    def execute(self, plan: PolicyPlan | None = None) -> PolicyResult:
        """Run the steps, each planned when its turn comes.

        Args:
            plan: A plan made before; only steps that it has run. None runs every step.

        Raises:
            CommitStateUnknownException: The outcome of a step's commit is unknown. No further step runs.
        """
        wanted = None if plan is None else {one.step for one in plan.steps if one.plan is not None}
        outcomes = []
        for step in self._steps():
            if wanted is None or step.name in wanted:
                self._table.refresh()
                outcome = self._outcome(step)
                outcomes += [] if outcome is None else [outcome]
        return PolicyResult(tuple(outcomes))

    def _steps(self) -> list[PolicyStep]:
        properties = self._table.metadata.properties
        names = step_names(MAINTENANCE_STEPS.of(properties)) if MAINTENANCE_ENABLED.of(properties) else ()
        return [step for step in POLICY_STEPS if step.name in names]

    def _planned(self, step: PolicyStep) -> PlannedStep | None:
        """Plan a step; None if it has nothing to do."""
        try:
            plan = step.plan(self._table)
        except IcebergError as error:
            return PlannedStep(step.name, None, str(error))
        return None if plan is None or plan.is_empty else PlannedStep(step.name, plan)

    def _outcome(self, step: PolicyStep) -> StepOutcome | None:
        """Plan and run a step; None if it has nothing to do."""
        try:
            plan = step.plan(self._table)
            if plan is None or plan.is_empty:
                return None
            return StepOutcome(step.name, step.execute(self._table, plan))
        except CommitStateUnknownException:
            raise
        except IcebergError as error:
            return StepOutcome(step.name, None, str(error))
