"""The hash tree of container.md and share.md (RFC 9162, section 2.1.1)."""

import hashlib


def leaves(data, size):
    """Returns the hashes of the leaves of data, which have size bytes; the last one has the rest."""
    return [hashlib.sha256(b"\0" + data[i:i + size]).digest() for i in range(0, len(data), size)]


def root(nodes):
    """Returns the root of the tree over nodes."""
    if len(nodes) < 2:
        return nodes[0] if nodes else hashlib.sha256().digest()
    left = 1 << (len(nodes) - 1).bit_length() - 1  # the largest power of two below their number
    return hashlib.sha256(b"\1" + root(nodes[:left]) + root(nodes[left:])).digest()


def verify(top, node, i, n, path):
    """Reports whether node i of the n nodes of a level is below the root top."""
    if i >= n:
        return False
    last = n - 1
    for other in path:
        if last == 0:
            return False
        if i % 2 == 1 or i == last:
            node = hashlib.sha256(b"\1" + other + node).digest()
            while i % 2 == 0 and i > 0:
                i, last = i // 2, last // 2
        else:
            node = hashlib.sha256(b"\1" + node + other).digest()
        i, last = i // 2, last // 2
    return last == 0 and node == top
