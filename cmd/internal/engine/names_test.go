package engine

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// A nameIndex is a map from names to filters, whether hashes are equal or not.
func TestNameIndex(t *testing.T) {
	for _, mask := range []uint64{0, 3, 1<<64 - 1} {
		n := newNameIndex()
		n.mask = mask
		want := make(map[string]*Filter)
		rng := rand.New(rand.NewPCG(mask, 1))
		for range 20_000 {
			name := strconv.Itoa(rng.IntN(12))
			switch f := want[name]; {
			case rng.IntN(2) == 0:
				g := &Filter{id: rng.Uint64()}
				g.name.Store(newLabel(name))
				n.add(g)
				want[name] = g
				if f != nil {
					n.remove(f) // it isn't the one with its name
				}
			case f != nil:
				n.remove(f)
				delete(want, name)
			}
			name = strconv.Itoa(rng.IntN(12))
			if got := n.find(name); got != want[name] {
				t.Fatalf("mask %#x: %q is %p, want %p", mask, name, got, want[name])
			}
			if n.len() != len(want) {
				t.Fatalf("mask %#x: %d filters, want %d", mask, n.len(), len(want))
			}
		}
	}
}
