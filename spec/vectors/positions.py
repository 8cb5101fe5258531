"""positions.md, and which cells a key sets by the pages of the kinds."""

MASK = 2**64 - 1


def value(h1, h2, i):
    x = h1 + i * 0x9E3779B97F4A7C15 & MASK
    y = h2 + i * 0xD6E8FEB86659FD93 & MASK
    return (x * y >> 64) ^ (x * y & MASK)


def in_range(v, m):
    return v * m >> 64


def position(v, m, log):
    return in_range(v, m >> log) << log | v & (1 << log) - 1


def bloom(h1, h2, m, k, group):
    return [position(value(h1, h2, i), m, group) for i in range(k)]


def partitioned(h1, h2, m, k, group):
    return [i * (m // k) + position(value(h1, h2, i), m // k, group) for i in range(k)]


def splitblock(h1, h2, m):
    salts = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
    block, x = (h1 >> 32) * (m // 256) >> 32, h1 & 0xFFFFFFFF
    return [block * 256 + i * 32 + (x * salt % 2**32 >> 27) for i, salt in enumerate(salts)]


def squid(h1, h2, m):
    return [word % m for h in (h1, h2) for word in (h >> 32, h & 0xFFFFFFFF)]


def nixbloom(h1, h2, m, k):
    return [(h1 + i * h2 & MASK) % m for i in range(k)]


def imported(h1, h2, m, form, k):
    low, high = h1 & 0xFFFFFFFF, h1 >> 32
    signed = lambda x, bits: x - 2**bits if x >> bits - 1 else x
    upward = lambda x: ~x if x < 0 else x
    if form == 1:
        return [(h1 + i * h2 & MASK >> 1) % m for i in range(k)]
    if form in (2, 3):
        a, b = (low, high) if form == 2 else (high, low)
        return [upward(signed(a + i * b & 0xFFFFFFFF, 32)) % m for i in range(1, k + 1)]
    if form == 4:
        a, b = signed(high, 32), signed(low, 32)
        return [upward(signed(a * (2**31 - 1) + i * b & MASK, 64)) % m for i in range(1, k + 1)]
    block, at = low * (m // 512) >> 32, []
    for i in range(1, k):
        high, low = high + low & 0xFFFFFFFF, low + i & 0xFFFFFFFF
        at.append(block * 512 + high % 512)
    return at


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
