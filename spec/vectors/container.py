"""container.md: the bytes of a container, and the ID of the state in it."""

import hashlib
import struct

LIMIT = 2**30  # bytes of planes


class Corrupt(Exception):
    pass


class Limit(Exception):
    pass


def expect(ok, what):
    if not ok:
        raise Corrupt(what)


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
