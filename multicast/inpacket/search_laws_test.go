package inpacket

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestSearchLength: a filter takes at most r·T + N/2^(r-1) bits and the bits of a seed, with the
// best number of sections r, or at most 2N + T/2 if that is less: also with more than 4096 links,
// and with more links in the tree than next to it.
func TestSearchLength(t *testing.T) {
	for _, size := range []struct{ tree, others int }{
		{148, 8124}, {60, 5000}, {20, 1000}, {10, 2500}, {5, 600}, {300, 900}, {100, 100}, {137, 52}, {160, 12}, {40, 3}, {90, 0}, {30, 2},
	} {
		t.Run(fmt.Sprintf("%d-%d", size.tree, size.others), func(t *testing.T) {
			task := oneHop(size.tree, size.others)
			f, err := Search(task, Options{Seeds: 16})
			if err != nil {
				t.Fatal(err)
			}
			checkFound(t, task, f)
			want := 2*size.others + size.tree/2
			for r := 1; r <= 8; r++ {
				want = min(want, r*size.tree+size.others>>(r-1))
			}
			if f.Cost() > want+8 {
				t.Errorf("form %d, K %d: %d bits, want at most %d", f.Form, f.K, f.Cost(), want+8)
			}
		})
	}
}

// TestSearchSlow: a task whose equations would take too long is searched for the other forms.
func TestSearchSlow(t *testing.T) {
	if c := (choice{Linear, 0}); slow(c, 2000, 2000) || !slow(c, 40_000, 40_000) {
		t.Error("4000 equations in a section must be allowed, and 80,000 refused")
	}
	if _, start := chooseSplits(40_000, 40_000, &search{Options: Options{Forms: sectioned, MaxFalseMatch: 1}}); start < 80_000 {
		t.Errorf("40,000 links and as many others in %d bits", start)
	}
	if all, _ := chooseSplits(40_000, 40_000, &search{Options: Options{Forms: sectioned, MaxFalseMatch: 1}}); len(all) != 0 {
		t.Errorf("40,000 links and as many others by %v", all)
	}
}

// TestMatchesThreeQuarters: whatever its bits, a filter that is not overfull matches at most about
// three quarters of the links of others, in any form.
func TestMatchesThreeQuarters(t *testing.T) {
	unknown := randomCodewords(rand.New(rand.NewPCG(8, 8)), 2048)
	table, dst := NewTable(unknown), make([]uint64, words(2048))
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		if h.Form == Dense || h.Overfull() {
			t.Skip("its codewords are not random, or routers drop it")
		}
		if rate := h.FalseMatch(); rate > .75 {
			t.Fatalf("form %d has a false-match rate of %g", h.Form, rate)
		}
		table.Match(dst, &h)
		held := 0
		for _, w := range dst {
			held += bits.OnesCount64(w)
		}
		if held > 2048*3/4+120 { // six standard deviations
			t.Fatalf("form %d, K %d, %d bits, %d ones: %d of 2048 links match", h.Form, h.K, h.Bits, h.Ones(), held)
		}
	})
}
