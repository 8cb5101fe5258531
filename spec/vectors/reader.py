#!/usr/bin/env python3
"""Reads the vectors of umbel's specification, in its own words: a reader of
containers, three of the hashes, and the positions of all kinds. It was written
from the pages in spec alone. Exit status 1 if anything isn't as a vector says."""

import hashlib
import pathlib
import struct
import sys

MASK = 2**64 - 1
LIMIT = 2**30  # bytes of planes


class Corrupt(Exception):
    pass


class Limit(Exception):
    pass


def expect(ok, what):
    if not ok:
        raise Corrupt(what)


# container.md

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def crc_entry(n):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)  # 0x1edc6f41, reflected
    return n


CRC_TABLE = [crc_entry(n) for n in range(256)]


class Container:
    """One container; canonical gathers its canonical form while it is read."""

    def __init__(self, data):
        self.data, self.at, self.left = data, 0, LIMIT
        self.canonical = bytearray()
        expect(self.copy(8) == b"\x89umbel\n\x01", "magic")
        self.state = self.read_state(1)
        self.id = hashlib.sha256(self.canonical).hexdigest()
        crc = crc32c(data[:self.at])
        expect(self.take(4) == struct.pack("<I", crc), "checksum")
        expect(self.at == len(data), "trailing bytes")

    def take(self, n):
        expect(self.at + n <= len(self.data), "cut off")
        self.at += n
        return self.data[self.at - n:self.at]

    def copy(self, n):
        taken = self.take(n)
        self.canonical += taken
        return taken

    def number(self, n):
        return int.from_bytes(self.copy(n), "little")

    def name(self):
        name = self.copy(self.number(1))
        expect(0 < len(name) <= 64 and not name.strip(b"abcdefghijklmnopqrstuvwxyz0123456789-./"), "name")
        return name.decode()

    def read_state(self, depth):
        expect(depth <= 4, "depth")
        kind, alg, seed = self.name(), self.number(1), self.copy(16)
        expect(alg <= 5, "hash algorithm")
        expect(not any(seed[[8, 16, 8, 0, 0, 0][alg]:]), "seed")
        params = [self.read_param() for _ in range(self.number(1))]
        expect(len(dict(params)) == len(params), "parameter twice")
        planes = [self.read_plane() for _ in range(self.number(1))]
        parts = [self.read_state(depth + 1) for _ in range(self.number(2))]
        return {"kind": kind, "alg": alg, "seed": seed, "params": params, "planes": planes, "parts": parts}

    def read_param(self):
        name, kind, value = self.name(), self.number(1), self.copy(8)
        expect(kind <= 1, "type of parameter")
        if kind == 0:
            return name, int.from_bytes(value, "little")
        number = struct.unpack("<d", value)[0]
        expect(abs(number) < float("inf"), "not a finite number")
        return name, number

    def read_plane(self):
        width, cells = self.number(1), self.number(8)
        expect(width in (1, 2, 4, 8, 16, 32, 64), "width")
        words = (cells * width + 63) // 64
        expect(words * 8 <= 2**56, "cells")
        if words * 8 > self.left:
            raise Limit("planes")
        self.left -= words * 8
        plane = bytearray()
        while len(plane) < words * 8:
            n = min(65536, words * 8 - len(plane))
            coding = self.take(1)[0]
            expect(coding <= 2, "coding")
            if coding == 0:
                block = self.take(n)
            elif coding == 1:
                block = bytes(n)
            else:
                block = b"\xff" * n
                if len(plane) + n == words * 8:
                    last = cells * width - 64 * (words - 1)
                    block = block[:-8] + ((1 << last) - 1).to_bytes(8, "little")
            self.canonical += b"\0" + block
            plane += block
        if words:
            last = int.from_bytes(plane[-8:], "little")
            expect(last >> (cells * width - 64 * (words - 1)) == 0, "bits beyond the last cell")
        return {"width": width, "cells": cells, "bytes": bytes(plane)}


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


HASHES = {  # by alg: those that Python's library has, or that are short
    3: hash_murmur64a,
    4: lambda key: struct.unpack(">QQ", hashlib.md5(key).digest()),
    5: lambda key: struct.unpack("<QQ", key[:16].ljust(16, b"\0")),
}
ALGS = {"murmur64a": 3, "md5": 4, "caller": 5}


# positions.md

def value(h1, h2, i):
    x = h1 + i * 0x9E3779B97F4A7C15 & MASK
    y = h2 + i * 0xD6E8FEB86659FD93 & MASK
    return (x * y >> 64) ^ (x * y & MASK)


def in_range(v, m):
    return v * m >> 64


def position(v, m, log):
    return in_range(v, m >> log) << log | v & (1 << log) - 1


# kinds.md

def bloom(h1, h2, m, k, group):
    return [position(value(h1, h2, i), m, group) for i in range(k)]


def partitioned(h1, h2, m, k, group):
    return [i * (m // k) + position(value(h1, h2, i), m // k, group) for i in range(k)]


def splitblock(h1, h2, m):
    salts = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
    block, x = (h1 >> 32) * (m // 256) >> 32, h1 & 0xFFFFFFFF
    return [block * 256 + i * 32 + (x * salt % 2**32 >> 27) for i, salt in enumerate(salts)]


def times8(a, b):
    p = 0
    for t in range(3):
        if b >> t & 1:
            p ^= a << t
    for t in (4, 3):
        if p >> t & 1:
            p ^= 11 << t - 3
    return p


def blocked(h1, h2, m, words, bits):
    block, order = in_range(h1, m // 512), h2 >> 58
    a = (1, 2, 4, 3, 6, 7, 5, 1)[order >> 3]
    shift = [0, 6, 12, 18, 24, 30, 36, 42] if bits == 1 else [0, 12, 24, 36, 46]
    return [block * 512 + (times8(a, i) ^ order & 7) * 64 + (h2 >> shift[i] + 6 * j & 63)
            for i in range(words) for j in range(bits)]


def right_grouped(cells, params):
    k, group = (v for _, v in params)
    return 1 <= k <= 256 and group in (0, 6) and cells % 2**group == 0


KINDS = {  # positions, names of parameters, whether they and the cells go together
    "bloom": (bloom, ["k", "group"], right_grouped),
    "partitioned": (partitioned, ["k", "group"],
                    lambda m, ps: right_grouped(m, ps) and m % (ps[0][1] * 2**ps[1][1]) == 0),
    "blocked": (blocked, ["words", "bits"],
                lambda m, ps: m % 512 == 0 and ps[1][1] in (1, 2) and ps[0][1] in range(1, 9 if ps[1][1] == 1 else 6)),
    "splitblock": (splitblock, [], lambda m, ps: m % 256 == 0),
}


def open_filter(state):
    """Returns a function that tells whether the filter has a digest."""
    locate, names, right = KINDS[state["kind"]]
    expect(all(isinstance(v, int) for _, v in state["params"]), "whole numbers")
    expect([name for name, _ in state["params"]] == names, "parameters")
    expect(len(state["planes"]) == 1 and not state["parts"], "planes and parts")
    plane = state["planes"][0]
    expect(plane["width"] == 1 and plane["cells"] > 0, "plane")
    expect(right(plane["cells"], state["params"]), "values of parameters")
    values = [v for _, v in state["params"]]
    return lambda h1, h2: all(plane["bytes"][i // 8] >> i % 8 & 1 for i in locate(h1, h2, plane["cells"], *values))


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
        box = Container(bytes.fromhex(body))
    except (Corrupt, Limit) as err:
        assert want == type(err).__name__.lower(), f"{type(err).__name__}: {err}"
        return 0
    if "id" in fields:
        assert box.id == fields["id"][0], f"ID {box.id}"
    state = box.state
    if state["kind"] not in KINDS:
        # A kind of umbel's that this reader doesn't know, or one of nobody's.
        assert want == "unknown-kind" or "." not in state["kind"], "taken"
        return 0
    try:
        has = open_filter(state)
    except Corrupt:
        assert want == "corrupt", "refused"
        return 0
    assert want == "ok", "opened"
    if state["alg"] not in HASHES:
        return 0
    asked = [(key, True) for key in fields["key"]] + [(key, False) for key in fields["absent"]]
    for key, there in asked:
        assert has(*HASHES[state["alg"]](bytes.fromhex(key))) == there, f"key {key[:40]}"
    return len(asked)


def digest(text):
    return int(text[:16], 16), int(text[16:], 16)


def check_positions(name, fields, rows):
    for row in rows:
        if name == "range":
            got, want = in_range(int(row[0], 16), int(row[1])), int(row[2])
        elif name == "stream":
            got, want = [value(*digest(row[0]), i) for i in range(8)], [int(v, 16) for v in row[1:]]
        elif fields["kind"][0] in KINDS:
            params = [int(p.split()[1]) for p in fields.get("param", [])]
            got = KINDS[fields["kind"][0]][0](*digest(row[0]), int(fields["cells"][0]), *params)
            want = [int(v) for v in row[1:]]
        else:
            return 0
        assert got == want, f"{row[0]}: {got}"
    return len(rows)


def check_hashing(name, rows):
    if name not in ALGS:
        return 0
    for _, key, want in rows:
        got = "%016x%016x" % HASHES[ALGS[name]](bytes.fromhex(key.strip("-")))
        assert got == want, f"{key[:40]}: {got}"
    return len(rows)


def check(path):
    fields, body = read(path)
    rows = [line.split() for line in body.splitlines()]
    if path.parent.name == "positions":
        return check_positions(path.stem, fields, rows)
    if path.parent.name == "hashing":
        return check_hashing(path.stem, rows)
    return check_container(fields, body)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    paths = sorted(p for folder in ("container", "kinds", "positions", "hashing") for p in (root / folder).glob("*.txt"))
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
