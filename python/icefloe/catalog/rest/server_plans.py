"""Scans that the server plans: submission, polling, and the tasks in its replies."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.catalog.identifiers import dotted
from icefloe.catalog.rest import endpoints
from icefloe.catalog.rest.property_names import PLANNING_TIMEOUT, whole_number
from icefloe.catalog.rest.replies import Call
from icefloe.catalog.rest.table_storage import StorageCredential, storage_credentials
from icefloe.catalog.rest.tables import DELEGATION_HEADER
from icefloe.exceptions import IcebergError, NoSuchTableError, RESTError, StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.catalog.rest.replies import Reply
    from icefloe.catalog.rest.requests import Requests
    from icefloe.table.environment import Environment
    from icefloe.typedef import Identifier

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_TIMEOUT_MS = 300_000


@dataclass(frozen=True)
class ServedPlan:
    """A plan that the server made.

    Attributes:
        replies: The JSON replies that hold tasks and delete files.
        credentials: Credentials that the server lends for the files of the plan.
    """

    replies: list[bytes]
    credentials: tuple[StorageCredential, ...] = field(default=(), repr=False)


class ServerPlans:
    """Requests for plans of scans.

    Args:
        requests: Sends the requests.
        environment: Clock and sleep.
    """

    def __init__(self, requests: Requests, environment: Environment) -> None:
        self._requests = requests
        self._environment = environment
        self._timeout_s = (
            whole_number(requests.connection.properties, PLANNING_TIMEOUT, _TIMEOUT_MS, least=1) or _TIMEOUT_MS
        ) / 1000

    def plan(self, identifier: Identifier, request: Mapping[str, Any]) -> ServedPlan:
        """Have the server plan a scan, and return all its tasks. A plan whose tasks are not all fetched is cancelled.

        Args:
            identifier: The table.
            request: The JSON object of the request: snapshot, columns, filter.

        Raises:
            FeatureUnsupportedError: The server does not offer an endpoint that is needed.
            StorageError: The plan was not complete in time.
            RESTError: The server failed to plan, or its reply has another form.
        """
        call = Call(f"table {dotted(identifier)}: plan of a scan", missing=NoSuchTableError)
        reply = self._requests.send(
            call,
            endpoints.SUBMIT_PLAN,
            identifier[:-1],
            identifier[-1],
            content=json.dumps(request),
            headers=DELEGATION_HEADER,
        )
        plan_id = reply.body.get("plan-id")
        if not (plan_id is None or isinstance(plan_id, str)):
            raise self._unreadable(call, identifier, "a text `plan-id`")
        try:
            completed = self._completed(identifier, call, reply, plan_id)
            return self._with_all_tasks(identifier, completed)
        except BaseException:
            self._cancel(identifier, plan_id)
            raise

    def _completed(self, identifier: Identifier, call: Call, reply: Reply, plan_id: str | None) -> Reply:
        """Return the reply of a completed plan: the first one, or the reply to a later poll."""
        started, wait = self._environment.monotonic(), _FIRST_WAIT_S
        while True:
            status = reply.body.get("status")
            if status == "completed":
                return reply
            if status == "failed":
                error = reply.body.get("error")
                message = error.get("message") if isinstance(error, dict) else None
                raise RESTError(f"{call.subject}: the server failed to plan{': ' + str(message) if message else ''}")
            if status == "cancelled":
                raise RESTError(f"{call.subject}: the server cancelled the plan; plan the scan again")
            if status != "submitted" or plan_id is None:
                raise self._unreadable(
                    call, identifier, "`status` completed, submitted with a `plan-id`, cancelled or failed"
                )
            elapsed = self._environment.monotonic() - started
            if elapsed + wait > self._timeout_s:
                raise StorageError(
                    f"{call.subject}: not complete after {elapsed:.0f} seconds; raise {PLANNING_TIMEOUT}, or set "
                    "scan-planning-mode to client"
                )
            self._environment.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT_S)
            polled = Call(call.subject, missing=RESTError)
            reply = self._requests.send(
                polled,
                endpoints.FETCH_PLAN,
                identifier[:-1],
                identifier[-1],
                plan_id=plan_id,
                headers=DELEGATION_HEADER,
            )

    def _with_all_tasks(self, identifier: Identifier, completed: Reply) -> ServedPlan:
        call = Call(f"table {dotted(identifier)}: tasks of a scan", missing=RESTError)
        credentials = storage_credentials(completed.body.get("storage-credentials"))
        if credentials is None:
            raise self._unreadable(call, identifier, "a list `storage-credentials`")
        replies = [completed.content]
        remaining = self._plan_tasks(call, identifier, completed)
        seen: set[str] = set()
        while remaining:
            task = remaining.pop(0)
            if task in seen:
                raise self._unreadable(call, identifier, "each of `plan-tasks` once")
            seen.add(task)
            reply = self._requests.send(
                call, endpoints.FETCH_TASKS, identifier[:-1], identifier[-1], content=json.dumps({"plan-task": task})
            )
            replies.append(reply.content)
            remaining += self._plan_tasks(call, identifier, reply)
        return ServedPlan(replies, credentials)

    def _plan_tasks(self, call: Call, identifier: Identifier, reply: Reply) -> list[str]:
        tasks = reply.body.get("plan-tasks")
        if tasks is None:
            return []
        if not isinstance(tasks, list) or not all(isinstance(task, str) for task in tasks):
            raise self._unreadable(call, identifier, "a list of texts `plan-tasks`")
        return list(tasks)

    def _cancel(self, identifier: Identifier, plan_id: str | None) -> None:
        if plan_id is None or not self._requests.offers(endpoints.CANCEL_PLAN):
            return
        call = Call(f"table {dotted(identifier)}: cancellation of a plan", is_best_effort=True)
        # The failure that ended the plan is raised.
        with suppress(IcebergError):
            self._requests.send(call, endpoints.CANCEL_PLAN, identifier[:-1], identifier[-1], plan_id=plan_id)

    def _unreadable(self, call: Call, identifier: Identifier, expected: str) -> IcebergError:
        return self._requests.unreadable(
            call, endpoints.SUBMIT_PLAN, identifier[:-1], identifier[-1], expected=expected
        )
