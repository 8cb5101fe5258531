package engine

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// A nameIndex is a map from names to filters, whether hashes are equal or not.
func TestNameIndex(t *testing.T) {
	for _, hashes := range []uint64{1, 3, 1 << 60} {
		n := newNameIndex()
		random := n.hash
		n.hash = func(name []byte) uint64 { return random(name) % hashes }
		want := make(map[string]*Filter)
		rng := rand.New(rand.NewPCG(hashes, 1))
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
			if got := n.find([]byte(name)); got != want[name] {
				t.Fatalf("%d hashes: %q is %p, want %p", hashes, name, got, want[name])
			}
			if n.len() != len(want) {
				t.Fatalf("%d hashes: %d filters, want %d", hashes, n.len(), len(want))
			}
		}
	}
}
