package ribbon

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
	"pgregory.net/rapid"
)

// TestSizes: bits per key of 10,000 keys are within 2 % of a ribbon of width 128 of which
// half of the seeds can be solved, with 1 % more slots than keys, where a fraction of the keys
// has one more column (recomputed).
func TestBitsPerKey(t *testing.T) {
	const n = 10_000
	for _, c := range []struct{ p, bitsPerKey float64 }{
		{0.1, 3.434}, {0.0216, 5.674}, {0.01, 6.787}, {0.001, 10.076}, {0.000459, 11.231}, {1e-6, 20.151},
	} {
		steps, err := stepsFor(c.p)
		if got := float64(sizeOf(n, steps)) / n; err != nil || got > 1.02*c.bitsPerKey {
			t.Errorf("p=%g: %.3f bits per key, %v, want at most 2 %% more than %.3f", c.p, got, err, c.bitsPerKey)
		}
	}
}

// TestFor: the steps for a rate are sufficient, and one step less is not.
func TestFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := math.Exp2(-rapid.Float64Range(0.01, 31.9).Draw(t, "log2(1/p)"))
		steps, err := stepsFor(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := idealRate(steps); got > p*(1+1e-9) {
			t.Errorf("p=%g: %d steps have a rate of %g", p, steps, got)
		}
		if steps > 1 && idealRate(steps-1) <= p {
			t.Errorf("p=%g: %d steps, and one less has a rate of %g", p, steps, idealRate(steps-1))
		}
	})
	for _, p := range []float64{0, 1, -1, math.NaN(), math.Inf(1), 1.0 / (1 << 33), 1e-300} {
		if steps, err := stepsFor(p); !errors.Is(err, plan.ErrRange) {
			t.Errorf("p=%g: %d steps, %v, want an error that wraps plan.ErrRange", p, steps, err)
		}
	}
}

// TestMonotone: the rate is at most that of the steps for any number of keys, and sizes
// rise with keys and with steps.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 200_000).Draw(t, "n")
		steps := rapid.IntRange(1, maxSteps-1).Draw(t, "steps")
		if rate := fpRate(n, steps); rate > idealRate(steps)*(1+1e-9) || rate < idealRate(steps)/2 {
			t.Errorf("a rate of %g, of the steps alone %g", rate, idealRate(steps))
		}
		size := sizeOf(n, steps)
		if more := sizeOf(n, steps+1); more < size {
			t.Errorf("%d bits, and with a step more %d", size, more)
		}
		if more := sizeOf(n+1, steps); more+maxSteps < size {
			t.Errorf("%d bits, and with a key more %d", size, more)
		}
		if float64(size) < float64(n)*-math.Log2(fpRate(n, steps)) {
			t.Errorf("%d bits for %d keys are less than any filter takes", size, n)
		}
	})
}

// TestLow compares lowBlocks with a count over every place of every shard.
func TestLow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.SliceOfN(rapid.Uint64Range(128, 700), 1, 5).Draw(t, "slots")
		if len(slots) == 1 {
			slots[0] = rapid.Uint64Range(1, 700).Draw(t, "few")
		}
		steps := rapid.IntRange(1, 3*columnSteps).Draw(t, "steps")
		share := func(low uint64) (sum float64) {
			first := uint64(0)
			for _, m := range slots {
				for u := range m + 1 {
					at := int(u) - overhang
					at = max(min(at, int(m)-width), 0)
					if first+uint64(at) >= low*word {
						sum += 1 / float64(m+1) / float64(len(slots))
					}
				}
				first += m
			}
			return sum
		}
		low := lowBlocks(slots, steps)
		want := float64(steps%columnSteps) / columnSteps
		if got := share(low); got < want-1e-6 || math.Abs(got-upperShare(slots, low)) > 1e-6 {
			t.Errorf("from block %d on %g of the keys, upperShare says %g, want at least %g", low, got, upperShare(slots, low), want)
		}
		if next := share(low + 1); want > 0 && next >= want+1e-6 {
			t.Errorf("from block %d on, and from the next %g of the keys, want less than %g", low, next, want)
		}
	})
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
	}{{0, 0.1}, {1<<53 + 1, 0.1}, {10, 0}, {10, 1e-12}} {
		if s, err := Plan(umbel.Goal{Keys: c.n, FPRate: c.p}); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%d keys at %g: %+v, %v, want an error that wraps umbel.ErrGoal", c.n, c.p, s, err)
		}
	}
	for _, c := range []struct {
		n     uint64
		steps int
	}{{0, 1}, {1<<53 + 1, 1}, {1, 0}, {1, maxSteps + 1}, {1, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d keys and %d steps: no panic", c.n, c.steps)
				}
			}()
			sizeOf(c.n, c.steps)
		}()
	}
}
