package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/internal/model"
)

func TestCost(t *testing.T) {
	var c model.Coder
	near := func(name string, got, want uint64) {
		t.Helper()
		if tolerance := 3 + want/100; got+tolerance < want || got > want+tolerance {
			t.Errorf("%s: cost %d, want %d ± %d", name, got, want, tolerance)
		}
	}
	for _, n := range []uint64{1, 64, 1000, 20000, 1 << 19} {
		for _, ones := range []uint64{0, 1, n / 1000, n / 50, n / 7, n / 2, n - n/5, n - n/300, n - 1, n} {
			r := rand.New(rand.NewPCG(n, ones))
			a := newArray(t, n, 1)
			left := ones // to be chosen of the n-i cells from i on
			for i := range n {
				if r.Uint64N(n-i) < left {
					a.SetBit(i)
					left--
				}
			}
			near("alone", model.Cost(n, ones), uint64(len(c.Append(nil, a))))
			b := a.Clone()
			for range ones / 20 {
				i := r.Uint64N(n)
				b.Put(i, 1-b.Get(i))
			}
			near("delta", model.DeltaCost(a, b), uint64(len(c.AppendDelta(nil, a, b))))
		}
	}
	if got, want := model.Cost(1<<19, 1<<18), uint64(1<<16+2); got != want {
		t.Errorf("half: %d bytes, want %d", got, want)
	}
}
