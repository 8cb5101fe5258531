package layered

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
)

// Remaining never exceeds the number of keys that fit, is 0 exactly if the array is full,
// and rarely counts.
func TestHeadroom(t *testing.T) {
	const k, m = 7, 7000
	rng := rand.New(rand.NewPCG(1, 1))
	for _, full := range []uint64{1, k, m / 2, m - 1, m} {
		a, err := cells.New(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		var headroom Headroom
		for counted := 0; ; {
			if !headroom.known {
				counted++
			}
			left := headroom.Remaining(a, full, k)
			if isFull := a.Nonzero() >= full; isFull != (left == 0) {
				t.Fatalf("full from %d: %d nonzero, and headroom for %d keys", full, a.Nonzero(), left)
			}
			if left == 0 {
				if full == m/2 && counted > 25 {
					t.Errorf("the cells were counted %d times", counted)
				}
				break
			}
			for range left {
				for range k {
					a.Put(rng.Uint64N(m), 1)
				}
			}
			if left > 1 && a.Nonzero() >= full {
				t.Fatalf("full from %d: %d keys made %d nonzero", full, left, a.Nonzero())
			}
			headroom.Consume(left)
		}
	}
}

func TestHeadroomInvalidate(t *testing.T) {
	a, err := cells.New(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	a.Put(3, 1)
	var headroom Headroom
	if left := headroom.Remaining(a, 1, 1); left != 0 {
		t.Fatalf("headroom for %d keys, want none", left)
	}
	a.Put(3, 0)
	if headroom.Invalidate(); headroom.Remaining(a, 1, 1) == 0 {
		t.Error("no headroom after a cell became zero and Invalidate")
	}
}
