package redisbloom

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// layer is one of the filters that a Filter consists of.
type layer struct {
	sizing
	capacity uint64  // entries before it is full
	entries  uint64  // additions that changed it
	rate     float64 // the error rate it was made for
	first    *uint64 // first word of the bits; nil before they are allocated
	scale    uint64  // doublehash.Scale(bits)
}

// array returns the bits of the layer.
func (l *layer) array() cells.Array { return cells.Array{Len: l.bits, Width: 1, Words: l.words()} }

// words returns the words of the bits. A slice in the layer would make every small filter 16 bytes
// larger.
func (l *layer) words() []uint64 {
	if l.first == nil {
		return nil
	}
	return unsafe.Slice(l.first, l.bits/64)
}

// allocate allocates the bits of the layer, all zero.
func (l *layer) allocate() error {
	a, err := cells.New(l.bits, 1)
	if err == nil {
		l.hold(a)
	}
	return err
}

// hold sets the layer's bits to a.
func (l *layer) hold(a cells.Array) {
	l.first, l.bits = &a.Words[0], a.Len
	l.scale = doublehash.Scale(l.bits)
}

// position returns v mod bits.
func (l *layer) position(v uint64) uint64 { return doublehash.Position(v, l.bits, l.scale) }

// together is the number of bits of a key that has reads before it branches. The first zero
// bit is unpredictable, and a mispredicted branch costs more than reading the other bits.
const together = 3

// has reports whether all bits of d are set.
func (l *layer) has(d umbel.Digest) bool {
	words, v := l.words(), d.H1
	for left := l.k; left > 0; left -= min(left, together) {
		all := uint64(1)
		for range min(left, together) {
			at := l.position(v)
			all &= words[at>>6] >> (at & 63)
			v += d.H2
		}
		if all == 0 {
			return false
		}
	}
	return true
}

// add sets the bits of d and reports whether one of them was zero. The caller counts d.
func (l *layer) add(d umbel.Digest) bool {
	if l.has(d) {
		return false // and no cache of another processor loses what it has
	}
	words, v := l.words(), d.H1
	for range l.k {
		at := l.position(v)
		words[at>>6] |= 1 << (at & 63)
		v += d.H2
	}
	return true
}

func (l *layer) isFull() bool { return l.entries >= l.capacity }

// next returns the layer that follows this one, without bits. The error wraps umbel.ErrLimit.
func (l *layer) next(expansion uint32) (layer, error) {
	over, capacity := bits.Mul64(l.capacity, uint64(expansion))
	rate := l.rate * tightening
	if over != 0 {
		return layer{}, sentinel.Errorf(umbel.ErrLimit, "redisbloom: the next layer would be for %d times %d keys", expansion, l.capacity)
	}
	return newLayer(capacity, rate)
}

// newLayer returns a layer without bits. The error wraps umbel.ErrLimit.
func newLayer(capacity uint64, rate float64) (layer, error) {
	d, err := sizeFor(capacity, rate)
	return layer{sizing: d, capacity: capacity, rate: rate}, err
}

// check returns an error if no layer can have these numbers.
func (l *layer) check() error {
	switch {
	case l.capacity == 0:
		return fmt.Errorf("redisbloom: a layer for no keys")
	case !(l.rate > 0 && l.rate < 1):
		return fmt.Errorf("redisbloom: error rate %v, want one between 0 and 1, both excluded", l.rate)
	case !(l.bitsPerKey > 0 && l.bitsPerKey < bitsPerKeyLimit):
		return fmt.Errorf("redisbloom: %v bits per key, want more than 0 and less than %d", l.bitsPerKey, bitsPerKeyLimit)
	case float64(l.k) != math.Ceil(ln2*l.bitsPerKey):
		return fmt.Errorf("redisbloom: k is %d with %v bits per key, want %v", l.k, l.bitsPerKey, math.Ceil(ln2*l.bitsPerKey))
	case l.bits == 0 || l.bits%64 != 0 || l.bits > maxBits:
		return fmt.Errorf("redisbloom: %d bits, want 64 to 2^56 in whole words of 64", l.bits)
	case l.n2 != 0 && (l.n2 > 56 || l.bits != 1<<l.n2):
		return fmt.Errorf("redisbloom: %d bits, want 2^%d", l.bits, l.n2)
	}
	return nil
}

// positions is room for the positions of several keys in a layer. All are computed before the
// first is read, because a loop that only reads has many cache misses in flight at once.
type positions [256]uint64

// fewKeys is the number of keys up to which single calls are faster.
const fewKeys = 4

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if len(ds) < fewKeys {
		for i, d := range ds {
			dst[i] = f.Has(d)
		}
		return
	}
	clear(dst)
	var room positions
	for i := len(f.layers) - 1; i >= 0; i-- {
		l := &f.layers[i]
		atOnce := len(room) / int(l.k)
		if atOnce == 0 {
			l.findEach(dst, ds)
			continue
		}
		for from := 0; from < len(ds); from += atOnce {
			to := min(from+atOnce, len(ds))
			l.find(dst[from:to], ds[from:to], &room)
		}
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	var room [64]bool
	for from := 0; from < len(ds); from += len(room) {
		some := ds[from:min(from+len(room), len(ds))]
		there := room[:len(some)]
		if changed != nil {
			there = changed[from:][:len(some)]
		}
		f.HasAll(there, some)
		for i, d := range some {
			there[i] = !there[i] && f.Add(d)
		}
	}
}

// find sets dst[i] if all bits of ds[i] are set. There must be room for all positions.
func (l *layer) find(dst []bool, ds []umbel.Digest, room *positions) {
	n := 0
	for _, d := range ds {
		v := d.H1
		for range l.k {
			room[n] = l.position(v)
			n++
			v += d.H2
		}
	}
	words, k := l.words(), int(l.k)
	for i := range ds {
		all := uint64(1)
		for _, at := range room[i*k : (i+1)*k] {
			all &= words[at>>6] >> (at & 63)
		}
		dst[i] = dst[i] || all != 0
	}
}

// findEach is find for a layer in which a single key has too many positions.
func (l *layer) findEach(dst []bool, ds []umbel.Digest) {
	for i, d := range ds {
		dst[i] = dst[i] || l.has(d)
	}
}
