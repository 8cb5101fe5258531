"""codings.md: strings of bits, and positions."""

import functools


class Corrupt(Exception):
    pass


def expect(ok, what):
    if not ok:
        raise Corrupt(what)


def leb128(data, at):
    """Returns the number at data[at:], and its end."""
    number, shift = 0, 0
    while True:
        expect(at < len(data), "cut off")
        byte = data[at]
        number |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            expect(number < 2**64 and (byte or shift == 7), "number too large, or not in its shortest form")
            return number, at


# Strings of bits

def ceil(a, b):
    return -(-a // b)


@functools.cache
def gaps(p):
    """Returns b and the table of symbols; the last of them is the escape."""
    b = 0
    while p * 2**(b + 1) <= 4096:
        b += 1
    ratio = (65536 - p) * 2**48
    for _ in range(b):
        ratio = ratio * ratio >> 64
    cum, chance, before = [0], ratio, 65536
    while True:
        after = (chance + 2**47) >> 48
        if before - after < 4:
            return b, cum + [65536]
        cum.append(65536 - after)
        before, chance = after, chance * ratio >> 64


@functools.cache
def octets(p):
    """Returns the table of bytes."""
    often = [max(1, (p**w * (65536 - p)**(8 - w) + 2**111) >> 112) for w in range(9)]
    often = [often[v.bit_count()] for v in range(256)]
    often[0] = 65536 - sum(often[1:])
    cum = [0]
    for frequency in often:
        cum.append(cum[-1] + frequency)
    return cum


class Strings:
    """Reads n strings of bits from a payload, one after the other."""

    def __init__(self, payload, n):
        expect(len(payload) >= n, "levels cut off")
        self.levels, left = list(payload[:n]), payload[n:]
        state = len(left) if len(left) < 8 else 4 + len(left) % 4
        self.x = int.from_bytes(left[:state], "little")
        expect(state == 0 or left[state - 1], "the state's last byte is zero")
        self.words = [int.from_bytes(left[i:i + 4], "little") for i in range(state, len(left), 4)][::-1]
        self.refill()

    def end(self):
        expect(not self.levels and not self.words and self.x == 0, "something is left over")

    def refill(self):
        if self.x < 2**31 and self.words:
            self.x = self.x << 32 | self.words.pop()

    def symbol(self, cum):
        lo, hi, x = 0, len(cum) - 1, self.x
        plain = x >= 2**31
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if plain:
                upper = x % 65536 >= cum[mid]
            else:
                a, d = cum[hi] - cum[mid], cum[hi] - cum[lo]
                ones = ceil(x * a, d)
                upper = ceil((x + 1) * a, d) > ones
                x = ones if upper else x - ones
            lo, hi = (mid, hi) if upper else (lo, mid)
        if plain:
            x = (cum[lo + 1] - cum[lo]) * (x >> 16) + x % 65536 - cum[lo]
        self.x = x
        return lo

    def take(self, length):
        """Returns the next string, a number for each bit."""
        level = self.levels.pop(0)
        if level == 0:
            return [0] * length
        expect(length > 0, "a level for no bits")
        s = level if level <= 181 else 181 * (level - 181) // 74
        bits = self.dense(s * s, length) if s >= 100 else self.sparse(s * s, length)
        return bits if level <= 181 else [1 - bit for bit in bits]

    def pick(self, indices):
        """Takes a string with a bit for each index, returns the indices with a one."""
        return [i for i, bit in zip(indices, self.take(len(indices))) if bit]

    def sparse(self, p, length):
        b, cum = gaps(p)
        last = len(cum) - 2
        bits, at = [0] * length, 0
        while at < length:
            table, end = cum, None
            if length - at <= last << b:
                end = ceil(length - at, 2**b)
                table = cum[:end + 1] + [65536]
            symbol = self.symbol(table)
            if symbol == end:
                at = length
            elif symbol == last:
                at += last << b
            else:
                at += symbol << b | self.x % 2**b
                self.x >>= b
                expect(at < length, "a gap beyond the end")
                bits[at] = 1
                at += 1
            self.refill()
        return bits

    def dense(self, p, length):
        cum, bits = octets(p), []
        while len(bits) < length:
            n = min(8, length - len(bits))
            symbol = self.symbol(cum[::2**(8 - n)])
            self.refill()
            bits += [symbol >> i & 1 for i in range(n)]
        return bits


# Payloads

def bits(payload, n):
    strings = Strings(payload, 1)
    cells = strings.take(n)
    strings.end()
    return cells


def positions(payload, n):
    ones, rest = take_positions(payload, n)
    expect(not rest, "something is left over")
    cells = [0] * n
    for at in ones:
        cells[at] = 1
    return cells


def take_positions(payload, n):
    """Returns the positions of the ones, and the bytes after their code."""
    ones, at = [], -1
    count, start = leb128(payload, 0)
    expect(count <= n, "more ones than cells")
    if count == 0:
        return ones, payload[start:]
    expect(start < len(payload), "cut off")
    k = payload[start]
    expect(k <= 63, "k")
    code = payload[start + 1:]
    stream, used = int.from_bytes(code, "little"), 0
    for _ in range(count):
        expect(stream > 0, "cut off")
        high = (stream & -stream).bit_length() - 1
        at += 1 + (high << k | stream >> high + 1 & (1 << k) - 1)
        stream >>= high + 1 + k
        used += high + 1 + k
        expect(used <= 8 * len(code), "cut off")
        expect(at < n, "a one beyond the end")
        ones.append(at)
    expect(stream & (1 << -used % 8) - 1 == 0, "something is left over")
    return ones, code[(used + 7) // 8:]
