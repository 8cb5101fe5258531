package probe

import (
	"sync/atomic"

	"github.com/umbel-filters/umbel"
)

// hasPlain is Has in plain Go, for any mapping and machine. It loads atomically,
// which costs nothing, to run alongside AddAtomic.
//
//lint:ignore U1000 the kernel jumps to it
func hasPlain(b *Bits, h1, h2 uint64) bool {
	s, words := Stream{h1, h2}, b.words
	var v, base uint64
	yes := min(b.table.k, 1)
	for range b.table.k {
		v, s = s.Next()
		i := base + b.slice.At(v)
		yes &= atomic.LoadUint64(&words[i>>6]) >> (i & 63)
		base += b.stride
	}
	return yes != 0
}

// addPlain is Add in plain Go.
//
//lint:ignore U1000 the kernel jumps to it
func addPlain(b *Bits, h1, h2 uint64) bool {
	b.mustBeMade()
	s, words := Stream{h1, h2}, b.words
	var v, base, fresh uint64
	for range b.table.k {
		v, s = s.Next()
		i := base + b.slice.At(v)
		w, bit := &words[i>>6], uint64(1)<<(i&63)
		fresh |= bit &^ *w
		*w |= bit
		base += b.stride
	}
	return fresh != 0
}

// AddAtomic sets all bits of d alongside Has and itself, and reports whether one
// was zero.
func (b *Bits) AddAtomic(d umbel.Digest) bool {
	b.mustBeMade()
	s, words := Start(d), b.words
	var v, base, fresh uint64
	for range b.table.k {
		v, s = s.Next()
		i := base + b.slice.At(v)
		w, bit := &words[i>>6], uint64(1)<<(i&63)
		// The look before the locked instruction spares it where the bit is set.
		if atomic.LoadUint64(w)&bit == 0 {
			fresh |= bit &^ atomic.OrUint64(w, bit)
		}
		base += b.stride
	}
	return fresh != 0
}

func (b *Bits) mustBeMade() {
	if b.table.k == 0 {
		panic("umbel: add to a zero filter: make it with New")
	}
}
