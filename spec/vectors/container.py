"""container.md: containers, and IDs of states."""

import hashlib
import struct

from codings import bits, expect, leb128, positions
from models import counters, rare
from short import PLANNED, TICK, Short
from tree import leaves, root

LIMIT = 2**30  # bytes of arrays
BLOCK = 2**16  # bytes of a block
LEAF = 2**10  # bytes of a leaf of the hash tree
SEEDS = {0: 8, 1: 16, 2: 8, 3: 0, 4: 0, 5: 0, 7: 0, 8: 4}  # bytes of the seed that each hash algorithm uses


class Limit(Exception):
    pass


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


def size(width, cells):
    """Returns the number of bytes of the words of an array."""
    return (cells * width + 63) // 64 * 8


TO_DIGITS, FROM_DIGITS = bytes.maketrans(b"\0\1", b"01"), bytes.maketrans(b"01", b"\0\1")


def pack(cells, width):
    """Returns the words of cells."""
    if width == 1:
        digits = bytes(cells[::-1]).translate(TO_DIGITS)
    else:
        digits = "".join(f"{cell:0{width}b}" for cell in reversed(cells))
    return int(digits or "0", 2).to_bytes(size(width, len(cells)), "little")


def unpack(words, width, cells):
    digits = f"{int.from_bytes(words, 'little'):0{len(words) * 8}b}"[::-1]
    if width == 1:
        return list(digits[:cells].encode().translate(FROM_DIGITS))
    return [int(digits[i:i + width][::-1], 2) for i in range(0, cells * width, width)]


class Reader(Short):
    """Reads fields that containers and deltas share."""

    def __init__(self, data):
        self.data, self.at, self.left, self.states, self.short = data, 0, LIMIT, 0, False

    def take(self, n):
        expect(self.at + n <= len(self.data), "cut off")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def var(self):
        number, self.at = leb128(self.data, self.at)
        return number

    def long_or_var(self):
        return self.var() if self.short else self.number(8)

    def name(self):
        name = self.take(self.number(1))
        expect(0 < len(name) <= 64 and not name.strip(b"abcdefghijklmnopqrstuvwxyz0123456789-./"), "name")
        return name.decode()

    def count_state(self, depth):
        self.states += 1
        expect(depth <= 4 and self.states <= 4096, "depth or states")

    def check_hasher(self, alg, seed):
        expect(alg in SEEDS, "hash algorithm")
        expect(not any(seed[SEEDS[alg]:]), "seed")
        return alg, seed

    def read_state(self, depth):
        self.count_state(depth)
        kind, (alg, seed) = self.name(), self.check_hasher(self.number(1), self.take(16))
        params = self.read_params()
        arrays = [self.read_array() for _ in range(self.number(1))]
        parts = [self.read_state(depth + 1) for _ in range(self.number(2))]
        return {"kind": kind, "alg": alg, "seed": seed, "params": params, "arrays": arrays, "parts": parts}

    def read_params(self):
        params = [(self.name(), self.read_value(self.number(1))) for _ in range(self.number(1))]
        expect(len(dict(params)) == len(params), "parameter twice")
        return params

    def read_value(self, kind):
        expect(kind <= 1, "type of parameter")
        if kind == 0:
            return self.long_or_var()
        number = self.read_short_float() if self.short else struct.unpack("<d", self.take(8))[0]
        expect(abs(number) < float("inf"), "not a finite number")
        return number

    def read_array(self):
        return self.read_array_of(self.number(1))

    def read_array_of(self, width):
        cells = self.long_or_var()
        words = self.claim(width, cells)
        array, contiguous = bytearray(), False
        while len(array) < words:
            n = min(BLOCK, words - len(array))
            coding = 0 if contiguous else self.number(1)
            if coding == 5 and not array:
                contiguous, coding = True, 0
                self.read_padding()
            if coding == 6:
                array += self.read_run(width, words - len(array), cells - len(array) * 8 // width)
                continue
            array += self.read_block(coding, width, min(n * 8 // width, cells - len(array) * 8 // width))
        return {"width": width, "cells": cells, "bytes": bytes(array)}

    def read_run(self, width, words, cells):
        """Returns the words of a run, where an array has the given numbers of words, in bytes, and cells left."""
        blocks = self.var()
        expect(0 < blocks <= min(4096, -(-words // BLOCK)), "blocks of a run")
        words, cells = min(blocks * BLOCK, words), min(blocks * BLOCK * 8 // width, cells)
        array = bytearray(words)
        for at, value in rare(self.payload(BLOCK), cells, width):
            place = at * width // 8
            size = max(1, width // 8)
            value = value << at * width % 8 | int.from_bytes(array[place:place + size], "little")
            array[place:place + size] = value.to_bytes(size, "little")
        return array

    def read_padding(self):
        n = self.number(1)
        expect(n < 64 and not any(self.take(n)), "padding")

    def claim(self, width, cells):
        """Returns the number of bytes of an array, unless it exceeds the limit."""
        expect(width in (1, 2, 4, 8, 16, 32, 64), "width")
        words = size(width, cells)
        expect(words <= 2**56, "cells")
        if words > self.left:
            raise Limit("arrays")
        self.left -= words
        return words

    def read_block(self, coding, width, cells):
        """Returns the words of a block."""
        expect(coding <= 4, "coding")
        n = size(width, cells)
        if coding == 0:
            block = self.take(n)
            expect(int.from_bytes(block, "little") >> cells * width == 0, "bits beyond the last cell")
            return block
        if coding == 1:
            return bytes(n)
        if coding == 2:
            return ((1 << cells * width) - 1).to_bytes(n, "little")
        payload = self.payload(n)
        if coding == 4:
            expect(width == 1, "positions of counters")
            return pack(positions(payload, cells), 1)
        return pack(bits(payload, cells) if width == 1 else counters(payload, cells, width), width)

    def payload(self, most):
        length = self.var()
        expect(length < most, "a payload that isn't shorter than the words")
        return self.take(length)

    def read_notes(self):
        """Returns the planned keys and rate, and the length of a tick: None if there is no such note."""
        number, last, planned, tick = self.number(1), -1, None, None
        expect(number > 0, "no note")
        for _ in range(number):
            kind, note = self.number(1), self.take(self.number(1))
            expect(kind > last, "types that are not ascending")
            last = kind
            if kind == 1:
                expect(len(note) == 16, "length of a note")
                planned = struct.unpack("<Qd", note)
                expect(planned[0] > 0 and 0 < planned[1] < 1, "planned")
            if kind == 3:
                expect(len(note) == 8, "length of a note")
                tick, = struct.unpack("<Q", note)
                expect(0 < tick < 2**63, "tick")
        return planned, tick


class Container(Reader):
    def __init__(self, data):
        super().__init__(data)
        self.short, self.planned, self.tick = data[:3] == b"\x89u\x03", None, None
        if self.short:
            self.take(3)
            self.state, flags = self.read_short(1, (0, bytes(16)), PLANNED | TICK)
            self.planned, self.tick = self.read_short_notes(flags)
        else:
            magic, version = self.take(7), self.number(1)
            expect(magic == b"\x89umbel\n" and version in (1, 2), "magic")
            self.state = self.read_state(1)
            if version == 2:
                self.planned, self.tick = self.read_notes()
        crc = crc32c(data[:self.at])
        expect(self.take(4) == struct.pack("<I", crc), "checksum")
        expect(self.at == len(data), "trailing bytes")


def identify(state):
    """Returns the ID of a state, as hexadecimal digits."""
    return hashlib.sha256(b"\x89umbel\n\x01" + fields(state)).hexdigest()


def fields(state):
    """Returns the fields of a state, with the roots of arrays instead of their blocks."""
    out = name(state["kind"]) + bytes([state["alg"]]) + state["seed"] + bytes([len(state["params"])])
    for key, value in state["params"]:
        out += name(key) + (struct.pack("<BQ", 0, value) if isinstance(value, int) else struct.pack("<Bd", 1, value))
    out += bytes([len(state["arrays"])])
    for array in state["arrays"]:
        out += struct.pack("<BQ", array["width"], array["cells"]) + root(leaves(array["bytes"], LEAF))
    return out + struct.pack("<H", len(state["parts"])) + b"".join(fields(part) for part in state["parts"])


def name(text):
    return bytes([len(text)]) + text.encode()
