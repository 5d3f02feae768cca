#!/usr/bin/env python3
"""Verifies an export of the Gatehouse audit log, or a proof of one entry, without any of Gatehouse's code.

usage: verify_audit.py EXPORT [--public-key FILE] [--checkpoint FILE]
       verify_audit.py PROOF [--public-key FILE]

Prints one JSON object and exits 0 when the log or the proof is verified, 1 when it is not, 2 for wrong usage.
Python 3 alone checks hashes and roots; signatures need the `cryptography` package or `openssl`.
"""
import argparse, base64, hashlib, json, os, re, subprocess, sys, tempfile

NOTE = re.compile(r"^([^\n]+)\n(\d+)\n([A-Za-z0-9+/]{43}=)\n\n((?:— \S+ \S+\n)+)", re.M)
ROOT = re.compile(r"^gatehouse/heads/([\w.-]+)\n(\d+)\n([A-Za-z0-9+/]{43}=)\n(\d+)\n\n((?:— \S+ \S+\n)+)", re.M | re.A)
SPKI = bytes.fromhex("302a300506032b6570032100")  # what stands before a raw Ed25519 key in DER


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def check(key, message, signature):
    """True or False; None where nothing on this machine can tell."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
            return True
        except InvalidSignature:
            return False
    except ImportError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("key", "message", "signature")]
        for path, content in zip(paths, (SPKI + key, message, signature)):
            with open(path, "wb") as file:
                file.write(content)
        command = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER"]
        command += ["-inkey", paths[0], "-in", paths[1], "-sigfile", paths[2]]
        try:
            done = subprocess.run(command, capture_output=True)
        except OSError:
            return None
        return True if done.returncode == 0 else False if b"Verif" in done.stdout + done.stderr else None


def signed_by(name, text, lines, key):
    """Whether one of these lines is the signature of a key under a name; None where nothing here can tell."""
    key_id = sha(name.encode(), b"\n\x01", key)[:4]
    for line in lines.splitlines():
        _, signer, encoded = line.split(" ")
        signature = base64.b64decode(encoded)
        if signer == name and signature[:4] == key_id:
            good = check(key, text.encode(), signature[4:])
            if good is not False:
                return good
    return False


def checkpoints(text, key, origin):
    """Size to root of those that this key signed, and whether signatures could be checked at all."""
    roots, checked = {}, True
    for name, size, root, lines in NOTE.findall(text):
        if origin not in (None, name):
            continue
        good = signed_by(name, f"{name}\n{size}\n{root}\n", lines, key)
        checked = checked and good is not None
        if good is not False:
            roots.setdefault(int(size), set()).add(base64.b64decode(root))
    return roots, checked


def root_notes(text, keys):
    """Roots over all logs that the keys of their chains signed: chain, number of logs, root and size of the signer's log."""
    found, checked = [], True
    for chain, logs, root, size, lines in ROOT.findall(text):
        name = "gatehouse/heads/" + chain
        good = chain in keys and signed_by(name, f"{name}\n{logs}\n{root}\n{size}\n", lines, keys[chain])
        checked = checked and good is not None
        if good is not False:
            found.append((chain, int(logs), base64.b64decode(root), int(size)))
    return found, checked


def leaf_of(chain, size, head, key):
    return sha(b"\x00", f"{chain}\n{size}\n{head}\n{key}\n".encode())


def over_heads(heads):
    """The root of the tree whose leaves are the heads, by chain."""
    peaks, count = [], 0
    for chain, head in sorted(heads.items()):
        top, rest = leaf_of(chain, head["size"], head["head"][7:], (head["key"] or "")[7:]), count
        while rest % 2:
            top, rest = sha(b"\x01", peaks.pop(), top), rest // 2
        peaks.append(top)
        count += 1
    return root_of(peaks)


def begin_of(header, key):
    """Where the log begins: size, head and frontier behind what retention removed, if its record is signed."""
    part = header.get("begin")  # nobody signed it by itself: the root of the checkpoint in this part is over it
    if part:
        return (part["size"], bytes.fromhex(part["head"]), [bytes.fromhex(p) for p in part["peaks"]]), None, True
    return behind(header.get("removal"), header["chain"], key)


def behind(removal, chain, key):
    """State of a chain behind what its process removed, what is told of that, and whether the signature could be checked."""
    if not removal:
        return (0, bytes(32), []), None, True
    message = b"gatehouse-removal-v1\n" + removal["record"].encode("utf-8")
    good = check(key, message, base64.b64decode(removal["signature"]))
    record = json.loads(removal["record"])
    if good is False or record["chain"] != chain:
        return (0, bytes(32), []), None, True
    told = {"entries": record["size"], "removed_at": record["removed_at"], "reason": record["reason"],
            "head": "sha256:" + record["head"], "entry": record["entry"]}
    peaks = [bytes.fromhex(peak) for peak in record["peaks"]]
    return (record["size"], bytes.fromhex(record["head"]), peaks), told, good is not None


def key_in(pem):
    """The 32 bytes of an Ed25519 public key."""
    return base64.b64decode("".join(line for line in pem.splitlines() if "---" not in line))[-32:]


def root_of(peaks):
    root = None
    for peak in reversed(peaks):
        root = peak if root is None else sha(b"\x01", peak, root)
    return root if root is not None else sha(b"")


def verify(arguments):
    with open(arguments.export, encoding="utf-8", newline="\n") as file:
        lines = [json.loads(line) for line in file.read().split("\n") if line]
    header = lines[0]
    if header.get("format") != "gatehouse-audit-export-v1":
        sys.exit("not an export of the Gatehouse audit log")
    key = base64.b64decode(header["public_key"])
    if arguments.public_key:
        key = key_in(open(arguments.public_key).read())
    own = "\n".join(line["checkpoint"] for line in lines if "checkpoint" in line)
    signed, checked = checkpoints(own, key, header["origin"])
    kept, kept_roots = {}, []
    if arguments.checkpoint:
        kept, also = checkpoints(open(arguments.checkpoint, encoding="utf-8").read(), key, None)
        checked = checked and also
        keys = keys_of(header, key)
        kept_roots, also = root_notes(open(arguments.checkpoint, encoding="utf-8").read(), keys)
        checked = checked and also
        if not kept and not kept_roots:
            sys.exit("no checkpoint in that file is signed by the key of this log")
    begin, removed, told = begin_of(header, key)
    checked = checked and told
    begins = {header["chain"]: begin}
    for other in header["chains"]:  # each process signs for its own chain
        if "removal" in other and other["chain"] != header["chain"]:
            removal = other["removal"]
            begins[other["chain"]], _, told = behind(removal, other["chain"], key_in(removal["public_key"]))
            checked = checked and told
    entries = [line for line in lines[1:] if "body" in line]
    offered = sorted(filter(None, map(acceptance, entries)), key=lambda one: one["size"], reverse=True)
    accepted = {}  # by chain: what a person accepted of it, and the first fault there
    while True:
        report = {"integrity": "verified", "entries": 0, "signatures_checked": checked}
        if removed:
            report["removed"] = removed
        fault, log = walk(header, entries, begins, accepted, (signed, kept), report)
        least = fault[1] + 1 if fault else 0
        if not fault:
            given = (begins, accepted, kept_roots)
            fault, log, report["signatures_checked"] = under_root(header, key, report, given)
        if not fault:
            break
        about = [] if log in accepted else [one for one in offered if one["shown"]["log"] == log and one["size"] >= least]
        if log == header["chain"]:  # without its frontier no root can be made of what follows
            about = [one for one in about if one["peaks"] is not None]
        one = next((one for one in about if is_as_accepted(one, entries)), None)
        if not one:
            break
        accepted[log] = {**one, "fault": fault}
        if one["size"] > begins.get(log, (0,))[0]:
            begins[log] = (one["size"], one["head"], one["peaks"] or [])
    for one in [] if fault else accepted.values():
        if not is_signed_over(one["place"], header, accepted, signed, report["heads"]):
            fault = one["fault"]
    for name in ("recorded", "ends", "heads"):
        report.pop(name, None)
    if fault:
        kind, seq, entry = fault
        return {**report, "integrity": "failed", "kind": kind, "first_bad_seq": seq, "first_bad_id": entry}
    return {**report, "accepted": [one["shown"] for one in accepted.values()]} if accepted else report


def acceptance(line):
    """What a person accepted of a log, where an entry says so: its entries before a number, as their digest says."""
    try:
        told = json.loads(line["body"])
        if (told["capability"], told["chain"]) != ("audit.acknowledged", line["chain"]):
            return None
        given, detail = told["arguments"], told["detail"]
        shown = {"log": given.get("log", told["chain"]), "by": told["actor"], "at": told["timestamp"],
                 "reason": given["reason"], "entry": told["id"]}
        one = {"shown": shown, "place": (line["chain"], line["seq"]), "size": detail["entries"], "head": None, "peaks": None,
               "through": max(told["timestamp"], detail.get("roots_through") or "")}
        if "log" in given:
            return {**one, "digest": detail["digest"]}
        peaks = [bytes.fromhex(peak) for peak in detail["peaks"]]
        good = len(peaks) == bin(one["size"]).count("1")
        return {**one, "digest": detail["exported"], "head": bytes.fromhex(detail["head"]), "peaks": peaks} if good else None
    except (KeyError, TypeError, ValueError):
        return None


def is_as_accepted(one, entries):
    digest, last = hashlib.sha256(), bytes(32)
    for line in (line for line in entries if line["chain"] == one["shown"]["log"]):
        if line["seq"] >= one["size"]:
            break
        digest.update(f"{line['seq']} {line['hash'][7:]} {line['body']}\n".encode("utf-8", "surrogatepass"))
        last = bytes.fromhex(line["hash"][7:]) if line["seq"] == one["size"] - 1 else last
    one["head"] = one["head"] or last
    return digest.hexdigest() == one["digest"]


def is_signed_over(place, header, accepted, signed, heads):
    """Whether a sound entry is under a checkpoint of this log, or under the newest root: anybody could write another one."""
    chain, seq = place
    part = accepted.get(chain)
    sound = not part or seq >= part["size"]
    if chain == header["chain"]:
        return sound or any(seq < size <= part["fault"][1] for size in signed)
    return sound and heads.get(chain, 0) > seq


def walk(header, entries, begins, accepted, notes, report):
    """Hashes all entries again: a fault and the chain that it is in, or None; the report gets what was found."""
    begin = begins[header["chain"]]
    signed, kept = ({size: root for size, root in roots.items() if size > begin[0]} for roots in notes)
    anchors = {size: signed.get(size, set()) | kept.get(size, set()) for size in {*signed, *kept}}
    report.update({"anchor": max(anchors, default=0), "kept_checkpoint": bool(kept)})

    def first_of(chain, entry=None):
        size, head, peaks = begins.get(chain, (0, bytes(32), []))
        return size, head, list(peaks), (size, entry), None

    state, ends, recorded = {}, {}, []
    for line in entries:
        chain = line["chain"]
        if chain in accepted and line["seq"] < accepted[chain]["size"]:
            report["entries"] += 1
            continue
        size, prev, peaks, agreed, last = state.get(chain) or first_of(chain, line["id"])
        body = line["body"].encode("utf-8", "surrogatepass")
        placed = size.to_bytes(8, "big") + len(body).to_bytes(4, "big") + body
        head = sha(b"gatehouse-audit-v1\0", prev, placed)
        if line["seq"] != size:
            kind = "missing" if line["seq"] > size else "inserted"
            return (kind, min(size, line["seq"]), line["id"]), chain
        told = json.loads(body) if line["hash"] == "sha256:" + head.hex() else {}
        if any(told.get(name) != line[name] for name in ("seq", "chain", "id")):
            return ("modified", size, line["id"]), chain
        if agreed[0] == size:
            agreed = (size, line["id"])
        top, rest = sha(b"\x00", placed), size
        while rest % 2:
            top, rest = sha(b"\x01", peaks.pop(), top), rest // 2
        peaks.append(top)
        size += 1
        if chain == header["chain"] and size in anchors:
            if anchors[size] != {root_of(peaks)}:
                return ("modified", *agreed), chain
            agreed = (size, None)
        state[chain] = (size, head, peaks, agreed, line["id"])
        ends[chain, size] = head
        if told["capability"] == "audit.heads" and "root" in (told["detail"] or {}):
            recorded.append(told)
        report["entries"] += 1
    for chain in header["chains"]:
        size, _, _, agreed, last = state.get(chain["chain"]) or first_of(chain["chain"])
        expected = max([chain["size"], *(anchors if chain["chain"] == header["chain"] else [])])
        if size < expected:
            return ("truncated", size, last), chain["chain"]
        if chain["chain"] == header["chain"] and size > report["anchor"]:
            return ("unanchored", *agreed), None
    report.update({"recorded": recorded, "ends": ends, "heads": {}})
    return None, None


def keys_of(header, key):
    keys = {one["chain"]: base64.b64decode(one["public_key"]) for one in header["chains"] if "public_key" in one}
    return {**keys, header["chain"]: key}


def under_root(header, key, report, given):
    """Compares all chains with the newest root over them: a fault or None, its chain, whether signatures were checked."""
    begins, accepted, kept = given
    recorded, ends = report["recorded"], report["ends"]
    keys, checked = keys_of(header, key), report["signatures_checked"]
    is_part = "begin" in header
    for told in sorted(recorded, key=lambda told: told["timestamp"])[-1:]:
        signer, heads, root = told["chain"], told["arguments"], bytes.fromhex(told["detail"]["root"][7:])
        notes, also = root_notes(told["detail"]["note"], keys)
        checked = checked and also
        if over_heads(heads) != root or (signer, len(heads), root) not in [note[:3] for note in notes]:
            return ("modified", told["seq"], told["id"]), None, checked
        for chain, head in sorted(heads.items()):
            if is_part and chain != header["chain"]:
                continue
            first, before, _ = begins.get(chain, (0, bytes(32), []))
            there = before if head["size"] == first else ends.get((chain, head["size"]))
            if there is not None and "sha256:" + there.hex() == head["head"]:
                report["heads"][chain] = head["size"]
            elif head["size"] >= first and not (chain in accepted and told["timestamp"] <= accepted[chain]["through"]):
                return ("modified" if there else "truncated", head["size"] - 1, None), chain, checked
            if head["key"] and (chain not in keys or "sha256:" + sha(keys[chain]).hex() != head["key"]):
                return ("modified", 0, None), None, checked
        report["root"] = {"root": told["detail"]["root"], "logs": len(heads), "chain": signer, "entry": told["id"],
                          "signed_at": told["timestamp"]}
    made = [(told["chain"], told["detail"]["root"], told["arguments"].get(told["chain"], {}).get("size"))
            for told in recorded]
    for chain, _, root, size in kept:
        first = begins.get(chain, (0,))[0]
        if not is_part and first <= size and (chain, "sha256:" + root.hex(), size) not in made:
            return ("truncated", size, None), None, checked
    return None, None, checked


def leads(leaf, index, size, proof, root):
    """Whether these hashes lead from a leaf to the root (RFC 9162, 2.1.3.2)."""
    at, last, top = index, size - 1, leaf
    if not 0 <= index < size:
        return False
    for step in map(bytes.fromhex, proof):
        if last == 0:
            return False
        if at % 2 or at == last:
            top = sha(b"\x01", step, top)
            while at and at % 2 == 0:
                at, last = at // 2, last // 2
        else:
            top = sha(b"\x01", top, step)
        at, last = at // 2, last // 2
    return last == 0 and top == bytes.fromhex(root)


def verify_proof(proof, given):
    """Checks a proof of one entry: by the key of its log, or by that of who signed the root over all logs."""
    under, body = proof.get("all_logs"), proof["body"].encode("utf-8", "surrogatepass")
    signer = key_in(under["public_key"]) if under else None
    key = given if given and given != signer else key_in(proof["public_key"])
    report = {"integrity": "verified", "seq": proof["seq"], "size": proof["size"]}
    signed, checked = checkpoints(proof["checkpoint"], key, None)
    placed = proof["seq"].to_bytes(8, "big") + len(body).to_bytes(4, "big") + body
    good = bytes.fromhex(proof["root"]) in signed.get(proof["size"], ())
    good = good and leads(sha(b"\x00", placed), proof["seq"], proof["size"], proof["proof"], proof["root"])
    if under:
        head, name = under["head"], proof["checkpoint"].split("\n")[0] + "/"
        notes, also = root_notes(under["note"], {under["chain"]: signer})
        leaf = leaf_of(head["chain"], head["size"], head["head"], head["key"])
        good = good and (under["logs"], bytes.fromhex(under["root"])) in [note[1:3] for note in notes]
        good = good and leads(leaf, under["index"], under["logs"], under["proof"], under["root"])
        good = good and name.startswith(f"gatehouse/audit/{head['chain']}/") and sha(key).hex() == head["key"]
        report["root"] = {"root": "sha256:" + under["root"], "logs": under["logs"], "chain": under["chain"]}
        checked = checked and also
    report["signatures_checked"] = checked
    return report if good else {**report, "integrity": "failed"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export")
    parser.add_argument("--public-key")
    parser.add_argument("--checkpoint")
    arguments = parser.parse_args()
    with open(arguments.export, encoding="utf-8") as file:
        is_proof = '"gatehouse-audit-proof-v1"' in file.read(80)
    if is_proof:
        given = key_in(open(arguments.public_key).read()) if arguments.public_key else None
        result = verify_proof(json.load(open(arguments.export, encoding="utf-8")), given)
    else:
        result = verify(arguments)
    print(json.dumps(result))
    sys.exit(0 if result["integrity"] == "verified" else 1)
