"""vectors/README.md: the vectors of share.md."""

import hashlib

from codings import Corrupt
from share import CHUNK, Head, Index, Publication, Signature, object_name
from tree import leaves


def check_share(name, fields, body):
    """Returns the number of answers that were compared."""
    rows = [line.split() for line in body.splitlines()]
    if name == "objects":
        return check_objects(rows)
    if name == "order":
        return check_order(rows)
    check = {"head": check_head, "index": check_index, "publication": check_publication}[name.removeprefix("bad-").split("-")[0]]
    got, answers = "ok", 0
    try:
        answers = check(fields, body)
    except (Corrupt, Signature) as err:
        got = type(err).__name__.lower()
    assert got == fields["expect"][0], got
    return answers


def content(n):
    blocks = (hashlib.sha256(str(i).encode()).digest() for i in range((n + 31) // 32))
    return b"".join(blocks)[:n]


def check_objects(rows):
    for length, name, chunks in rows:
        data = content(int(length))
        assert object_name(data) == name, f"{length} bytes: {object_name(data)}"
        want = b"".join(leaves(data, CHUNK)).hex() if len(data) > CHUNK else "-"
        assert chunks == want, f"{length} bytes: chunks {want}"
    return len(rows)


class Arrival(Head):
    """What decides about a head, in the columns of a row."""

    def __init__(self, stream, version, time, valid, state):
        self.stream, self.version, self.time, self.valid, self.id = stream, int(version), int(time), int(valid), state
        self.fold = 1


def check_order(rows):
    for i, row in enumerate(rows, 1):
        last = Arrival(*row[:5]) if row[0] != "-" else None
        got = Arrival(*row[5:10]).follows(last, int(row[10]))
        assert got == row[11], f"row {i}: {got}"
    return len(rows)


def check_head(fields, body):
    data = bytes.fromhex(body) if "body" in fields else body.encode()
    head = Head(data, fields["key"][0])
    for name in ("name", "stream", "version", "time", "valid", "id", "kind", "bytes"):
        assert fields[name] == [str(getattr(head, name))], f"{name} is {getattr(head, name)}"
    refs = [f"{length} {name}" for length, name in [head.index, *head.deltas]]
    assert refs == fields["index"] + fields.get("delta", []), f"objects {refs}"
    classes = [" ".join(map(str, c)) for c in head.classes]
    assert classes == fields.get("fold", []) and fields.get("class", ["1"]) == [str(head.fold)], f"class {head.fold} of {classes}"
    return 9 + len(refs) + len(classes)


def check_index(fields, body):
    index = Index(bytes.fromhex(body))
    got = {
        "snapshot": [f"{v} {n} {name}" for v, (n, name) in index.snapshots],
        "delta": [f"{a} {b} {n} {name}" for a, b, (n, name) in index.deltas],
        "page": [f"{number} {n} {name}" for number, (n, name) in index.pages],
        "refinement": [f"{r} {v} {n} {snapshot} {m} {name}" for r, v, (n, snapshot), (m, name) in index.refinements],
    }
    for name, entries in got.items():
        assert entries == fields.get(name, []), f"{name}: {entries}"
    return sum(map(len, got.values()))


def check_publication(fields, body):
    publication = Publication([line.split() for line in body.splitlines()], fields["key"][0], *fields.get("record", []))
    for text in fields.get("way", ["0"]):
        base, *want = text.split()
        version, _, held = base.partition("/")
        held = int(held or 1)
        cost, way = publication.way(int(version), held)
        publication.reach(base, held, way)
        assert want[:1] == [str(cost)], f"from version {base}: cost {cost}"
        publication.reach(base, held, want[1:])
    assert fields["version"] == [str(publication.head.version)], "version"
    assert fields["id"] == [publication.head.id], "ID"
    return len(fields["way"])
