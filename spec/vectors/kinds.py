"""kinds.md and the pages of the kinds: which states are a filter, and what it has.
KINDS has a class for each kind. Made of a state it raises Corrupt where no filter has
that state; has(h1, h2, key) tells whether a key is there, and count, where keys count,
how often, or None where that is unknown."""

import math

import positions
from codings import expect


def whole(state, *names):
    """Returns the parameters, which have these names and are whole numbers."""
    expect([name for name, _ in state["params"]] == list(names), "parameters")
    expect(all(isinstance(v, int) for _, v in state["params"]), "whole numbers")
    return [v for _, v in state["params"]]


def only_plane(state, *widths):
    expect(len(state["arrays"]) == 1 and not state["parts"], "arrays and parts")
    array = state["arrays"][0]
    expect(array["width"] in widths and 1 <= array["cells"] <= 2**56, "array")
    return array


def only_parts(state, most, *kinds):
    """Returns the filters that the parts are, all of one of the kinds."""
    expect(len({part["kind"] for part in state["parts"]}) == 1, "kinds of the parts")
    return mixed_parts(state, most, *kinds)


def mixed_parts(state, most, *kinds):
    """Returns the filters that the parts are, each of one of the kinds."""
    parts = state["parts"]
    expect(not state["arrays"] and 1 <= len(parts) <= most, "arrays and parts")
    for part in parts:
        expect(part["kind"] in kinds, "kind of a part")
        expect(all(part[field] == state[field] for field in ("alg", "seed")), "hasher of a part")
    return [PARTS[part["kind"]](part) for part in parts]


def cell(array, i):
    at, width = i * array["width"], array["width"]
    if width < 8:
        return array["bytes"][at // 8] >> at % 8 & (1 << width) - 1
    return int.from_bytes(array["bytes"][at // 8:(at + width) // 8], "little")




def check_grouped(cells, k, group):
    expect(1 <= k <= 256 and group in (0, 6) and cells % 2**group == 0, "k, group, or cells")


class Bits:
    """A kind with one array of bits: a filter has a key if all its cells are set."""

    locate, names = None, ()

    def __init__(self, state):
        self.values = whole(state, *self.names)
        self.array = only_plane(state, 1)
        self.cells = self.array["cells"]
        self.check(*self.values)

    def has(self, h1, h2, key=None):
        return all(cell(self.array, i) for i in self.locate(h1, h2, self.cells, *self.values))


class Bloom(Bits):
    locate, names = staticmethod(positions.bloom), ("k", "group")

    def check(self, k, group):
        check_grouped(self.cells, k, group)


class Partitioned(Bits):
    locate, names = staticmethod(positions.partitioned), ("k", "group")

    def check(self, k, group):
        check_grouped(self.cells, k, group)
        expect(self.cells % (k * 2**group) == 0, "slices")


class Blocked(Bits):
    locate, names = staticmethod(positions.blocked), ("words", "bits")

    def check(self, words, bits):
        expect(self.cells % 512 == 0 and bits in (1, 2), "cells or bits")
        expect(1 <= words <= (8 if bits == 1 else 5), "words")


class SplitBlock(Bits):
    locate = staticmethod(positions.splitblock)

    def check(self):
        expect(self.cells % 256 == 0 and self.cells // 256 <= 2**32, "cells")


class Squid(Bits):
    locate = staticmethod(positions.squid)

    def check(self):
        expect(self.cells % 8 == 0 and self.cells <= 2**31, "cells")


class NixBloom(Bits):
    locate, names = staticmethod(positions.nixbloom), ("k",)

    def check(self, k):
        expect(self.cells % 8 == 0 and 1 <= k <= 256, "cells or k")


class Imported(Bits):
    locate, names = staticmethod(positions.imported), ("form", "k")

    def check(self, form, k):
        unit, least = (512, 2) if form == 5 else (64, 1)
        expect(1 <= form <= 5, "form")
        expect(self.cells % unit == 0 and self.cells <= 64 * (2**31 - 1) and least <= k <= 255, "cells or k")


class Counting:
    def __init__(self, state):
        self.k, self.group, copied = whole(state, "k", "group", "copied")
        self.array = only_plane(state, 4, 8, 16)
        check_grouped(self.array["cells"], self.k, self.group)
        expect(copied in (0, 1), "copied")

    def has(self, h1, h2, key=None):
        return all(cell(self.array, i) for i in self.located(h1, h2))

    def count(self, h1, h2):
        limit = 2**self.array["width"] - 1
        at = self.located(h1, h2)
        sure = [cell(self.array, i) // at.count(i) for i in at if cell(self.array, i) < limit]
        return min(sure, default=None)

    def located(self, h1, h2):
        return positions.bloom(h1, h2, self.array["cells"], self.k, self.group)


class Weighted:
    FIRST = ["k", "group"]
    WIDTHS = [1]

    def __init__(self, state):
        first = len(self.FIRST)
        classes = 1 + (len(state["params"]) - first) // 3
        expect(1 <= classes <= 64, "classes")
        names = list(self.FIRST)
        for c in range(1, classes):
            names += [f"k{c}", f"members{c}", f"queries{c}"]
        values = whole(state, *names)
        self.first, values = values[:first], values[first:]
        self.group, self.k = self.first[1], [self.first[0]] + values[0::3]
        expect(sum(values[1::3]) <= 10**9 and sum(values[2::3]) <= 10**9, "shares")
        expect(len(state["arrays"]) in (1, 2), "arrays")
        self.array = only_plane({"arrays": state["arrays"][:1], "parts": state["parts"]}, *self.WIDTHS)
        for k in self.k:
            check_grouped(self.array["cells"], k, self.group)
        self.digests, self.prefixes = None, None
        if len(state["arrays"]) == 2:
            self.read_table(state["arrays"][1])

    def read_table(self, table):
        expect(table["width"] in (64, 8) and table["cells"] > 0, "table")
        if table["width"] == 64:
            expect(table["cells"] < 2**32, "size of the table")
            rows = [cell(table, i) for i in range(table["cells"])]
            rows = [(row >> 8, row & 255) for row in rows]
            expect(all(1 <= c < len(self.k) for _, c in rows), "class of a digest")
        else:
            rows, left = [], table["bytes"][:table["cells"]]
            while left:
                expect(len(left) >= 2 and left[1] >= 1 and len(left) >= 2 + left[1], "prefix")
                rows.append((left[2:2 + left[1]], left[0]))
                left = left[2 + left[1]:]
            expect(all(c < len(self.k) for _, c in rows), "class of a prefix")
        names = [name for name, _ in rows]
        expect(all(a < b for a, b in zip(names, names[1:])), "order of the table")
        if table["width"] == 64:
            self.digests = dict(rows)
        else:
            self.prefixes = dict(rows)

    def has(self, h1, h2, key=None):
        return all(cell(self.array, i) for i in self.located(h1, h2, key))

    def located(self, h1, h2, key=None):
        if self.digests is not None:
            k = self.k[self.digests.get(h1 >> 8, 0)]
        elif self.prefixes is not None and key is not None:
            begins = [p for p in self.prefixes if key.startswith(p)]
            k = self.k[self.prefixes[max(begins, key=len)] if begins else 0]
        else:
            k = min(self.k)
        return positions.bloom(h1, h2, self.array["cells"], k, self.group)


class WeightedCounting(Weighted):
    FIRST = ["k", "group", "copied"]
    WIDTHS = [4, 8, 16]
    count = Counting.count

    def __init__(self, state):
        super().__init__(state)
        expect(self.first[2] in (0, 1), "copied")


class Row:
    """A kind whose parts are filters: it has a key if one of them has it."""

    def has(self, h1, h2, key=None):
        return any(part.has(h1, h2) for part in self.parts)


class Scalable(Row):
    def __init__(self, state):
        size, first, tightening, growth, _ = whole(
            state, "slice", "first-log2", "tightening-log2", "growth", "max-bytes")
        expect(64 <= size <= 2**56 and size % 64 == 0, "slice")
        expect(1 <= first <= 2**24 and 1 <= tightening <= 2**18 and 2 <= growth <= 16, "design")
        expect(size * -(-first // 2**16) <= 2**56, "first layer")
        self.parts = only_parts(state, 65535, "partitioned")
        slices = []
        for part in self.parts:
            k, group = part.values
            expect(group == 6, "group of a layer")
            slices.append(part.cells // k)
        expect(slices == sorted(slices) and slices[-1] >= size, "slices of the layers")


class Dynamic(Row):
    def __init__(self, state):
        full, _ = whole(state, "full", "max-bytes")
        self.parts = only_parts(state, 65535, "bloom", "counting")
        shapes = [(part["params"][:2], part["arrays"][0]["cells"], part["arrays"][0]["width"]) for part in state["parts"]]
        expect(all(shape == shapes[0] for shape in shapes), "shapes of parts")
        expect(1 <= full <= shapes[0][1], "full")
        if state["parts"][0]["kind"] == "counting":
            self.count = self.sum

    def sum(self, h1, h2):
        counts = [part.count(h1, h2) for part in self.parts]
        return None if None in counts else sum(counts)


class Incremental(Row):
    def __init__(self, state):
        most = (len(state["params"]) - 1) // 3
        expect(1 <= most <= 64, "planes")
        names = ["planes"]
        for i in range(1, most + 1):
            names += [f"cells-{i}", f"k-{i}", f"limit-{i}"]
        values = whole(state, *names)
        expect(values[0] == most, "number of arrays")
        arrays = list(zip(values[1::3], values[2::3], values[3::3]))
        total = 0
        for i, (cells, k, limit) in enumerate(arrays):
            expect(1 <= cells <= 2**56 and (cells < 64 or cells % 64 == 0), "cells")
            expect(1 <= k <= 256 and 1 <= limit <= cells, "k or limit")
            expect(i == 0 or cells <= 4 * total + 4096, "a array to come")
            total += cells
        expect(total <= 2**56, "all cells")
        self.parts = only_parts(state, most, "bloom")
        for part, (cells, k, _) in zip(self.parts, arrays):
            expect(part.cells == cells and part.values == [k, 6 if cells >= 64 else 0], "shape of a part")


class Folding:
    def __init__(self, state):
        fold, low, high = whole(state, "fold", "low", "high")
        self.base, = only_parts(state, 1, "bloom", "counting")
        self.k, self.group = (v for _, v in state["parts"][0]["params"][:2])
        base = self.base.array
        groups = base["cells"] >> self.group
        expect(1 <= fold <= groups and groups % fold == 0, "fold")
        expect(1 <= low < high <= 2**64 - 1, "interval")
        self.face = [0] * (base["cells"] // fold)
        for j in range(len(self.face)):
            g, c = j >> self.group, j & 2**self.group - 1
            self.face[j] = any(cell(base, ((g * fold + i) << self.group) + c) for i in range(fold))
        if state["parts"][0]["kind"] == "counting":
            self.count = self.base.count

    def has(self, h1, h2, key=None):
        return all(self.face[i] for i in positions.bloom(h1, h2, len(self.face), self.k, self.group))


class Window:
    def __init__(self, state):
        self.k, self.l, self.group, limit, ticks, now = whole(state, "k", "l", "group", "limit", "ticks", "now")
        self.array = only_plane(state, 1)
        expect(1 <= self.k <= 255 and 1 <= self.l <= 255 and self.k + self.l <= 256, "k or l")
        self.n = self.k + self.l
        expect(self.group in (0, 6) and self.array["cells"] % (self.n * 2**self.group) == 0, "group or cells")
        self.s = self.array["cells"] // self.n
        expect(1 <= limit <= self.s, "limit")
        expect(ticks or now <= 2**62, "now")
        self.generation = now // ticks if ticks else now

    def has(self, h1, h2, key=None):
        return any(all(self.is_set(h1, h2, (self.generation - age) % self.n) for age in range(first, first + self.k))
                   for first in range(self.l + 1))

    def is_set(self, h1, h2, i):
        return cell(self.array, i * self.s + positions.position(positions.value(h1, h2, i), self.s, self.group))


class RedisBloom(Row):
    def __init__(self, state):
        expansion, options = whole(state, "expansion", "options")
        expect(options in (4, 5, 12, 13), "options")
        expect(expansion < 2**32 and (expansion or options & 8), "expansion")
        self.parts = only_parts(state, 65535, "redisbloom-layer")
        expect(sum(part.entries for part in self.parts) < 2**64, "entries")


class Sparse:
    def __init__(self, state):
        self.m, self.group = whole(state, "m", "group")
        expect(1 <= self.m <= 2**56, "m")
        check_grouped(self.m, 1, self.group)
        expect(len(state["arrays"]) == 2 and not state["parts"], "arrays and parts")
        high, low = state["arrays"]
        expect(high["width"] == low["width"] == 1, "width")
        ones = [i for i in range(high["cells"]) if cell(high, i)]
        n = len(ones)
        expect(n <= self.m, "positions")
        l = (self.m // n).bit_length() - 1 if n else (self.m - 1).bit_length()
        expect(high["cells"] == n + ((self.m - 1) >> l) + 1 and low["cells"] == n * l, "lengths")
        expect(not cell(high, high["cells"] - 1), "last high bit")
        self.positions = []
        for i, at in enumerate(ones):
            bits = sum(cell(low, i * l + j) << j for j in range(l))
            self.positions.append((at - i) << l | bits)
        rising = zip(self.positions, self.positions[1:] + [self.m])
        expect(all(a < b for a, b in rising), "order")

    def has(self, h1, h2, key=None):
        (at,) = positions.bloom(h1, h2, self.m, 1, self.group)
        return at in self.positions


class Ribbon:
    def __init__(self, state):
        self.steps, self.low, self.keys, listed = whole(state, "steps", "low", "keys", "listed")
        expect(1 <= self.steps <= 8192 and not state["parts"], "steps or parts")
        arrays = list(state["arrays"])
        self.shards, self.listed = [], set()
        self.columns, first = self.steps // 256, 0
        if self.keys:
            expect(len(arrays) >= 2, "arrays")
            self.solution, table = arrays.pop(0), arrays.pop(0)
            expect(table["width"] == 32 and table["cells"] >= 1 and self.solution["width"] == 1, "widths")
            for i in range(table["cells"]):
                slots, seed = divmod(cell(table, i), 256)
                expect(slots >= (1 if table["cells"] == 1 else 128), "slots")
                self.shards.append((first, slots, seed))
                first += slots
            blocks = -(-first // 64)
            expect(self.low <= blocks, "low")
            size = 64 * (self.columns * blocks + blocks - self.low)
            expect(self.solution["cells"] == size > 0, "solution")
            expect(self.columns + (self.low < blocks) <= 32, "columns")
        else:
            expect(self.low == 0, "low")
        if listed:
            expect(len(arrays) >= 1, "list")
            digests = arrays.pop(0)
            expect(digests["width"] == 64 and digests["cells"] == 2 * listed, "list")
            self.listed = {(cell(digests, 2 * i), cell(digests, 2 * i + 1)) for i in range(listed)}
            expect(len(self.listed) == listed, "a digest twice")
        expect(not arrays, "arrays")

    def slot(self, block, column, i):
        return cell(self.solution, (block * self.columns + max(block - self.low, 0) + column) * 64 + i)

    def solved(self, h1, h2):
        want = positions.value(h1, h2, 0)
        first, slots, seed = self.shards[positions.in_range(want, len(self.shards))]
        draw = positions.in_range(positions.value(h1, h2, 1 + 3 * seed), slots + 1) - 64
        at = first + max(min(draw, slots - 128), 0)
        row = positions.value(h1, h2, 2 + 3 * seed) | positions.value(h1, h2, 3 + 3 * seed) << 64
        for j in range(self.columns + (at // 64 >= self.low)):
            answer = want >> j & 1
            for i in range(min(128, slots)):
                if row >> i & 1:
                    answer ^= self.slot((at + i) // 64, j, (at + i) % 64)
            if answer:
                return False
        return True

    def has(self, h1, h2, key=None):
        return bool(self.keys) and self.solved(h1, h2) or (h1, h2) in self.listed


class RedisBloomLayer:
    def __init__(self, state):
        numbers = {"params": state["params"][:4]}
        capacity, self.entries, self.k, n2 = whole(numbers, "capacity", "entries", "k", "n2")
        names, values = zip(*state["params"][4:]) if state["params"][4:] else ((), ())
        expect(names == ("error-rate", "bits-per-key") and all(isinstance(v, float) for v in values), "floats")
        rate, bits_per_key = values
        expect(capacity >= 1 and 0 < rate < 1, "capacity or rate")
        expect(0 < bits_per_key < 1550 and self.k == math.ceil(0.693147180559945 * bits_per_key), "k")
        self.array = only_plane(state, 1)
        self.cells = self.array["cells"]
        expect(self.cells % 64 == 0 and n2 <= 56 and (n2 == 0 or self.cells == 2**n2), "cells")

    def has(self, h1, h2):
        return all(cell(self.array, (h1 + i * h2 & positions.MASK) % self.cells) for i in range(self.k))


class Union(Row):
    def __init__(self, state):
        whole(state)
        kinds = [kind for kind in KINDS if kind not in ("union", "weighted", "weighted-counting")]
        self.parts = mixed_parts(state, 1024, *kinds)


KINDS = {
    "bloom": Bloom, "partitioned": Partitioned, "blocked": Blocked, "splitblock": SplitBlock,
    "counting": Counting, "weighted": Weighted, "weighted-counting": WeightedCounting,
    "scalable": Scalable, "dynamic": Dynamic,
    "incremental": Incremental, "folding": Folding, "window": Window, "redisbloom": RedisBloom,
    "ribbon": Ribbon, "sparse": Sparse, "union": Union, "squid": Squid, "nixbloom": NixBloom,
    "imported": Imported,
}
PARTS = KINDS | {"redisbloom-layer": RedisBloomLayer}
# Kinds whose positions are in vectors: what locates, by the cells and the parameters.
LOCATE = {
    "bloom": positions.bloom, "partitioned": positions.partitioned,
    "blocked": positions.blocked, "splitblock": positions.splitblock,
    "squid": positions.squid,
    "counting": lambda h1, h2, m, k, group, copied: positions.bloom(h1, h2, m, k, group),
    "weighted": positions.bloom,  # of one class
    "weighted-counting": lambda h1, h2, m, k, group, copied: positions.bloom(h1, h2, m, k, group),
    "nixbloom": positions.nixbloom,
    "imported": positions.imported,
}
