#!/usr/bin/env python3
"""Reads the vectors of umbel's specification: containers, deltas, hash trees, three of the
hashes, all kinds, headers of packets, publications. It follows the pages in spec and shares no code
with the library. Exit status 1 if anything differs from what a vector states."""

import hashlib
import pathlib
import struct
import sys

sys.dont_write_bytecode = True  # nothing is left next to the vectors

from check_share import check_share
from codings import Corrupt
from container import LEAF, Container, Limit, identify
from delta import Mismatch, apply
from inpacket import DENSE, Header, Malformed, Version, codeword, derive
from kinds import KINDS, LOCATE
from positions import MASK, in_range, value
from stored import BadDesign, Design, lipsin
from tree import leaves, root, verify


# hashing.md

def murmur64a(key, seed):
    m = 0xC6A4A7935BD1E995
    h = seed ^ len(key) * m & MASK
    whole = len(key) & ~7
    for i in range(0, whole, 8):
        k = int.from_bytes(key[i:i + 8], "little") * m & MASK
        h = (h ^ (k ^ k >> 47) * m & MASK) * m & MASK
    if whole < len(key):
        h = (h ^ int.from_bytes(key[whole:], "little")) * m & MASK
    h = (h ^ h >> 47) * m & MASK
    return h ^ h >> 47


def hash_murmur64a(key):
    h1 = murmur64a(key, 0xC6A4A7935BD1E995)
    return h1, murmur64a(key, h1)


def hash_murmur3(key):
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    rotate = lambda x, n: (x << n | x >> 64 - n) & MASK
    first = lambda k: rotate(k * c1 & MASK, 31) * c2 & MASK
    second = lambda k: rotate(k * c2 & MASK, 33) * c1 & MASK
    h1 = h2 = 0
    word = lambda i: int.from_bytes(key[i:i + 8], "little")
    whole = len(key) & ~15
    for i in range(0, whole, 16):
        h1 = (rotate(h1 ^ first(word(i)), 27) + h2) * 5 + 0x52DCE729 & MASK
        h2 = (rotate(h2 ^ second(word(i + 8)), 31) + h1) * 5 + 0x38495AB5 & MASK
    h1, h2 = h1 ^ first(word(whole)) ^ len(key), h2 ^ second(word(whole + 8)) ^ len(key)
    h1 = h1 + h2 & MASK
    h2 = h2 + h1 & MASK

    def finish(h):
        h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & MASK
        h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & MASK
        return h ^ h >> 33
    h1, h2 = finish(h1), finish(h2)
    h1 = h1 + h2 & MASK
    return h1, h2 + h1 & MASK


HASHES = {  # by alg: those that Python's library has, or that are short
    3: hash_murmur64a,
    4: lambda key: struct.unpack(">QQ", hashlib.md5(key).digest()),
    5: lambda key: struct.unpack("<QQ", key[:16].ljust(16, b"\0")),
    7: hash_murmur3,
}
ALGS = {"murmur64a": 3, "md5": 4, "caller": 5, "murmur3": 7}


# vectors/README.md

def read(path):
    head, body = path.read_text().split("\n\n", 1)
    fields = {}
    for line in head.splitlines():
        name, content = line.split(": ", 1)
        fields.setdefault(name, []).append(content)
    return fields, body


def check_container(fields, body):
    """Returns how many keys were asked for."""
    want = fields["expect"][0]
    try:
        container = Container(bytes.fromhex(body))
    except (Corrupt, Limit) as err:
        assert want == type(err).__name__.lower(), f"{type(err).__name__}: {err}"
        return 0
    state = container.state
    check_notes(fields, container.planned, container.tick)
    if "id" in fields:
        assert identify(state) == fields["id"][0], f"ID {identify(state)}"
    if state["kind"] not in KINDS:
        assert want == "unknown-kind", f"kind {state['kind']} is unknown: add it to KINDS in kinds.py"
        return 0
    try:
        opened = KINDS[state["kind"]](state)
    except Corrupt:
        assert want == "corrupt", "refused"
        return 0
    assert want == "ok", "opened"
    if state["alg"] not in HASHES:
        return 0
    hasher = HASHES[state["alg"]]
    asked = [(bytes.fromhex(key), True) for key in fields["key"]] + [(bytes.fromhex(key), False) for key in fields["absent"]]
    for key, there in asked:
        assert opened.has(*hasher(key), key) == there, f"key {key.hex()[:40]}"
    counts = [text.split() for text in fields.get("count", [])]
    for key, want in counts:
        got = opened.count(*hasher(bytes.fromhex(key)))
        assert want == ("unknown" if got is None else str(got)), f"key {key[:40]} counts {got}"
    return len(asked) + len(counts)


def check_notes(fields, planned, tick):
    planned = ["{} {}".format(*planned)] if planned else []
    assert planned == fields.get("planned", []), f"planned {planned}"
    tick = [str(tick)] if tick else []
    assert tick == fields.get("tick", []), f"tick {tick}"


def check_delta(fields, body):
    base, message = (bytes.fromhex(text) for text in body.split("\n\n"))
    got = "ok"
    try:
        result, notes = apply(Container(base).state, message)
        assert identify(result) == fields["id"][0], f"ID {identify(result)}"
        check_notes(fields, *notes)
    except (Corrupt, Limit, Mismatch) as err:
        got = type(err).__name__.lower()
    assert got == fields["expect"][0], got
    return 0


def check_trees(name, rows):
    for row in rows:
        if name == "roots":
            words, factor = int(row[0]), int(row[1], 16)
            array = b"".join(((i + 1) * factor & MASK).to_bytes(8, "little") for i in range(words))
            got = root(leaves(array, LEAF)).hex()
            assert got == row[2], f"{words} words, factor {factor:x}: root {got}"
        else:
            top, node, *path = (bytes.fromhex(text) for text in [row[0]] + row[3:])
            blocks, block = int(row[1]), int(row[2])
            assert verify(top, node, block, blocks, path), f"block {block} of {blocks} isn't verified"
            assert not verify(top, top[::-1], block, blocks, path), f"another block {block} of {blocks} is verified"
    return len(rows)


def digest(text):
    return int(text[:16], 16), int(text[16:], 16)


def check_positions(name, fields, rows):
    for row in rows:
        if name == "range":
            got, want = in_range(int(row[0], 16), int(row[1])), int(row[2])
        elif name == "stream":
            got, want = [value(*digest(row[0]), i) for i in range(8)], [int(v, 16) for v in row[1:]]
        else:
            kind = fields["kind"][0]
            assert kind in LOCATE, f"kind {kind} is unknown: add it to LOCATE in kinds.py"
            params = [int(p.split()[1]) for p in fields.get("param", [])]
            got = LOCATE[kind](*digest(row[0]), int(fields["cells"][0]), *params)
            want = [int(v) for v in row[1:]]
        assert got == want, f"{row[0]}: {got}"
    return len(rows)


def check_hashing(name, rows):
    if name not in ALGS:
        return 0
    for _, key, want in rows:
        got = "%016x%016x" % HASHES[ALGS[name]](bytes.fromhex(key.strip("-")))
        assert got == want, f"{key[:40]}: {got}"
    return len(rows)


# split.md

def split_number(h1, h2, n):
    v = h1 ^ (h2 << 32 | h2 >> 32) & MASK
    v = v + 0x9E3779B97F4A7C15 & MASK
    v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9 & MASK
    v = (v ^ v >> 27) * 0x94D049BB133111EB & MASK
    return (v ^ v >> 31) * n >> 64


def slot(tag):
    crc = 0
    for byte in tag:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc % 16384


def split_name(name, i, n):
    r = 0
    while slot(b"%d.%d.%d" % (i, n, r)) * n // 16384 != i:
        r += 1
    return "%s{%d.%d.%d}" % (name, i, n, r)


def check_split(name, rows):
    for row in rows:
        if name == "keys":
            got = [str(split_number(*digest(row[0]), int(row[1])))]
            assert got == row[2:], f"{row}: {got}"
        else:
            got = split_name(row[2], int(row[0]), int(row[1]))
            assert got == row[3], f"{row}: {got}"
            assert slot(got[got.index("{") + 1:-1].encode()) == int(row[4]), f"{row}: slot"
    return len(rows)


def check_packet(fields, body):
    try:
        header = Header(bytes.fromhex(body))
    except (Malformed, Version) as err:
        assert fields["expect"][0] == type(err).__name__.lower(), f"{type(err).__name__}: {err}"
        return 0
    assert fields["expect"][0] == "ok", "taken"
    for name in ("size", "ttl", "form", "k", "seed", "bits", "epoch", "group", "source", "sequence", "room"):
        got = getattr(header, name)
        assert fields.get(name, ["None"]) == [str(got)], f"{name} is {got}"
    assert fields.get("node", []) == [str(n) for n in header.nodes], f"nodes {header.nodes}"
    assert int(fields["ones"][0]) == header.ones(), f"{header.ones()} ones"
    assert fields["overfull"] == [str(header.overfull()).lower()], "overfull"
    links = [(link, False) for link in fields.get("link", [])] + [(link, True) for link in fields.get("held", [])]
    for link, held in links:
        if header.form == DENSE:
            got = header.holds_stored(int.from_bytes(bytes.fromhex(link), "little"))
        else:
            got = header.holds(*digest(link))
        assert got == held, f"link {link}"
    return len(links)


def check_keys(rows):
    for network, label, link, epoch, word in rows:
        key = derive(bytes.fromhex(network), bytes.fromhex(label))
        assert key.hex() == link, f"{label}: {key.hex()}"
        got = "%016x%016x" % codeword(key, int(epoch))
        assert got == word, f"{link} in epoch {epoch}: {got}"
    return len(rows)


def check_stored(name, rows):
    if name == "designs-bad":
        for design, why in rows:
            try:
                Design(bytes.fromhex(design))
            except BadDesign:
                continue
            raise AssertionError(f"{why}: taken")
        return 0
    for *design, word, number, want in rows:
        if name == "lipsin":
            m, k = (int(n) for n in design)
            got = lipsin(*digest(word), int(number), m, k)
        else:
            got = Design(bytes.fromhex(design[0])).codeword(*digest(word), int(number))
        assert got == int.from_bytes(bytes.fromhex(want), "little"), f"{word}, set {number}: {got:x}"
    return len(rows)


def check(path):
    fields, body = read(path)
    rows = [line.split() for line in body.splitlines()]
    if path.parent.name == "deltas":
        return check_delta(fields, body)
    if path.parent.name == "trees":
        return check_trees(path.stem, rows)
    if path.parent.name == "positions":
        return check_positions(path.stem, fields, rows)
    if path.parent.name == "hashing":
        return check_hashing(path.stem, rows)
    if path.parent.name == "split":
        return check_split(path.stem, rows)
    if path.parent.name == "share":
        return check_share(path.stem, fields, body)
    if path.parent.name == "inpacket":
        if path.stem in ("lipsin", "adaptive", "designs-bad"):
            return check_stored(path.stem, rows)
        return check_keys(rows) if path.stem == "keys" else check_packet(fields, body)
    return check_container(fields, body)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    paths = sorted(p for folder in ("container", "codings", "deltas", "kinds", "positions", "hashing", "split", "inpacket", "share") for p in (root / folder).glob("*.txt"))
    answers, wrong = 0, 0
    for path in paths:
        try:
            answers += check(path)
        except AssertionError as err:
            print(f"{path.relative_to(root)}: {err}")
            wrong += 1
    print(f"{len(paths)} vectors, {answers} answers compared, {wrong} wrong")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
