package sparse

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
)

// TestNeighborsByChoice: digests chosen for neighboring positions are kept, and none is
// searched for through a large part of the table.
func TestNeighborsByChoice(t *testing.T) {
	const n, m = 30_000, 100 * 30_000
	ds := make([]umbel.Digest, n)
	for i := range ds { // the stream begins with H2 itself
		ds[i] = umbel.Digest{H1: 1, H2: uint64(i)*(1<<63/m*2+1) + 1<<32}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { ds[i], ds[j] = ds[j], ds[i] })
	f, err := NewShape(Shape{M: m})
	if err != nil {
		t.Fatal(err)
	}
	for len(ds) > 0 {
		now := ds[:min(len(ds), n/3)]
		ds = ds[len(now):]
		f.AddAll(nil, now)
		for _, d := range now {
			if !f.Has(d) {
				t.Fatalf("%v is lost", d)
			}
		}
	}
	if got := f.ones(); got != n {
		t.Errorf("%d cells are set, want %d", got, n)
	}

	p := newPending(m, n)
	for x := uint64(0); p.add(x); x++ {
	}
	if p.count < reach/2 || p.count > 2*reach {
		t.Errorf("a table for %d accepts %d neighboring positions, want about %d", n, p.count, reach)
	}
	for i, s := range p.slots {
		if s != 0 && i-p.home(s-1) >= reach {
			t.Fatalf("a position is %d places behind its home, want less than %d", i-p.home(s-1), reach)
		}
	}
}

// TestPendingIsFilled: evenly distributed positions fill a table.
func TestPendingIsFilled(t *testing.T) {
	const m = 1 << 40
	for _, most := range []uint64{8, 100, 10_000, 300_000} {
		r, p := rand.New(rand.NewPCG(most, 3)), newPending(m, most)
		for p.count < most {
			if x := r.Uint64N(m); !p.has(x) && !p.add(x) {
				t.Fatalf("a table for %d accepts %d", most, p.count)
			}
		}
		if p.add(m - 1) {
			t.Errorf("a table for %d accepts one more", most)
		}
	}
}
