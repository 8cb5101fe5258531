"""container.md, "Short form": states of which only what differs from a table is written."""

import csv
import pathlib
import struct

from codings import expect

TABLE = pathlib.Path(__file__).parent.parent / "kinds.tsv"
HASHER, PARAMS, WIDTHS, PARTS, PLANNED, TICK = 1, 2, 4, 8, 16, 32


def rows():
    """Returns the kinds of the table by their numbers: name, names of parameters with the type of each, widths."""
    with open(TABLE) as table:
        lines = list(csv.reader(table, delimiter="\t"))[1:]
    params = lambda names: [(name.removesuffix(":float"), int(name.endswith(":float"))) for name in names.split()]
    return {int(number): (kind, params(names), [int(w) for w in widths.split()]) for number, kind, names, widths in lines}


ROWS = rows()


class Short:
    """Reads states in the short form: a part of the reader of containers and deltas."""

    def read_short(self, depth, outer, notes=0):
        """Returns a state, which is a part of one with the hasher outer, and its flags."""
        self.count_state(depth)
        number, flags = self.number(1), 0
        if number & 128:
            number, flags = number & 127, self.number(1)
        expect(flags & ~(HASHER | PARAMS | WIDTHS | PARTS | notes) == 0, "flags")
        expect(number == 0 or number in ROWS, "number of a kind")
        kind, params, widths = ROWS[number] if number else (self.name(), [], [])
        alg, seed = self.read_short_hasher() if flags & HASHER else outer
        params = [(name, self.read_value(of)) for name, of in params]
        if flags & PARAMS:
            params += self.read_params()
        expect(len(dict(params)) == len(params), "parameter twice")
        if flags & WIDTHS:
            arrays = [self.read_array() for _ in range(self.number(1))]
        else:
            arrays = [self.read_array_of(width) for width in widths]
        parts = [self.read_short(depth + 1, (alg, seed))[0] for _ in range(self.var() if flags & PARTS else 0)]
        return {"kind": kind, "alg": alg, "seed": seed, "params": params, "arrays": arrays, "parts": parts}, flags

    def read_short_hasher(self):
        alg, n = self.number(1), self.number(1)
        seed = self.take(n)
        expect(n <= 16 and not seed.endswith(b"\0"), "seed")
        return self.check_hasher(alg, seed.ljust(16, b"\0"))

    def read_short_float(self):
        v = self.var()
        if v == 31:
            return struct.unpack("<d", self.take(8))[0]
        expect(v // 32 < 2**53 and v % 32 <= 22, "float")
        return float(f"{v // 32}e-{v % 32}")

    def read_short_notes(self, flags):
        planned = tick = None
        if flags & PLANNED:
            planned = self.var(), self.read_short_float()
            expect(planned[0] > 0 and 0 < planned[1] < 1, "planned")
        if flags & TICK:
            tick = self.var()
            expect(0 < tick < 2**63, "tick")
        return planned, tick
