"""delta.md: applies deltas."""

import struct

from codings import expect, positions
from container import BLOCK, LIMIT, Limit, Reader, crc32c, identify, pack, unpack
from models import gapped, given, listed, refined
from short import PLANNED, ROWS, TICK


class Mismatch(Exception):
    pass


def apply(base, data):
    """Returns the result of applying a delta to base, and the notes of the delta: see read_notes."""
    delta = Delta(data, base)
    return delta.result, delta.notes


def apply_change(base, data):
    """Returns the result of applying a change to base."""
    return Change(data).read_whole(base)


class Change(Reader):
    """Reads changes."""

    notes = None, None

    def read_whole(self, base, regular=False):
        result = self.read_regular(base) if regular else self.read_change(base, 1)
        if self.at < len(self.data):
            self.notes = self.read_flagged_notes() if self.short else self.read_notes()
        expect(self.at == len(self.data), "bytes after the notes")
        return result

    def read_regular(self, base):
        arrays = [self.read_from(base["arrays"], 1, i) for i in range(len(base["arrays"]))]
        return {**base, "arrays": arrays, "parts": [self.read_regular(part) for part in base["parts"]]}

    def read_change(self, base, depth):
        params = self.read_changed(base["params"])
        arrays = [self.read_derived(base["arrays"]) for _ in range(self.number(1))]
        parts = self.var()
        expect(parts <= 65535, "parts")
        parts = [self.read_part(base, depth + 1) for _ in range(parts)]
        return {**base, "params": params, "arrays": arrays, "parts": parts}

    def read_flagged_notes(self):
        flags = self.number(1)
        expect(flags and not flags & ~(PLANNED | TICK), "flags")
        return self.read_short_notes(flags)

    def read_changed(self, base):
        n = self.number(1)
        if n == 255:
            return self.read_params()
        params = list(base)
        for _ in range(n):
            i = self.number(1)
            expect(i < len(params), "index of a parameter")
            name, value = params[i]
            params[i] = name, self.read_value(int(isinstance(value, float)))
        return params

    def read_part(self, base, depth):
        origin = self.var()
        if origin == 0:
            return self.read_short(depth, (base["alg"], base["seed"]))[0] if self.short else self.read_state(depth)
        expect(origin <= len(base["parts"]), "index of a part")
        return self.read_change(base["parts"][origin - 1], depth)

    def read_derived(self, base):
        form = self.number(1)
        expect(form <= 4, "form")
        if form == 0:
            return self.read_array()
        return self.read_from(base, form, self.number(1))

    def read_from(self, base, form, i):
        expect(i < len(base), "index of a array")
        width, n = base[i]["width"], base[i]["cells"]
        factor, group = (self.var(), self.var()) if form > 1 else (1, max(n, 1))
        expect(factor > 0 and group > 0 and n % group == 0, "factor or group")
        if form == 2:
            expect(n % (factor * group) == 0, "factor")
            cells = n // factor
        else:
            cells = n * factor
            expect(cells < 2**64, "cells")
        words = self.claim(width, cells)
        if form > 2:
            expect((words + BLOCK - 1) // BLOCK <= len(self.data) - self.at, "more blocks than bytes")
        if form == 1:
            predicted = base[i]["bytes"]
            return {"width": width, "cells": cells, "bytes": self.read_blocks(predicted, width, cells, True)}
        old = unpack(base[i]["bytes"], width, n)
        if form == 4:
            expect(width == 1, "counters can't refine")
            return {"width": 1, "cells": cells, "bytes": self.read_units(old, factor, group)}
        predicted = pack((fold if form == 2 else unfold)(old, width, factor, group), width)
        return {"width": width, "cells": cells, "bytes": self.read_blocks(predicted, width, cells, form == 2)}

    def read_blocks(self, predicted, width, cells, runs):
        array = bytearray()
        while len(array) < len(predicted):
            coding, n, left = self.number(1), 1, (len(predicted) - len(array) + BLOCK - 1) // BLOCK
            if coding in (129, 131, 133, 137, 139):
                n = self.var()
                expect(runs and 2 <= n <= (left if coding in (129, 137, 139) else min(left, 64)), "run")
                coding -= 1
            old = predicted[len(array):len(array) + n * BLOCK]
            number = min(len(old) * 8 // width, cells - len(array) * 8 // width)
            if coding == 128:
                array += old
            elif coding == 130:
                array += pack(given(self.payload(len(old)), unpack(old, width, number), width), width)
            elif coding == 132:
                flips = pack(positions(self.payload(len(old)), number * width), 1)
                array += bytes(a ^ b for a, b in zip(old, flips))
            elif coding == 136:
                array += pack(listed(self.payload(len(old)), unpack(old, width, number), width), width)
            elif coding == 138:
                expect(width == 1, "gaps of counters")
                array += pack(gapped(self.payload(len(old)), unpack(old, 1, number)), 1)
            else:
                array += self.read_block(coding, width, number)
        return bytes(array)

    def read_units(self, fold, factor, group):
        expect(2 <= factor <= 4096, "factor")
        rest = factor
        for p in range(2, 62):
            while rest % p == 0:
                rest //= p
        expect(rest == 1, "factor")
        cells = [0] * (len(fold) * factor)
        unit = 2**19 // factor // 64 * 64
        for begin in range(0, len(fold), unit):
            part = fold[begin:begin + unit]
            payload = self.payload(len(part) * factor // 8 + 4 * factor + 64)
            for j, row in enumerate(refined(payload, part, factor)):
                for i, bit in enumerate(row, begin):
                    cells[(i // group * factor + j) * group + i % group] = bit
        return pack(cells, 1)


class Delta(Change):
    def __init__(self, data, base):
        super().__init__(data[:-4])
        self.short = data[:3] == b"\x89d\x02"
        expect(self.short and self.take(3) or self.take(8) == b"\x89umdlt\n\x01", "magic")
        expect(data[-4:] == struct.pack("<I", crc32c(data[:-4])), "checksum")
        base_id, result_id = [self.take(n).hex() for n in ((4, 8) if self.short else (32, 32))]
        if not identify(base).startswith(base_id):
            raise Mismatch("the base is another state")
        self.read_kind(base)
        if self.arrays > LIMIT:
            raise Limit("bytes of the result")
        expect(self.kind == base["kind"], "kind")
        self.result = self.read_whole(base, self.regular)
        expect(self.arrays == memory(self.result), "bytes of the result")
        expect(identify(self.result).startswith(result_id), "ID of the result")

    def read_kind(self, base):
        """Reads the kind and the memory of the result, in the order of the form."""
        self.regular = False
        if not self.short:
            self.arrays, self.kind = self.number(8), self.name()
            return
        number = self.number(1)
        self.regular = number < 128
        number %= 128
        expect(number == 0 or number in ROWS, "number of a kind")
        self.kind = ROWS[number][0] if number else self.name()
        self.arrays = memory(base) if self.regular else self.var()


def memory(state):
    """Returns the memory of the arrays of a state, including those of its parts, in bytes."""
    return sum(len(array["bytes"]) for array in state["arrays"]) + sum(map(memory, state["parts"]))


def fold(cells, width, factor, group):
    folded = [0] * (len(cells) // factor)
    for i, cell in enumerate(cells):
        at = i // (factor * group) * group + i % group
        folded[at] = min(folded[at] + cell, 2**width - 1)
    return folded


def unfold(cells, width, factor, group):
    return [cells[i // (factor * group) * group + i % group] for i in range(len(cells) * factor)]
