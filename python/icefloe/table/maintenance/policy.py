"""The maintenance policy of a table: the verbs that its properties configure, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from icefloe.exceptions import IcebergError, ValidationException
from icefloe.table.commit.transaction import INDEFINITE_ERRORS
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.plan import Plan, Result, check_plan_kind
from icefloe.table.maintenance.policy_steps import POLICY_STEPS, policy_rules
from icefloe.table.maintenance.table_checks import check_plan_of
from icefloe.table.properties.maintenance import MAINTENANCE_ENABLED, MAINTENANCE_STEPS, step_names

if TYPE_CHECKING:
    from icefloe.table.maintenance.policy_steps import PolicyStep

_ROWS = pa.schema([("step", pa.string()), ("files", pa.int64()), ("bytes", pa.int64()), ("reason", pa.string())])


@dataclass(frozen=True)
class PlannedStep:
    """One step of a policy's plan.

    Attributes:
        step: Name of the step.
        plan: The plan of its verb; None if the step is not due yet, or cannot run on this table.
        refusal: Why the verb cannot run.
        follows: Earlier steps with changes: when one of them has committed, the step is planned again by the same rules.
    """

    step: str
    plan: Plan | None
    refusal: str | None = None
    follows: tuple[str, ...] = ()

    @property
    def has_changes(self) -> bool:
        """Whether the step has something to do already."""
        return self.plan is not None and not self.plan.is_empty

    def text(self) -> str:
        """Return the plan of the step and the steps after which it is planned again, or the reason why it cannot run."""
        if self.refusal is not None:
            return f"cannot run: {self.refusal}"
        again = f"planned again after {', '.join(self.follows)}"
        if not self.has_changes:
            return f"nothing to do yet; {again}"
        text = self.plan.summary() if self.plan is not None else ""
        return f"{text}; {again}" if self.follows else text


@dataclass(frozen=True)
class PolicyPlan(Plan):
    """The plan of a policy: the changes of its steps.

    The plan of the first step with changes is executed exactly. It changes what later steps find: when it has committed, these are
    planned again by the rules of the plan, so that a second run finds nothing to do.

    Attributes:
        table_uuid: The table's UUID.
        rules: The table properties that decide, by name.
        steps: The steps that have something to do, follow such a step, or cannot run, in their order.
    """

    verb: ClassVar[str] = "policy"
    table_uuid: str
    rules: dict[str, Any]
    steps: tuple[PlannedStep, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no step has anything to do."""
        return not any(one.has_changes for one in self.steps)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to look at the plan before it is executed."""
        return tuple(text for one in self.steps if one.plan is not None for text in one.plan.warnings)

    @property
    def refusals(self) -> tuple[str, ...]:
        """The steps that cannot run, each with its reason."""
        return tuple(f"{one.step}: {one.refusal}" for one in self.steps if one.refusal is not None)

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
        names = [one.step for one in self.steps if one.has_changes]
        refused = [one.step for one in self.steps if one.refusal is not None]
        text = "policy: nothing to do" if not names else f"policy: {', '.join(names)}"
        return f"{text}; cannot run: {', '.join(refused)}" if refused else text

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
            {
                "step": one.step,
                "refusal": one.refusal,
                "planned_again_after": list(one.follows),
                "plan": one.plan.as_dict() if one.plan is not None and one.has_changes else None,
            }
            for one in self.steps
        ]
        return {"verb": self.verb, "rules": self.rules, "warnings": list(self.warnings), "steps": steps}


@dataclass(frozen=True)
class StepOutcome:
    """The result of one step of a policy.

    Attributes:
        step: Name of the step.
        result: The result of its verb; None if it failed or could not run.
        failure: Why it failed or could not run.
        has_committed: Whether the table has a new version since, of the step or of another writer.
    """

    step: str
    result: Result | None
    failure: str | None = None
    has_committed: bool = False


@dataclass(frozen=True)
class PolicyResult(Result):
    """The results of the steps of a policy, in order.

    Attributes:
        steps: The steps with changes, and the steps that could not run.
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
        done = sum(one.result is not None for one in self.steps)
        return "\n".join([f"policy: ran {count_text(done, 'step')}", *texts])

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
        """Return the plan of each step for the table as it is now.

        Raises:
            ValidationError: A property of the policy has no valid value.

        Examples:
            >>> table.maintenance.policy().plan().is_empty
            True
        """
        planned: list[PlannedStep] = []
        for step in self._steps():
            follows = tuple(one.step for one in planned if one.has_changes)
            if step.after is not None:
                is_possible = any(one.step == step.after and one.refusal is None for one in planned)
                planned += [PlannedStep(step.name, None, follows=(step.after,))] if is_possible else []
                continue
            found = self._planned(step, follows)
            planned += [found] if found.has_changes or found.follows or found.refusal is not None else []
        metadata = self._table.metadata
        return PolicyPlan(str(metadata.table_uuid), policy_rules(metadata.properties), tuple(planned))

    def execute(self, plan: PolicyPlan | None = None) -> PolicyResult:
        """Run the steps of a plan, by default of a new one.

        Args:
            plan: A plan made before. Its first step with changes is executed exactly. Steps after one that committed are planned
                again by the same rules.

        Raises:
            ValidationError: The plan is of another table.
            ValidationException: The table's maintenance properties have changed since the plan.
            CommitStateUnknownException: The outcome of a step's commit is unknown. No further step runs.
        """
        if plan is None:
            plan = self.plan()
        check_plan_kind(plan, PolicyPlan, PolicyPlan.verb)
        self._table.refresh()
        check_plan_of(self._table, plan.verb, plan.table_uuid)
        if plan.rules != policy_rules(self._table.metadata.properties):
            raise ValidationException(
                "plan of policy: the table's maintenance properties have changed; make a new plan"
            )
        steps = {step.name: step for step in POLICY_STEPS}
        outcomes: list[StepOutcome] = []
        for planned in plan.steps:
            if planned.refusal is not None:
                outcomes.append(StepOutcome(planned.step, None, planned.refusal))
                continue
            self._table.refresh()
            location = self._table.metadata_location
            is_stale = any(one.step in planned.follows and one.has_committed for one in outcomes)
            found = self._outcome(steps[planned.step], None if is_stale else planned.plan, is_stale=is_stale)
            if found is not None:
                outcomes.append(replace(found, has_committed=self._table.metadata_location != location))
        return PolicyResult(tuple(outcomes))

    def _steps(self) -> list[PolicyStep]:
        properties = self._table.metadata.properties
        names = step_names(MAINTENANCE_STEPS.of(properties)) if MAINTENANCE_ENABLED.of(properties) else ()
        return [step for step in POLICY_STEPS if step.name in names]

    def _planned(self, step: PolicyStep, follows: tuple[str, ...]) -> PlannedStep:
        try:
            return PlannedStep(step.name, step.plan(self._table), follows=follows)
        except IcebergError as error:
            return PlannedStep(step.name, None, str(error))

    def _outcome(self, step: PolicyStep, plan: Plan | None, *, is_stale: bool) -> StepOutcome | None:
        """Run the plan of a step, or plan it again; None if it has nothing to do."""
        try:
            if is_stale:
                plan = step.plan(self._table)
            if plan is None or plan.is_empty:
                return None
            return StepOutcome(step.name, step.execute(self._table, plan))
        except INDEFINITE_ERRORS:
            raise
        except IcebergError as error:
            return StepOutcome(step.name, None, str(error))
