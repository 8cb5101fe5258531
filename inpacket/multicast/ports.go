package multicast

import (
	"iter"
	"math/bits"
	"sync/atomic"
)

// set is a set of a node's ports, a bit each.
type set []uint64

func (s set) has(p int) bool { return p >= 0 && p < 64*len(s) && s[p>>6]>>(p&63)&1 == 1 }

func (s set) remove(p int) {
	if p >= 0 && p < 64*len(s) {
		s[p>>6] &^= 1 << (p & 63)
	}
}

func (s set) len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// all gives the ports in order.
func (s set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// shared is a set that one goroutine reads while others change it.
type shared []atomic.Uint64

func (s shared) put(p int, in bool) {
	bit := uint64(1) << (p & 63)
	if in {
		s[p>>6].Or(bit)
	} else {
		s[p>>6].And(^bit)
	}
}

func (s shared) has(p int) bool { return s[p>>6].Load()>>(p&63)&1 == 1 }
