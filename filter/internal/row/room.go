package row

import "github.com/umbel-filters/umbel/cells"

// Room is how many keys can come to an array before it may be full. To know it the
// cells are counted, but only when the keys that came since the last count could have
// filled the array: for an array of n keys about log2 n times in all. Whether it is
// full depends on its cells alone, not on when they were counted. The zero Room is
// unknown, to be counted.
type Room struct {
	left  uint64
	known bool
}

// Left returns how many keys, of k cells each, can be added to a for certain until
// full of its cells aren't zero: 0 if so many are, at least 1 otherwise.
func (r *Room) Left(a cells.Array, full uint64, k int) uint64 {
	if !r.known {
		r.known, r.left = true, 0
		if nonzero := a.Nonzero(); nonzero < full {
			r.left = max(1, (full-1-nonzero)/uint64(k))
		}
	}
	return r.left
}

// Took says that n keys came.
func (r *Room) Took(n uint64) {
	if r.left > 0 {
		r.left -= min(n, r.left)
		r.known = r.left > 0
	}
}

// Forget says that cells may have become zero.
func (r *Room) Forget() { *r = Room{} }
