"""inpacket.md: headers, and the links that their filters hold."""

from positions import MASK, value

FOLD_BASE = 55440
SINGLE, STAGED, FOLDED, LINEAR, DENSE = range(5)
DEEP, COMPLEMENT = 6, 7
SPLITS = {  # by form and K: sections, and 1024ths
    LINEAR: [(1, 0)] + [(2, x) for x in (384, 352, 320, 288, 256, 224, 192)] + [(3, x) for x in (288, 256, 224, 192, 160)]
    + [(4, x) for x in (192, 160, 128)],
    DEEP: [(5, x) for x in (173, 165, 157, 148)] + [(6, x) for x in (148, 142, 136, 130)] + [(7, x) for x in (144, 130, 123, 116)]
    + [(8, x) for x in (126, 114, 102, 85)],
    COMPLEMENT: [(2, x) for x in (384, 352, 320, 288, 256, 224, 192, 160, 128, 112, 96, 80, 64, 48, 32, 16)],
}


class Malformed(Exception):
    pass


class Version(Exception):
    pass


def expect(ok, what):
    if not ok:
        raise Malformed(what)


# Keys

def rotate(x, n):
    return (x << n | x >> 64 - n) & MASK


def rounds(v, n):
    a, b, c, d = v
    for _ in range(n):
        a, c = a + b & MASK, c + d & MASK
        b, d = rotate(b, 13) ^ a, rotate(d, 16) ^ c
        a = rotate(a, 32)
        a, c = a + d & MASK, c + b & MASK
        d, b = rotate(d, 21) ^ a, rotate(b, 17) ^ c
        c = rotate(c, 32)
    return [a, b, c, d]


def siphash128(key, text):
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i:i + 8], "little")
        v[3] ^= word
        v = rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xEE
    v = rounds(v, 4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    v = rounds(v, 4)
    return low, v[0] ^ v[1] ^ v[2] ^ v[3]


def derive(key, label):
    return b"".join(word.to_bytes(8, "little") for word in siphash128(key, label))


def codeword(key, epoch):
    return siphash128(key, epoch.to_bytes(2, "big"))


# The header

class Header:
    def __init__(self, packet):
        expect(packet, "no byte")
        if packet[0] >> 4 != 1:
            raise Version(packet[0] >> 4)
        expect(len(packet) >= 12, "cut off")
        flags = packet[0] & 15
        expect(flags & 1 == 0, "reserved flag")
        self.ttl, self.k, self.form, self.seed = packet[1], packet[2] >> 4, packet[2] & 15, packet[3]
        self.bits = int.from_bytes(packet[4:6], "big")
        self.epoch = int.from_bytes(packet[6:8], "big")
        self.group = int.from_bytes(packet[8:12], "big")
        at = 12

        def take(n):
            nonlocal at
            expect(at + n <= len(packet), "cut off")
            at += n
            return packet[at - n:at]

        expect(self.bits > 0, "no bits")
        wide = flags >> 1 & 1
        if wide:
            high = take(1)[0]
            expect(high, "a seed of one byte in two")
            self.seed |= high << 8
        length = (self.bits + 7) // 8
        self.filter = int.from_bytes(take(length), "little")  # bit b of the filter is bit b of the number
        expect(self.filter >> self.bits == 0, "bits behind the last")
        expect(not any(take(-(wide + length) % 4)), "padding")
        self.source = self.sequence = self.room = None
        self.nodes = []
        if flags & 4:
            self.source, self.sequence = int.from_bytes(take(4), "big"), int.from_bytes(take(4), "big")
        if flags & 8:
            count, self.room, *rest = take(4)
            expect(count <= self.room and not any(rest), "a trace's head")
            nodes = [int.from_bytes(take(4), "big") for _ in range(self.room)]
            self.nodes = nodes[:count]
            expect(not any(nodes[count:]), "free room of a trace")
        self.size = at
        self.check()

    def check(self):
        expect(self.form <= DENSE or self.form in (DEEP, COMPLEMENT), "form")
        if self.form in (SINGLE, STAGED, FOLDED):
            expect(self.k > 0, "K")
        if self.form == DENSE:
            expect(self.k == 0, "K")
        if self.form == FOLDED:
            expect(self.seed == 0 and FOLD_BASE % self.bits == 0, "folded")
        if self.form == STAGED:
            expect(len(self.stages()) <= 255, "stages")

    def field(self, at, n):
        return self.filter >> at & (1 << n) - 1

    def stages(self):
        """Returns seed, first bit and length of each stage."""
        found, at = [], 0
        while at < self.bits:
            expect(at + 12 <= self.bits, "a stage's head")
            nibble, code = self.field(at, 4), self.field(at + 4, 8)
            length = code if code < 128 else 128 + (code - 128) * 4
            found.append((self.seed << 4 | nibble, at + 12, length))
            at += 12 + length
            expect(at <= self.bits, "a stage's bits")
        return found

    def ones(self):
        return bin(self.filter).count("1")

    def overfull(self):
        parts = [(self.filter, self.bits)]
        if self.form == STAGED:
            parts = [(self.field(first, length), length) for _, first, length in self.stages()]
        if self.form == COMPLEMENT and not all(self.field(first, length) for first, length in self.sections()):
            return True
        return any(4 * bin(part).count("1") > 3 * length for part, length in parts)

    # Which links it holds

    def holds(self, h1, h2):
        if self.form in SPLITS:
            return self.odd(h1, h2) != (self.form == COMPLEMENT)
        seed, first, m = self.seed, 0, self.bits
        if self.form == STAGED:
            if not 1 <= self.ttl <= len(self.stages()):
                return False
            seed, first, m = self.stages()[self.ttl - 1]
        return m > 0 and all(self.field(first + p, 1) for p in places(h1, h2, seed, self.k, m))

    def sections(self):
        """Returns first bit and length of each section."""
        sections, x = SPLITS[self.form][self.k]
        each = self.bits * x >> 10
        return [(p * each, each if p < sections - 1 else self.bits - p * each) for p in range(sections)]

    def odd(self, h1, h2):
        for p, (first, length) in enumerate(self.sections()):
            row = 0
            for w in range((length + 63) // 64):
                row |= value(h1, h2, (self.seed + (p >> 2 << 16) << 12) + ((p & 3) << 10) + w) << 64 * w
            if bin(row & self.field(first, length)).count("1") % 2 == 0:
                return False
        return True

    def holds_stored(self, stored):
        asked = stored & (1 << self.bits) - 1
        return asked != 0 and asked & ~self.filter == 0


def places(h1, h2, seed, k, m):
    found = []
    for j in range(k):
        v = value(h1, h2, (seed << 12) + j // 2)
        half = v >> 32 if j % 2 == 0 else v & 0xFFFFFFFF
        found.append(half * m >> 32)
    return found
