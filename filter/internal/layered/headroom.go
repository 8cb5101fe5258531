package layered

import "github.com/umbel-filters/umbel/cells"

// Headroom is a lower bound on the number of keys that an array accepts before it is full.
// It counts the cells only when the keys added since the last count could have filled the
// array, which for an array of n keys is about log2 n times in all. Whether the array is
// full depends on its cells alone, not on the times of the counts. The zero Headroom is
// unknown and requires a count.
type Headroom struct {
	keys  uint64
	known bool
}

// Remaining returns a number of keys of k cells each that can be added to a before full of
// its cells are nonzero. It is 0 if full cells are nonzero, and at least 1 otherwise.
func (h *Headroom) Remaining(a cells.Array, full uint64, k int) uint64 {
	if !h.known {
		h.known, h.keys = true, 0
		if nonzero := a.Nonzero(); nonzero < full {
			h.keys = max(1, (full-1-nonzero)/uint64(k))
		}
	}
	return h.keys
}

// Consume records that n keys were added.
func (h *Headroom) Consume(n uint64) {
	if h.keys > 0 {
		h.keys -= min(n, h.keys)
		h.known = h.keys > 0
	}
}

// Invalidate records that cells may have become zero.
func (h *Headroom) Invalidate() { *h = Headroom{} }
