"""A client of Gatehouse over JSON-RPC, in one file, on the standard library of Python 3.9 or newer.

    from gatehouse import Gatehouse, errors

    with Gatehouse(token_file="coder.token") as gate:
        try:
            print(gate.call("filesystem.read", path="notes.txt")["content"])
        except errors.FileNotFound as error:
            print(error, error.recovery)

A call that a person has to approve waits for the decision. No call is ever repeated by itself.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import stat
import time
from typing import Any
from urllib.parse import urlsplit

WAIT_SECONDS_MAX = 60
# The service closes a connection that was idle for 30 s.
IDLE_SECONDS = 20
APPROVAL_REQUIRED = -32002


class GatehouseError(Exception):
    """What Gatehouse refused or could not do. `errors` has a class of this for each type."""

    type = "GatehouseError"

    def __init__(self, message: str, data: dict | None = None, code: int | None = None):
        super().__init__(message)
        self.data = data or {}
        self.code = code
        """Code of JSON-RPC; None for a failure of the capability itself."""

    @property
    def recovery(self) -> list[dict]:
        """What can be done next: each with `action` and `description`."""
        return self.data.get("recovery", [])

    @property
    def retry_after_seconds(self) -> int | None:
        """After a rate limit: a call made then succeeds, one made earlier does not."""
        return self.data.get("retry_after_seconds")


class ApprovalPending(GatehouseError):
    """Nobody has decided yet. `wait` goes on waiting, and the same call finds the same request."""

    type = "ApprovalPending"

    @property
    def approval_id(self) -> str:
        return self.data["approval_id"]


class Unreachable(GatehouseError):
    """No answer. If `sent` is true the call may have run: look before you make it again."""

    type = "Unreachable"

    def __init__(self, message: str, sent: bool):
        super().__init__(message)
        self.sent = sent


class _Errors:
    """A class for each type of error, by its name: `errors.FileNotFound`, `errors.ApprovalRejected`."""

    def __getattr__(self, name: str) -> type[GatehouseError]:
        if not re.fullmatch(r"[A-Z][A-Za-z]+", name):
            raise AttributeError(name)
        made = type(name, (GatehouseError,), {"type": name})
        setattr(self, name, made)
        return made


errors = _Errors()
errors.GatehouseError = GatehouseError
errors.ApprovalPending = ApprovalPending
errors.Unreachable = Unreachable


def _read_token(path: str) -> str:
    mode = os.stat(path).st_mode
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise PermissionError(f"{path} is open to other users of this machine: chmod 600 {path}")
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def _error_of(failure: dict, code: int | None = None) -> GatehouseError:
    data = failure.get("data", failure)
    kind = data.get("type")
    if kind is None:
        return GatehouseError(failure.get("message", "unknown"), data, code)
    return getattr(errors, kind)(failure.get("message", kind), data, code)


class Gatehouse:
    """One agent. Not for several threads at once: give each its own."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:7700",
        *,
        token: str | None = None,
        token_file: str | None = None,
        timeout: float = 330,
    ):
        """The token comes from `token_file`, `token`, or the variable GATEHOUSE_AGENT_TOKEN."""
        found = _read_token(token_file) if token_file else token
        found = found or os.environ.get("GATEHOUSE_AGENT_TOKEN")
        if not found:
            raise ValueError("no token: give token_file, token or GATEHOUSE_AGENT_TOKEN")
        self._token = found
        self._url = urlsplit(url)
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None
        self._used = 0.0
        self._last_id = 0
        self._session: str | None = None

    def __enter__(self) -> Gatehouse:
        """A session: scratch values and what people see of a run belong to it."""
        client = {"client": {"name": "gatehouse.py", "version": "1"}}
        self._session = self.request("session.create", client)["session_id"]
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            self.request("session.end")
        except GatehouseError:
            pass  # The service ends it by itself after half an hour.
        self._session = None
        self.close()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def call(
        self,
        capability: str,
        arguments: dict | None = None,
        *,
        why: str | None = None,
        approval_seconds: float | None = None,
        **more: Any,
    ) -> Any:
        """Calls a capability and returns its data. Arguments are given by name or as a dictionary.

        `why` is shown to the person who decides. Waits for a decision as long as it takes, or
        `approval_seconds`, and raises ApprovalPending after that.
        """
        params: dict = {"capability": capability, "arguments": {**(arguments or {}), **more}}
        if why is not None:
            params["reason"] = why
        try:
            return self._data(self.request("capabilities.invoke", params))
        except GatehouseError as error:
            if error.code != APPROVAL_REQUIRED:
                raise
            pending = error
        return self.wait(pending.data["approval_id"], approval_seconds)

    def wait(self, approval_id: str, seconds: float | None = None) -> Any:
        """Waits for a decision, and returns the data of the call that it was about."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = WAIT_SECONDS_MAX if end is None else max(0.0, end - time.monotonic())
            params = {"approval_id": approval_id, "timeout_seconds": min(WAIT_SECONDS_MAX, int(left))}
            found = self.request("approvals.wait", params)
            if found.get("result") is not None:
                return self._data(found["result"])
            if found["status"] in ("rejected", "expired", "cancelled"):
                raise getattr(errors, f"Approval{found['status'].title()}")(
                    f"The request {approval_id} was {found['status']}.", found
                )
            if end is not None and time.monotonic() + 1 > end:
                raise ApprovalPending(f"Nobody has decided on {approval_id} yet.", found)

    def capabilities(self, category: str | None = None) -> list[dict]:
        """What policy lets this agent use, each with the tier that it has for it."""
        params = {} if category is None else {"category": category}
        return self.request("capabilities.list", params)["capabilities"]

    def describe(self, name: str) -> dict:
        return self.request("capabilities.describe", {"name": name})

    def events(self, after: str | None = None, wait_seconds: int = 0) -> list[dict]:
        """Wakes, decisions and the like, oldest first; go on after the id of the last one."""
        params: dict = {"timeout_seconds": wait_seconds}
        if after is not None:
            params["after"] = after
        return self.request("events.poll", params)["events"]

    def request(self, method: str, params: dict | None = None) -> Any:
        """One request of JSON-RPC: the result, or an error as an exception."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params or {}}
        answer = self._post(json.dumps(message).encode())
        if "error" in answer:
            raise _error_of(answer["error"], answer["error"].get("code"))
        return answer["result"]

    @staticmethod
    def _data(outcome: dict) -> Any:
        if outcome["success"]:
            return outcome.get("data")
        raise _error_of(outcome["error"])

    def _open(self) -> http.client.HTTPConnection:
        if self._connection and time.monotonic() - self._used < IDLE_SECONDS:
            return self._connection
        self.close()
        secure = self._url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = kind(self._url.hostname or "", self._url.port, timeout=self._timeout)
        try:
            self._connection.connect()
        except OSError as error:
            self.close()
            raise Unreachable(f"no Gatehouse at {self._url.geturl()}: {error}", False) from error
        return self._connection

    def _post(self, body: bytes) -> dict:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if self._session:
            headers["Gatehouse-Session"] = self._session
        connection = self._open()
        try:
            connection.request("POST", self._url.path.rstrip("/") + "/rpc", body, headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(f"the connection broke: {error!r}", True) from error
        self._used = time.monotonic()
        if response.will_close:
            self.close()
        try:
            return json.loads(text)
        except ValueError as error:
            raise GatehouseError(f"HTTP {response.status} without an answer of JSON-RPC") from error
