package sparse

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// slowPairs counts the pairs of neighboring groups for one factor, group by group.
func slowPairs(f *Filter, r uint64) arrays.Pairs {
	cells := map[uint64]uint64{}
	for x := range f.Positions {
		cells[x>>f.shape.Group] |= 1 << (x & (1<<f.shape.Group - 1))
	}
	var p arrays.Pairs
	for i := r; i < f.mapping.Groups; i += r {
		left, right := cells[i-1], cells[i]
		p.Left += uint64(bits.OnesCount64(left))
		p.Right += uint64(bits.OnesCount64(right))
		p.Both += uint64(bits.OnesCount64(left & right))
		p.All += 1 << f.shape.Group
	}
	return p
}

// TestCopies: the factor that one pass over the positions finds is the one that counting the pairs of each factor finds.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	found := map[uint64]int{}
	filters := 300
	if testing.Short() {
		filters = 60
	}
	for i := range filters {
		s := Shape{M: (1 + rng.Uint64N(60)) << 6, Group: uint8(rng.IntN(2) * 6)}
		f, err := NewShape(s)
		if err != nil {
			t.Fatal(err)
		}
		f.AddAll(nil, fixture.Digests(uint64(i), rng.IntN(int(s.M))))
		if err := f.Unfold(1 + rng.Uint64N(60)); err != nil {
			t.Fatal(err)
		}
		f.AddAll(nil, fixture.Digests(uint64(i)+1000, rng.IntN(50)))
		want := arrays.Copies(f.mapping.Groups, func(r uint64) arrays.Pairs { return slowPairs(f, r) })
		if got := f.copies(); got != want {
			t.Fatalf("filter %d of %d groups: unfolded by %d, want %d", i, f.mapping.Groups, got, want)
		}
		found[want]++
	}
	if len(found) < 10 {
		t.Errorf("the filters have %d factors, want at least 10, so that the test means something", len(found))
	}
}
