package siblings

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/share"
)

// summary is the filter of a set as it is published: of kind bloom with one cell per key, since its deltas are the smallest.
// Its methods must not be called concurrently; the set may be changed meanwhile.
type summary struct {
	held     *Held
	rate     float64 // of false positives, at most
	capacity uint64  // keys with which the filter has this rate
	filter   *bloom.Filter
	cells    cells.Array
	words    []uint64 // numbers of the words that changed since the last version
	whole    bool     // all words may have changed
	size     int      // keys at the last update
}

// leastCapacity is that of a small set. Capacities are powers of two: a filter of another size has no delta.
const leastCapacity = 1 << 10

// update changes the filter to what the set contains now, and reports whether it has changed. The words that have
// changed are listed for publish.
func (s *summary) update() (bool, error) {
	h := s.held
	h.mu.Lock()
	defer h.mu.Unlock()
	s.size = h.set.n
	n := uint64(h.set.n)
	if s.filter == nil || n > s.capacity || s.capacity > leastCapacity && n < s.capacity/8 || h.all {
		return true, s.rebuild(n)
	}
	changed := false
	for _, hash := range h.changed {
		cell := probe.Reduce(hash, s.cells.Len)
		low, high := hashesOf(cell, s.cells.Len)
		if h.set.within(low, high) != s.cells.Bit(cell) {
			s.cells.Words[cell/64] ^= 1 << (cell % 64)
			s.words = append(s.words, cell/64)
			changed = true
		}
	}
	h.changed = h.changed[:0]
	return changed, nil
}

// rebuild makes the filter from all n hashes of the set.
func (s *summary) rebuild(n uint64) error {
	s.capacity = max(leastCapacity, uint64(1)<<bits.Len64(n-min(n, 1)))
	m := (uint64(math.Ceil(float64(s.capacity)/s.rate)) + 63) &^ 63
	f, err := bloom.NewShape(bloom.Shape{M: m, K: 1, Hasher: s.held.hasher})
	if err != nil {
		return err
	}
	s.filter, s.cells, s.words, s.whole = f, f.State().Arrays[0], s.words[:0], true
	for _, e := range s.held.set.entries {
		if e.until != 0 {
			cell := probe.Reduce(e.hash, m)
			s.cells.Words[cell/64] |= 1 << (cell % 64)
		}
	}
	s.held.changed, s.held.all = s.held.changed[:0], false
	return nil
}

// hashesOf returns the lowest and the highest hash that fall into a cell of m.
func hashesOf(cell, m uint64) (low, high uint64) {
	first := func(cell uint64) uint64 { // ⌈cell·2^64/m⌉
		q, r := bits.Div64(cell, 0, m)
		if r > 0 {
			q++
		}
		return q
	}
	if cell+1 == m {
		return first(cell), math.MaxUint64
	}
	return first(cell), first(cell+1) - 1
}

// next returns the filter as the next version: all words may have changed in a new one, and otherwise those that update
// has listed since the last call.
func (s *summary) next() *share.Update {
	u := &share.Update{State: s.filter.State()}
	if !s.whole {
		slices.Sort(s.words)
		words := slices.Compact(s.words)
		u.Changed = func(int) iter.Seq[uint64] { return slices.Values(words) }
	}
	s.words, s.whole = nil, false
	return u
}
