"""codings.md: counters, and cells given the base or their fold."""

from codings import Strings, expect, leb128, take_positions


def rare(payload, n, width):
    """Returns the numbers of the cells of a run that aren't zero, and their values."""
    length, start = leb128(payload, 0)
    expect(length <= min(n, 2**19), "length")
    if length == 0:
        expect(start == len(payload), "something is left over")
        return []
    head = 1 if width == 1 else 2
    expect(len(payload) >= start + head, "cut off")
    low, most = payload[start], payload[start + 1] if width > 1 else 0
    expect(low <= 31 and most < width, "low bits or lengths")
    strings = Strings(payload[start + head:], 2 + 2 * most)
    gaps = strings.take(length)
    count = sum(gaps)
    expect(gaps[-1] == 1 and count <= 2**14, "gaps")
    bits = strings.take(count * low)
    at, zeros, cells = 0, 0, []
    for bit in gaps:
        if not bit:
            zeros += 1
            continue
        first = len(cells) * low
        at += (zeros << low) + sum(bits[first + i] << i for i in range(low))
        expect(at < n, "a cell beyond the end")
        cells.append(at)
        at, zeros = at + 1, 0
    values = numbers(strings, count, most)
    strings.end()
    return list(zip(cells, values))


def counters(payload, n, width):
    header, start = leb128(payload, 0)
    t, most = header % 16, header // 16
    expect(t < 2**width and most < width and (t or not most), "header")
    strings = Strings(payload[start:], t + 2 * most)
    cells = [0] * n
    high = range(n)
    for _ in range(t):
        high = strings.pick(high)
        for i in high:
            cells[i] += 1
    for i, number in zip(high, numbers(strings, len(high), most)):
        cells[i] += number - 1
        expect(cells[i] < 2**width, "more than a counter can be")
    strings.end()
    return cells


def numbers(strings, count, most):
    """Returns a list of count numbers whose largest length is most."""
    longer = [range(count)]  # for each length from 0 on, the numbers of at least that length
    for s in range(most):
        longer.append(strings.pick(longer[s]))
    values = [1] * count
    for j in range(most):
        ones = set(strings.pick(longer[j + 1]))
        for i in longer[j + 1]:
            values[i] = 2 * values[i] + (i in ones)
    return values


def given(payload, old, width):
    return bits_given(payload, old) if width == 1 else counters_given(payload, old, width)


def listed(payload, old, width):
    """Returns the cells of a run, some of which the payload lists."""
    cells = list(old)
    expect(len(payload) > 0 and payload[0] <= 64, "words of a group")
    words, payload = payload[0], payload[1:]
    if words == 0 and width == 1:
        changes = []
        for was in (1, 0):
            indices = [i for i, bit in enumerate(old) if bit == was]
            ranks, payload = take_positions(payload, len(old))
            expect(not ranks or ranks[-1] < len(indices), "beyond the last one or zero")
            changes += [indices[rank] for rank in ranks]
        expect(changes and not payload, "no changes, or something is left over")
        for i in changes:
            cells[i] = 1 - old[i]
        return cells
    size = max(1, words * 64 // width)
    groups, payload = take_positions(payload, -(-len(old) // size))
    expect(groups and len(groups) * size * width <= 2**25, "groups")
    indices = [i for group in groups for i in range(group * size, min((group + 1) * size, len(old)))]
    for i, cell in zip(indices, given(payload, [old[i] for i in indices], width)):
        cells[i] = cell
    return cells


def gapped(payload, old):
    """Returns the bits of a run, some of which the payload lists by the gaps between them."""
    most = 2**10 + 64 * len(payload)
    heads, start = [], 0
    for _ in range(2):
        length, start = leb128(payload, start)
        expect(length <= min(len(old), most), "length")
        low = 0
        if length:
            expect(start < len(payload) and payload[start] <= 57, "low bits")
            low, start = payload[start], start + 1
        heads.append((length, low))
    expect(heads[0][0] + heads[1][0] > 0, "no changes")
    strings, cells = Strings(payload[start:], 4), list(old)
    for was, (length, low) in zip((1, 0), heads):
        indices = [i for i, bit in enumerate(old) if bit == was]
        gaps = strings.take(length)
        expect(not gaps or gaps[-1] == 1 and sum(gaps) * low <= most, "gaps")
        bits = strings.take(sum(gaps) * low)
        at, zeros, first = 0, 0, 0
        for bit in gaps:
            if not bit:
                zeros += 1
                continue
            at += (zeros << low) + sum(bits[first + i] << i for i in range(low))
            expect(at < len(indices), "beyond the last one or zero")
            cells[indices[at]] = 1 - was
            at, zeros, first = at + 1, 0, first + low
    strings.end()
    return cells


def bits_given(payload, old):
    strings, cells = Strings(payload, 2), list(old)
    for was in (1, 0):
        for i in strings.pick([i for i, bit in enumerate(old) if bit == was]):
            cells[i] = 1 - was
    strings.end()
    return cells


def counters_given(payload, old, width):
    expect(len(payload) >= 2 and max(payload[:2]) < width, "header")
    rises, falls = payload[:2]
    strings = Strings(payload[2:], 7 + 2 * rises + 2 * falls)
    classes = [[i for i, value in enumerate(old) if min(value, 3) == c] for c in range(4)]
    changed = [strings.pick(indices) for indices in classes]
    up = set(changed[0])
    for indices in changed[1:]:
        up.update(strings.pick(indices))
    down = set(changed[2] + changed[3]) - up
    cells = list(old)
    for i in set(changed[1]) - up:
        cells[i] = 0
    for i, number in zip(sorted(up), numbers(strings, len(up), rises)):
        cells[i] += number
        expect(cells[i] < 2**width, "more than a counter can be")
    for i, number in zip(sorted(down), numbers(strings, len(down), falls)):
        cells[i] -= number
        expect(cells[i] >= 0, "less than nothing")
    strings.end()
    return cells


def refined(payload, fold, factor):
    """Returns the siblings of a unit's cells, sibling j in row j."""
    primes = []
    while factor > 1:
        primes.append(next(p for p in range(2, factor + 1) if factor % p == 0))
        factor //= primes[-1]
    strings = Strings(payload, sum(primes))
    rows, siblings = list(fold), [0]  # the rows, one after the other, and their siblings
    for p in primes:
        parts = [[0] * len(rows) for _ in range(p)]
        left, seen = [i for i, bit in enumerate(rows) if bit], []
        again = []  # for each part from 1 on, the cells for which a lower part has a one
        for part in parts[:-1]:
            ones = strings.pick(left)
            for i in ones:
                part[i] = 1
            left = sorted(set(left) - set(ones))
            seen = sorted(seen + ones)
            again.append(seen)
        for i in left:
            parts[-1][i] = 1
        for s, i in strings.pick([(s, i) for s, indices in enumerate(again, 1) for i in indices]):
            parts[s][i] = 1
        rows = sum(parts, [])
        siblings = [j * p + s for s in range(p) for j in siblings]
    strings.end()
    return [rows[at * len(fold):(at + 1) * len(fold)] for at in map(siblings.index, range(len(siblings)))]
