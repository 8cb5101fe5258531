"""share.md: heads, objects and indexes of publications, and the way to a version."""

import base64
import hashlib
import re

from codings import expect
from container import Container, Reader, identify
from container import pack, unpack
from delta import apply_change, fold, memory
from ed25519 import verify
from tree import leaves, root

CHUNK = 2**16  # bytes of a chunk of an object
MAX_HEAD = 2**12
MAX_INDEX = 2**20
SKEW = 60_000  # milliseconds
PAGE = 36  # versions of a page
COST = 256  # of a request, in bytes


class Signature(Exception):
    pass


def digits(number):
    """Returns the name of an object with the given hash."""
    bits = int.from_bytes(number, "big") << 2
    return "".join("0123456789abcdefghijklmnopqrstuv"[bits >> shift & 31] for shift in range(125, -1, -5))


def object_name(data):
    return digits(root(leaves(data, CHUNK))[:16])


class Head:
    """A head that is signed with a key, which is written as name, +, ID, +, public key."""

    def __init__(self, data, key):
        expect(len(data) <= MAX_HEAD, "length of the head")
        name, _, public = key.split("+", 2)
        text = signed_text(data, name, base64.b64decode(public))
        self.parse(text)
        if self.name != name:
            raise Signature("the head of another publication")

    def parse(self, text):
        expect(text.endswith("\n"), "newline")
        lines = text[:-1].split("\n")
        expect(lines[0] == "umbel publication 1" and 6 <= len(lines) <= 19, "lines")
        self.name = lines[1]
        stream, version = fields(lines[2], "stream", 2)
        expect(re.fullmatch("[0-9a-f]{32}", stream) and int(stream[:16], 16) <= 2**53, "stream")
        self.stream, self.version = stream, number(version)
        self.time, self.valid = (number(f) for f in fields(lines[3], "time", 2))
        expect(self.time <= 2**53 and self.valid <= 2**31, "time")
        state, self.kind, memory = fields(lines[4], "state", 3)
        self.id, self.bytes = identifier(state), number(memory)
        expect(re.fullmatch("[a-z0-9./-]{1,64}", self.kind), "kind")
        self.index = reference(*fields(lines[5], "index", 2))
        rest, self.deltas = lines[6:], []
        while rest and rest[0].startswith("delta ") and len(self.deltas) < 3:
            n, *ref = fields(rest.pop(0), "delta", 3)
            expect(n == str(len(self.deltas) + 1), "number of the delta")
            self.deltas.append(reference(*ref))
        expect(len(self.deltas) < self.version, "version")
        self.parse_classes(rest)

    def parse_classes(self, lines):
        self.fold, self.classes = 1, []
        if lines and lines[0].startswith("class "):
            self.fold = number(fields(lines.pop(0), "class", 1)[0])
            expect(self.fold > 1 and lines, "class")
        expect(len(lines) in (0, *range(2, 10)), "number of classes")
        for line in lines:
            factor, snapshot, delta, rate = (number(f) for f in fields(line, "fold", 4))
            finer = self.classes[-1][0] if self.classes else None
            expect(factor > finer and factor % finer == 0 if finer else factor == 1, "factor")
            expect(rate <= 10**9, "rate")
            self.classes.append((factor, snapshot, delta, rate))
        expect(self.fold == 1 or self.fold in (c[0] for c in self.classes), "class that is not listed")

    def follows(self, last, now):
        """Returns what becomes of the head: last is the head that was accepted before it, or None."""
        if self.time > now + SKEW:
            return "future"
        if last:
            if self.stream < last.stream and self.time > last.time and now < last.expires():
                return "fork"
            if self.time < last.time:
                return "replayed"
            if self.time == last.time:
                same = self.stream == last.stream and self.version == last.version
                if not same or self.fold == last.fold and self.id != last.id:
                    return "fork"
        return "exact" if now < self.expires() else "stale"

    def expires(self):
        return self.time + 1000 * self.valid


def signed_text(data, name, public):
    """Returns the text of a note that is signed with a public key."""
    try:
        note = data.decode()
    except UnicodeDecodeError:
        raise Signature("UTF-8")
    text, empty, lines = note.rpartition("\n\n")
    text += "\n"
    if re.search("[\0-\x09\x0b-\x1f]", note) or not empty or not lines.endswith("\n") or lines.count("\n") > 100:
        raise Signature("form")
    key_id = hashlib.sha256(name.encode() + b"\n" + public).digest()[:4]
    valid = False
    for line in lines[:-1].split("\n"):
        match = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/]+=*)", line)
        if not match or len(match[2]) % 4:
            raise Signature("line")
        signature = base64.b64decode(match[2])
        if len(signature) < 5:
            raise Signature("length")
        if match[1] != name or signature[:4] != key_id or valid:
            continue
        if public[:1] != b"\1" or not verify(public[1:], text.encode(), signature[4:]):
            raise Signature("signature")
        valid = True
    if not valid:
        raise Signature("no signature with the key")
    return text


def fields(line, name, n):
    first, *rest = line.split(" ")
    expect(first == name and len(rest) == n, name)
    return rest


def number(text):
    expect(re.fullmatch("0|[1-9][0-9]{0,19}", text) and int(text) < 2**64, "number")
    return int(text)


def identifier(text):
    expect(re.fullmatch("[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]", text), "ID")
    return base64.urlsafe_b64decode(text + "=").hex()


def reference(length, name):
    expect(re.fullmatch("[0-9a-v]{25}[048cgkos]", name), "name of an object")
    return number(length), name


class Index(Reader):
    def __init__(self, data):
        super().__init__(data)
        expect(self.take(8) == b"umbidx\n\1", "magic")
        self.snapshots = self.entries(lambda: (self.var(), self.reference()))
        self.to = 0
        self.deltas = self.entries(self.delta)
        self.pages = self.entries(lambda: (self.var(), self.reference()))
        self.refinements = self.read_refinements() if self.at < len(data) else []
        expect(self.at == len(data), "trailing bytes")

    def read_refinements(self):
        """Returns factor, version, snapshot and refinement of each."""
        count = self.var()
        expect(1 <= count <= min(8, (len(self.data) - self.at) // 35), "number of refinements")
        version, finer, refinements = self.var(), 1, []
        for _ in range(count):
            factor = self.var()
            expect(factor > finer and factor % finer == 0, "factor")
            refinements.append((factor, version, self.reference(), self.reference()))
            finer = factor
        return refinements

    def entries(self, read):
        count = self.var()
        expect(count <= (len(self.data) - self.at) // 18, "count")
        return [read() for _ in range(count)]

    def delta(self):
        self.to += self.var()
        length = self.var()
        expect(self.to < 2**64 and 1 <= length < self.to, "length of a delta")
        return self.to - length, self.to, self.reference()

    def reference(self):
        return self.var(), digits(self.take(16))


def cheapest(index, page, version, held, head):
    """Returns the cost of the cheapest way from a version of class held to a head, and its objects. Version
    0 is none; then the way begins with a snapshot. Page is an index or None."""
    best = {v: (n + COST, [name]) for v, (n, name) in reversed(index.snapshots)}
    if version and head.fold % held == 0:
        best[version] = 0, []
    through = None
    for factor, v, (n, snapshot), (m, name) in reversed(index.refinements):
        begin = (0, []) if version and (held, version) == (factor, v) else (n + COST, [snapshot])
        cost, way = min(filter(None, (begin, through)), key=lambda w: w[0])
        through = cost + m + COST, way + [name]
    if through:
        v = index.refinements[0][1]
        best[v] = min(filter(None, (best.get(v), through)), key=lambda w: w[0])
    target = head.version
    for begin, to, (n, name) in sorted(index.deltas + (page.deltas if page else []), key=lambda d: d[1]):
        if begin in best:
            cost, way = best[begin]
            if to not in best or cost + n + COST < best[to][0]:
                best[to] = cost + n + COST, way + [name]
    expect(target in best, "no way")
    return best[target]


class Publication:
    """A publication in rows of a vector: heads, objects, and states that are at hand. It is followed by the head
    in a record."""

    def __init__(self, rows, key, record="head"):
        contents = {name: bytes.fromhex(data) for name, data in rows}
        heads = {name: Head(contents.pop(name), key) for name in list(contents) if name.split("-")[0] == "head"}
        self.head = heads[record]
        for name, head in heads.items():
            expect(name == ("head" if head.fold == 1 else f"head-{head.fold}"), "record of a class")
        self.states = {name[6:]: contents.pop(name) for name in list(contents) if name.startswith("state-")}
        self.objects = contents
        for name, data in contents.items():
            expect(object_name(data) == name, f"object {name} has another content")
        expect(self.head.index[0] <= MAX_INDEX, "length of the index")
        self.index = Index(self.fetch(*self.head.index))

    def fetch(self, length, name):
        data = self.objects[name]
        expect(len(data) == length, "length of an object")
        return data

    def way(self, version, held):
        """Returns the cheapest way from a version of class held."""
        isbase = version and self.head.fold % held == 0
        page = dict(self.index.pages).get(version // PAGE) if isbase else None
        return cheapest(self.index, page and Index(self.fetch(*page)), version, held, self.head)

    def reach(self, name, held, way):
        """Returns the state to which a way leads from the state of a name, which is of class held."""
        snapshots = {name for _, (_, name) in self.index.snapshots} | {name for _, _, (_, name), _ in self.index.refinements}
        state = Container(self.states[name]).state if name in self.states else None
        if state and self.head.fold % held == 0:
            state = folded(state, self.head.fold // held)
        for name in way:
            data = self.objects[name]
            state = Container(data).state if name in snapshots else apply_change(state, data)
        head = self.head
        expect((state["kind"], memory(state), identify(state)) == (head.kind, head.bytes, head.id), "another state")
        return state


def folded(state, factor):
    """Returns a filter of kind bloom folded by a factor: kinds/bloom.md."""
    if factor == 1:
        return state
    params, (array,) = dict(state["params"]), state["arrays"]
    expect(state["kind"] == "bloom" and array["cells"] % (factor << params["group"]) == 0, "fold")
    cells = fold(unpack(array["bytes"], 1, array["cells"]), 1, factor, 1 << params["group"])
    return state | {"arrays": [{"width": 1, "cells": len(cells), "bytes": pack(cells, 1)}]}
