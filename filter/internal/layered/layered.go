// Package layered provides the common parts of kinds whose filters consist of layers of
// bits: a query tests all layers, an addition goes to the last one, and a layer is full when
// a given number of its bits is set.
package layered

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Max is the largest number of layers of a filter: each is a state, and so is the filter.
const Max = umbel.MaxStates - 1

// CheckCount returns an error that wraps umbel.ErrLimit if a filter of a kind cannot have n layers.
func CheckCount(kind string, n int) error {
	if n > Max {
		return sentinel.Errorf(umbel.ErrLimit, "%s: %d layers, want at most %d: start another filter", kind, n, Max)
	}
	return nil
}

// Layer is one of the filters of a list.
type Layer struct {
	Bits arrays.Bits
	Full uint64 // set bits from which on the layer accepts no more keys
}

// List is a list of layers, the oldest first. Has and HasAll are safe to call
// concurrently; changes require exclusive access. The zero List has no layers and contains
// nothing.
type List struct {
	layers   []Layer
	heads    []head // of the layers, the newest first; empty unless all have one
	headroom Headroom
}

// Set replaces the layers.
func (l *List) Set(layers []Layer) {
	l.layers, l.heads, l.headroom = layers, headsOf(layers), Headroom{}
}

// Append adds a last layer, to which additions go from then on.
func (l *List) Append(layer Layer) { l.Set(append(l.layers, layer)) }

// Len returns the number of layers.
func (l *List) Len() int { return len(l.layers) }

// Bits returns layer i, the oldest being 0.
func (l *List) Bits(i int) *arrays.Bits { return &l.layers[i].Bits }

// Clear removes all keys and all layers except the first.
func (l *List) Clear() {
	if len(l.layers) > 0 {
		l.layers[0].Bits.Clear()
		l.Set([]Layer{l.layers[0]}) // and release the others
	}
}

// Has reports whether a layer has d. It checks the newest layer first: if layers grow by a
// factor, it has most keys.
func (l *List) Has(d umbel.Digest) bool { return l.oldestHave(len(l.layers), d) }

// oldestHave reports whether one of the n oldest layers has d.
func (l *List) oldestHave(n int, d umbel.Digest) bool {
	if len(l.heads) > 0 {
		return anyHas(l.heads[len(l.heads)-n:], d)
	}
	for i := n - 1; i >= 0; i-- {
		if l.layers[i].Bits.Has(d) {
			return true
		}
	}
	return false
}

// IsFull reports whether the last layer is full.
func (l *List) IsFull() bool { return l.remaining() == 0 }

func (l *List) remaining() uint64 {
	last := &l.layers[len(l.layers)-1]
	return l.headroom.Remaining(last.Bits.Cells(), last.Full, last.Bits.Shape().K)
}

// Add adds d unless a layer has it, and reports whether it did. If the last layer is full
// and grow returns an error, the last layer takes d. Add panics if there are no layers.
func (l *List) Add(d umbel.Digest, grow func() error) bool {
	changed, err := l.TryAdd(d, grow)
	return changed || err != nil && l.put(d)
}

// TryAdd adds d unless a layer has it, and reports whether it did. If the last layer is
// full it calls grow, which appends a layer. If grow returns an error, d is not added and
// TryAdd returns that error. It panics if there are no layers.
func (l *List) TryAdd(d umbel.Digest, grow func() error) (bool, error) {
	l.MustInit()
	if l.Has(d) {
		return false, nil
	}
	if l.IsFull() {
		if err := grow(); err != nil {
			return false, err
		}
	}
	return l.put(d), nil
}

// put adds d to the last layer, even if it is full, and reports whether a bit changed.
func (l *List) put(d umbel.Digest) bool {
	changed := l.layers[len(l.layers)-1].Bits.Add(d)
	if changed {
		l.headroom.Consume(1)
	}
	return changed
}

// MustInit panics if there are no layers.
func (l *List) MustInit() {
	if len(l.layers) == 0 {
		panic(probe.AddToZero)
	}
}

// head finds the first bits of a key in a layer. All layers use the same stream: its first
// values are computed once for the list, and only in the layers with these bits set, one in
// eight if half full, are the others checked.
type head struct {
	words  []uint64
	groups uint64
	stride uint64 // words from one slice to the next, 0 if not sliced
	bits   probe.Bits
}

// headProbes is the number of bits of a head. With two, misses took 1.3 times as long.
const headProbes = 3

// headsOf returns the heads of layers, the newest first. It returns none if a layer has
// fewer bits per key or groups that are not words.
func headsOf(layers []Layer) []head {
	heads := make([]head, 0, len(layers))
	for i := len(layers) - 1; i >= 0; i-- {
		a := layers[i].Bits.Array()
		if a.Shape.Group != arrays.WordGroup || a.Shape.K < headProbes {
			return nil
		}
		h := head{words: a.Cells.Words, groups: a.Mapping().Groups, bits: a.Probe(a.Shape.K)}
		if a.Kind.Sliced {
			h.stride = h.groups
		}
		heads = append(heads, h)
	}
	return heads
}

// anyHas reports whether one of the layers has d.
func anyHas(heads []head, d umbel.Digest) bool {
	s := probe.Start(d)
	u, s := s.Next()
	v, s := s.Next()
	w, _ := s.Next()
	for i := range heads {
		h := &heads[i]
		set := h.words[probe.Reduce(u, h.groups)] >> (u & 63)
		set &= h.words[h.stride+probe.Reduce(v, h.groups)] >> (v & 63)
		set &= h.words[2*h.stride+probe.Reduce(w, h.groups)] >> (w & 63)
		if set&1 != 0 && h.bits.Has(d) {
			return true
		}
	}
	return false
}

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
