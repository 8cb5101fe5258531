package row

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
)

// Left never promises more keys than fit, is 0 exactly where the array is full, and
// seldom counts.
func TestRoom(t *testing.T) {
	const k, m = 7, 7000
	rng := rand.New(rand.NewPCG(1, 1))
	for _, full := range []uint64{1, k, m / 2, m - 1, m} {
		a, err := cells.New(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		var room Room
		for counted := 0; ; {
			if !room.known {
				counted++
			}
			left := room.Left(a, full, k)
			if isFull := a.Nonzero() >= full; isFull != (left == 0) {
				t.Fatalf("full from %d: %d nonzero, and room for %d keys", full, a.Nonzero(), left)
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
			room.Took(left)
		}
	}
}

func TestRoomForgets(t *testing.T) {
	a, err := cells.New(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	a.Put(3, 1)
	var room Room
	if left := room.Left(a, 1, 1); left != 0 {
		t.Fatalf("room for %d keys, want none", left)
	}
	a.Put(3, 0)
	if room.Forget(); room.Left(a, 1, 1) == 0 {
		t.Error("no room after a cell became zero and Forget")
	}
}
