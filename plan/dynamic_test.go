package plan

import "testing"

// Guo et al. 2006: the rate of a row of equal filters is that of one filter within its
// capacity, and one more full filter adds about the rate of one.
func TestGuoRate(t *testing.T) {
	const m, k, capacity = 1280, 7, 133
	full := FPRate(m, k, capacity)
	for _, c := range []struct {
		n    uint64
		want float64
	}{
		{0, 0},
		{60, FPRate(m, k, 60)},
		{capacity, full},
		{capacity + 50, CompoundFPRate(full, FPRate(m, k, 50))},
		{4 * capacity, CompoundFPRate(full, full, full, full)},
	} {
		if got := DynamicFPRate(m, k, capacity, c.n); !near(got, c.want, 1e-12) {
			t.Errorf("%d keys: %g, want %g", c.n, got, c.want)
		}
	}
	if got := DynamicFPRate(m, k, capacity, 1<<40); !near(got, 1, 1e-12) {
		t.Errorf("a row without end: %g, want 1", got)
	}
	wantPanic(t, "no cells", func() { DynamicFPRate(0, 1, 1, 1) })
	wantPanic(t, "no capacity", func() { DynamicFPRate(1, 1, 0, 1) })
	wantPanic(t, "no k", func() { DynamicFPRate(1, 0, 1, 1) })
}

func TestGuoRateAgainstSimulation(t *testing.T) {
	const m, k, capacity, n = 640, 6, 60, 210
	r := newRand(5)
	var rate sample
	filter := newBits(m)
	for range 3000 {
		no := 1.0
		for left := uint64(n); left > 0; {
			now := min(left, capacity)
			filter.clear()
			filter.addKeys(r, k, now)
			no *= 1 - FPRateAtFill(float64(filter.ones)/m, k)
			left -= now
		}
		rate.add(1 - no)
	}
	rate.wantMean(t, DynamicFPRate(m, k, capacity, n), 0.01)
}
