"""Ed25519 (RFC 8032, section 5.1): verifies signatures, slowly."""

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493  # the order of the base point
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # a square root of -1


def decode(b):
    """Returns the point that 32 bytes encode, as x, y, z, xy/z, and None if they encode none."""
    y = int.from_bytes(b, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * ROOT % P
    if y >= P or (x * x - xx) % P or x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * p[3] * q[3] * D, 2 * p[2] * q[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(n, p):
    product = 0, 1, 1, 0
    while n:
        if n & 1:
            product = add(product, p)
        p, n = add(p, p), n >> 1
    return product


BASE = decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def verify(public, message, signature):
    if len(signature) != 64:
        return False
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    key, point = decode(public), decode(r)
    if key is None or point is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % L
    left, right = multiply(s, BASE), add(point, multiply(h, key))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0
