"""An agent that keeps notes, and checks that each step goes as it is told."""

import os
import sys

from gatehouse import ApprovalPending, Gatehouse, Unreachable, errors

url, token_file = sys.argv[1:]


def raised(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


with Gatehouse(url, token_file=token_file) as gate:
    tiers = {one["name"]: one["permission_tier"] for one in gate.capabilities("filesystem")}
    assert tiers["filesystem.read"] == "autonomous", tiers
    assert tiers["filesystem.delete"] == "approval_required", tiers
    inputs = gate.describe("filesystem.read")["inputs"]
    assert "path" in [one["name"] for one in inputs], inputs

    for name in ("old.txt", "kept.txt"):
        gate.call("filesystem.write", path=name, content="a note\n")
    assert gate.call("filesystem.read", path="old.txt")["content"] == "a note\n"
    gate.call("scratch.set", key="step", value={"done": 2})
    assert gate.call("scratch.get", {"key": "step"})["value"] == {"done": 2}
    print("wrote and read two notes")

    missing = raised(errors.FileNotFound, lambda: gate.call("filesystem.read", path="none"))
    assert "none" in str(missing) and missing.recovery[0]["action"] == "filesystem.list"
    wrong = raised(errors.InvalidArguments, lambda: gate.call("filesystem.read", paht="x"))
    assert wrong.code is None, wrong.code
    unknown = raised(errors.GatehouseError, lambda: gate.call("filesystem.raed"))
    assert "filesystem.read" in str(unknown.data), unknown.data
    print("read the errors by their classes")

    gate.call("filesystem.delete", path="old.txt", why="It is old")
    raised(errors.FileNotFound, lambda: gate.call("filesystem.read", path="old.txt"))
    print("a person approved, and the note is gone")

    no = raised(errors.ApprovalRejected, lambda: gate.call("filesystem.delete", path="kept.txt"))
    assert "not this one" in str(no), no
    assert gate.call("filesystem.read", path="kept.txt")["content"] == "a note\n"
    print("a person rejected, and said why")

    def ask():
        return gate.call("filesystem.delete", path="later.txt", approval_seconds=0)

    gate.call("filesystem.write", path="later.txt", content="")
    pending = raised(ApprovalPending, ask)
    assert raised(ApprovalPending, ask).approval_id == pending.approval_id
    gate.call("approvals.cancel", approval_id=pending.approval_id)
    raised(errors.ApprovalCancelled, lambda: gate.wait(pending.approval_id))
    print("asked, did not wait, asked again, and withdrew the request")

refused = raised(errors.GatehouseError, lambda: Gatehouse(url, token="0" * 64).capabilities())
assert refused.code == -32003, refused.code
away = raised(Unreachable, lambda: Gatehouse("http://127.0.0.1:1", token="0" * 64).capabilities())
assert away.sent is False
os.chmod(token_file, 0o644)
raised(PermissionError, lambda: Gatehouse(url, token_file=token_file))
print("a wrong token, a service that is away and an open token file are refused")
