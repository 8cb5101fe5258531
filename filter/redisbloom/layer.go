package redisbloom

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// layer is one filter of the chain.
type layer struct {
	sizing
	capacity uint64  // entries before it is full
	entries  uint64  // additions that changed it
	rate     float64 // the error rate it was made for
	n2       uint8   // of filters older than RedisBloom 2: bits is 2^n2; otherwise 0

	cells cells.Array
	wrap  uint64 // wrapOf(bits)
}

// allocate gives the layer its bits, all zero.
func (l *layer) allocate() error {
	a, err := cells.New(l.bits, 1)
	if err == nil {
		l.hold(a)
	}
	return err
}

// hold makes a the layer's bits.
func (l *layer) hold(a cells.Array) {
	l.cells, l.bits = a, a.Len
	l.wrap = wrapOf(l.bits)
}

// wrapOf returns -2^64 mod m.
func wrapOf(m uint64) uint64 { return (m - -m%m) % m }

// walk runs over the positions of a digest, (H1 + i·H2 mod 2^64) mod bits, with two
// divisions for all of them: adding H2 adds its remainder, and where the sum passes
// 2^64 it loses that of 2^64.
type walk struct{ value, step, at, stepAt uint64 }

func (l *layer) start(d umbel.Digest) walk { return walk{d.H1, d.H2, d.H1 % l.bits, d.H2 % l.bits} }

func (l *layer) advance(w walk) walk {
	sum, carry := bits.Add64(w.value, w.step, 0)
	w.value = sum
	w.at += w.stepAt
	if w.at >= l.bits {
		w.at -= l.bits
	}
	w.at += l.wrap & -carry
	if w.at >= l.bits {
		w.at -= l.bits
	}
	return w
}

// has reports whether all bits of d are set.
func (l *layer) has(d umbel.Digest) bool {
	words := l.cells.Words
	w := l.start(d)
	for range l.k {
		if words[w.at>>6]>>(w.at&63)&1 == 0 {
			return false
		}
		w = l.advance(w)
	}
	return true
}

// add sets the bits of d, of which one is known to be zero, and counts it.
func (l *layer) add(d umbel.Digest) {
	words := l.cells.Words
	w := l.start(d)
	for range l.k {
		words[w.at>>6] |= 1 << (w.at & 63)
		w = l.advance(w)
	}
	l.entries++
}

func (l *layer) isFull() bool { return l.entries >= l.capacity }

// next designs the layer that follows this one, without its bits. The error wraps
// umbel.ErrLimit.
func (l *layer) next(expansion uint32) (layer, error) {
	over, capacity := bits.Mul64(l.capacity, uint64(expansion))
	rate := l.rate * tightening
	if over != 0 {
		return layer{}, fmt.Errorf("redisbloom: the next layer would be for %d times %d keys: %w", expansion, l.capacity, umbel.ErrLimit)
	}
	return newLayer(capacity, rate)
}

// newLayer designs a layer. The error wraps umbel.ErrLimit.
func newLayer(capacity uint64, rate float64) (layer, error) {
	d, err := sizeFor(capacity, rate)
	return layer{sizing: d, capacity: capacity, rate: rate}, err
}

// check returns an error unless a layer can have these numbers.
func (l *layer) check() error {
	switch {
	case l.capacity == 0:
		return fmt.Errorf("redisbloom: a layer for no keys")
	case !(l.rate > 0 && l.rate < 1):
		return fmt.Errorf("redisbloom: error rate %v, want one between 0 and 1, both excluded", l.rate)
	case l.k < 1 || l.k > MaxK || float64(l.k) != math.Ceil(ln2*l.bitsPerKey):
		return fmt.Errorf("redisbloom: k is %d with %v bits per key, want %v and at most %d", l.k, l.bitsPerKey, math.Ceil(ln2*l.bitsPerKey), MaxK)
	case l.bits == 0 || l.bits%64 != 0 || l.bits > maxBits:
		return fmt.Errorf("redisbloom: %d bits, want 64 to 2^56 in whole words of 64", l.bits)
	case l.n2 != 0 && (l.n2 > 56 || l.bits != 1<<l.n2):
		return fmt.Errorf("redisbloom: %d bits, want 2^%d", l.bits, l.n2)
	}
	return nil
}
