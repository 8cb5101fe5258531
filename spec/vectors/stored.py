"""inpacket.md: codewords that are stored for dense headers."""

import struct

from positions import MASK, value


class BadDesign(Exception):
    pass


def expect(ok, what):
    if not ok:
        raise BadDesign(what)


def lipsin(h1, h2, number, m, k):
    bits = 0
    for i in range(k):
        n = m - k + i
        b = value(h1, h2, (number << 12) + i) * (n + 1) >> 64
        if bits >> b & 1:
            b = n
        bits |= 1 << b
    return bits


class Design:
    def __init__(self, text):
        self.rest = text
        expect(self.take(4) == b"uad\x01", "version")
        self.objective, self.method = self.take(2)
        expect(self.objective < 2 and self.method < 4, "objective or method")
        (self.rate,) = struct.unpack(">d", self.take(8))
        expect(0 < self.rate < 1, "rate")
        self.k, self.least = self.number(), self.number()
        expect(1 <= self.k <= 255 if self.objective else self.k == 0, "k")
        links = self.number()
        expect(1 <= links <= 4096, "links")
        self.ends = []
        for _ in range(links):
            self.ends.append(self.number() + (self.ends[-1] if self.ends else 0))
            expect(1 <= self.ends[-1] <= 65535, "lengths")
        self.bits = self.ends[-1]
        expect(self.least <= self.ends[0] and (not self.objective or self.least <= self.k), "least")
        runs = []
        for _ in range(self.number()):
            positions, odds = self.number(), int.from_bytes(self.take(8), "big")
            expect(positions > 0 and odds > 0 and (not runs or runs[-1][1] != odds), "run")
            runs.append((positions, odds))
        expect(sum(n for n, _ in runs) == self.bits, "positions")
        expect(not self.objective or sum(n * odds for n, odds in runs) <= 1 << 64, "odds")
        self.odds = [odds for n, odds in runs for _ in range(n)]
        count = self.number()
        expect(count in (0, links), "weights")
        weights = [self.number() for _ in range(count)]
        expect(not weights or weights[-1] > 0 and sum(weights) <= 1 << 53, "weights")
        expect(not self.rest, "bytes behind")

    def take(self, n):
        expect(n <= len(self.rest), "cut off")
        taken, self.rest = self.rest[:n], self.rest[n:]
        return taken

    def number(self):
        n, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            n |= (byte & 127) << shift
            if byte < 128:
                expect((byte or not shift) and n < 1 << 64, "a number")
                return n
            shift += 7

    def codeword(self, h1, h2, number):
        draws = mixed(h1, h2, number << 12)
        for _ in range(32):
            bits = self.hashed(draws) if self.objective else self.independent(draws)
            if bin(bits & (1 << self.ends[0]) - 1).count("1") >= self.least:
                break
        return bits

    def hashed(self, draws):
        bits = 0
        for _ in range(self.k):
            v = next(draws)
            for j, odds in enumerate(self.odds):
                if v < odds:
                    bits |= 1 << j
                    break
                v -= odds
        return bits

    def independent(self, draws):
        bits, alive, u = 0, MASK, None
        for j, odds in enumerate(self.odds):
            if u is None:
                u = next(draws) * alive >> 64
            alive = max(0, alive - (alive * odds >> 64) - 1)
            if alive <= u:
                bits |= 1 << j
                u = None
            if alive < 1 << 44:
                alive, u = MASK, None
        return bits


def mixed(h1, h2, i):
    while True:
        z = value(h1, h2, i)
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31
        i += 1
