package inpacket

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestTrialAgreesWithTables: a trial, which computes positions itself for speed, agrees with
// routers about every filter.
func TestTrialAgreesWithTables(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	good, bad := 0, 0
	for range 300 {
		task := oneHop(1+r.IntN(12), r.IntN(9))
		trial := newTrial(newLinks(task.Tree, task.Others))
		seed := uint16(r.Uint32())
		most := 1 + r.IntN(maxK)
		trial.seed(uint32(seed), most)
		m := 1 + r.IntN(130)
		got := trial.try(m, 2<<most-2, 1)
		for k := 1; k <= most; k++ {
			want := routersAgree(task, seed, k, m)
			if got>>k&1 != 0 != want {
				t.Fatalf("%d links, %d others, seed %d, K %d, %d bits: the trial says %v, routers %v",
					len(task.Tree[0]), len(task.Others[0]), seed, k, m, !want, want)
			}
			if want {
				good++
			} else {
				bad++
			}
		}
	}
	if good < 200 || bad < 200 {
		t.Errorf("%d filters do and %d don't: want many of both", good, bad)
	}
}

// routersAgree reports whether a Single filter of m bits matches the tree's links and no others,
// and isn't overfull.
func routersAgree(task Task, seed uint16, k, m int) bool {
	f := Found{K: uint8(k), Seed: seed, Bits: m}
	f.fill(newLinks(task.Tree, task.Others))
	h := Header{Form: Single, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter}
	return holdsOnly(task, &h) && !h.Overfull()
}

// holdsOnly reports whether a header matches the links of the tree of a one-hop task and no
// others.
func holdsOnly(task Task, h *Header) bool {
	held, count := make([]uint64, 1), 0
	NewTable(task.Tree[0]).Match(held, h)
	count += bits.OnesCount64(held[0])
	clear(held)
	NewTable(task.Others[0]).Match(held, h)
	return count == len(task.Tree[0]) && held[0] == 0
}
