package siblings

import "math/bits"

// entry is a hash and the end of its validity, in milliseconds since 1970. In an empty slot of a table the end is 0.
type entry struct {
	hash  uint64
	until int64
}

// table is a set of hashes, 16 bytes each, with linear probing. A hash belongs to the slot of its highest bits.
// So hashes that are close to each other are in neighboring slots, and the table answers whether it contains
// one of a range: any hash that falls into a cell of a filter of any size. Hashes must not be chosen by clients.
type table struct {
	entries []entry // a power of two
	n       int
	shift   uint // 64 - log2 of the length
}

const leastSlots = 16

func newTable(slots int) table {
	return table{entries: make([]entry, slots), shift: uint(64 - bits.TrailingZeros(uint(slots)))}
}

// home returns the slot that a hash belongs to.
func (t *table) home(hash uint64) int { return int(hash >> t.shift) }

// slot returns the slot with a hash, or the empty one in which it would be put.
func (t *table) slot(hash uint64) (i int, found bool) {
	for i = t.home(hash); t.entries[i].until != 0; i = t.next(i) {
		if t.entries[i].hash == hash {
			return i, true
		}
	}
	return i, false
}

func (t *table) next(i int) int { return (i + 1) & (len(t.entries) - 1) }

// until returns the end of a hash, 0 if it is absent.
func (t *table) until(hash uint64) int64 {
	if t.n == 0 {
		return 0
	}
	i, _ := t.slot(hash)
	return t.entries[i].until
}

// put adds a hash, or replaces its end, and reports whether it was absent.
func (t *table) put(hash uint64, until int64) bool {
	if 5*(t.n+1) > 4*len(t.entries) {
		t.resize(max(2*len(t.entries), leastSlots))
	}
	i, found := t.slot(hash)
	t.entries[i] = entry{hash, until}
	if !found {
		t.n++
	}
	return !found
}

// remove removes a hash and reports whether it was present.
func (t *table) remove(hash uint64) bool {
	if t.n == 0 {
		return false
	}
	hole, found := t.slot(hash)
	if !found {
		return false
	}
	t.n--
	// Entries after the hole move up, unless that would be before their home.
	for i := t.next(hole); t.entries[i].until != 0; i = t.next(i) {
		mask := len(t.entries) - 1
		if (i-t.home(t.entries[i].hash))&mask >= (i-hole)&mask {
			t.entries[hole] = t.entries[i]
			hole = i
		}
	}
	t.entries[hole] = entry{}
	if len(t.entries) > leastSlots && 8*t.n < len(t.entries) {
		t.resize(len(t.entries) / 4)
	}
	return true
}

func (t *table) resize(slots int) {
	old := t.entries
	n := t.n
	*t = newTable(max(slots, leastSlots))
	t.n = n
	for _, e := range old {
		if e.until != 0 {
			i, _ := t.slot(e.hash)
			t.entries[i] = e
		}
	}
}

// from returns the first hash at or after the slot of a given one. The table must not be empty.
func (t *table) from(hash uint64) uint64 {
	i := t.home(hash)
	for t.entries[i].until == 0 {
		i = t.next(i)
	}
	return t.entries[i].hash
}

// within reports whether the table contains a hash from low to high.
func (t *table) within(low, high uint64) bool {
	if t.n == 0 {
		return false
	}
	i, ahead := t.home(low), t.home(high)-t.home(low)
	for ; ahead >= 0 || t.entries[i].until != 0; ahead-- {
		if e := t.entries[i]; e.until != 0 && e.hash >= low && e.hash <= high {
			return true
		}
		i = t.next(i)
	}
	return false
}
