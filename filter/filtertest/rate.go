package filtertest

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// sample is a mean of measurements with its standard error.
type sample struct{ mean, sigma float64 }

// measure fills filters as the goal says, seals those that can be, and asks each of
// them for keys that it doesn't hold. The standard error is that between filters, which differ in fill
// as well as in luck, and at least that of counting.
func measure(t tb, v umbel.Kind, g umbel.Goal, filters, queries int) sample {
	t.Helper()
	var sum, squares float64
	empty := mustNew(t, v, g, nil)
	for i := range filters {
		f := twin(t, v, empty)
		fill(f, uint64(2*i+1), int(g.Keys))
		seal(t, f)
		r := rate(f, uint64(2*i+2), queries)
		sum += r
		squares += r * r
	}
	n := float64(filters)
	mean := sum / n
	between := math.Sqrt(max(0, squares/n-mean*mean) / (n - 1))
	counting := math.Sqrt(mean * (1 - mean) / (n * float64(queries)))
	return sample{mean, max(between, counting)}
}

// fill adds n keys. One that forgets gets them as fast as it takes them, a tick
// passing each time that it takes no more, until it has forgotten as many and takes
// no more again.
func fill(f umbel.Filter, seed uint64, n int) {
	a, forgets := f.(umbel.Advancer)
	g, limited := f.(umbel.Grower)
	if !forgets || !limited {
		addAll(f, digests(seed, n))
		return
	}
	clock := uint64(0)
	for i, d := range digests(seed, 5*n) {
		if _, err := g.TryAdd(d); err == nil {
			continue
		}
		if clock++; i > 4*n || a.Advance(clock) != nil {
			return
		}
		f.Add(d)
	}
}

// rate returns the share of so many digests of a seed for which Has is true.
func rate(f umbel.Filter, seed uint64, queries int) float64 {
	yes := 0
	for _, d := range digests(seed, queries) {
		if f.Has(d) {
			yes++
		}
	}
	return float64(yes) / float64(queries)
}

// rateMeetsGoal: with the keys of the goal in it a filter answers wrongly at most at
// the goal's rate, within 6 sigma, and at that of the forecast, within 3 % or 3
// sigma.
func rateMeetsGoal(t tb, v umbel.Kind) {
	for _, c := range []struct {
		goal             umbel.Goal
		filters, queries int
	}{
		{umbel.Goal{Keys: 100, FPRate: 0.05}, 300, 2000},
		{umbel.Goal{Keys: 1000, FPRate: 0.01}, 50, 20000},
		{umbel.Goal{Keys: 12000, FPRate: 0.002}, 12, 100000},
	} {
		fc, err := v.Plan(c.goal, nil)
		if err != nil {
			t.Fatalf("Plan(%+v): %v", c.goal, err)
		}
		got := measure(t, v, c.goal, c.filters, c.queries)
		if got.mean > c.goal.FPRate+6*got.sigma {
			t.Errorf("%+v: measured rate %.5f with a sigma of %.5f in %d questions: above the goal",
				c.goal, got.mean, got.sigma, c.filters*c.queries)
		}
		if d := math.Abs(got.mean - fc.FPRate); d > max(0.03*fc.FPRate, 3*got.sigma) {
			t.Errorf("%+v: measured rate %.5f with a sigma of %.5f in %d questions, forecast %.5f",
				c.goal, got.mean, got.sigma, c.filters*c.queries, fc.FPRate)
		}
	}
}

// statsMeasure: what Stats says of fill and size is what the state has, and the
// estimated rate is within 10 %, or 4 sigma, of the measured one at any load.
func statsMeasure(t tb, v umbel.Kind) {
	const filters, queries, keys = 8, 40000, 3000
	for _, load := range []float64{0.5, 1, 2} {
		var want, got float64
		for i := range filters {
			f := make1(t, v, keys)
			addAll(f, digests(uint64(2*i+1), int(keys*load)))
			seal(t, f)
			s := f.Stats()
			wantPlain(t, f, s)
			got += s.FPRate / filters
			want += rate(f, uint64(2*i+2), queries) / filters
		}
		sigma := math.Sqrt(max(want, got) / (filters * queries)) // none may be measured where few are due
		if math.Abs(got-want) > 0.1*want+4*sigma {
			t.Errorf("load %g: estimated rate %.5f, measured %.5f with a sigma of %.5f", load, got, want, sigma)
		}
	}
	empty := make1(t, v, keys)
	s := empty.Stats()
	wantPlain(t, empty, s)
	if s.Keys != 0 || s.Low != 0 || s.Fill != 0 || s.FPRate != 0 {
		t.Errorf("an empty filter: %+v, want no keys, no fill and no rate", s)
	}
}

// wantPlain fails unless the numbers of s make sense and are those of f's state.
func wantPlain(t tb, f umbel.Filter, s umbel.Stats) {
	t.Helper()
	state := f.State()
	var cells, nonzero uint64
	for _, p := range state.Arrays {
		cells += p.Len
		nonzero += p.Nonzero()
	}
	if l, ok := f.(umbel.PositionLister); ok {
		cells, nonzero = s.Cells, listed(t, l, s.Cells)
	}
	if len(state.Arrays) == 0 && len(state.Parts) == 0 && s.Fill != 0 {
		t.Errorf("fill %v without planes or parts, want 0", s.Fill)
	}
	if len(state.Arrays) > 0 && len(state.Parts) == 0 {
		if want := float64(nonzero) / float64(cells); s.Fill != want {
			t.Errorf("fill %v, want %v: %d cells of %d aren't zero", s.Fill, want, nonzero, cells)
		}
	}
	if len(state.Parts) == 0 && s.Cells != cells {
		t.Errorf("%d cells, want %d", s.Cells, cells)
	}
	if s.Bytes != state.Bytes() {
		t.Errorf("%d bytes, want %d", s.Bytes, state.Bytes())
	}
	if !(s.Low >= 0 && s.Low <= s.Keys && s.Keys <= s.High) {
		t.Errorf("%g keys, between %g and %g: want the bounds on both sides", s.Keys, s.Low, s.High)
	}
	if !(s.Fill >= 0 && s.Fill <= 1 && s.FPRate >= 0 && s.FPRate <= 1) {
		t.Errorf("fill %g and rate %g, want both from 0 to 1", s.Fill, s.FPRate)
	}
}

// listed returns how many positions l lists. It fails unless they rise, and are below
// the number of cells.
func listed(t tb, l umbel.PositionLister, cells uint64) (n uint64) {
	t.Helper()
	least := uint64(0)
	for at := range l.Positions {
		if at < least || at >= cells {
			t.Fatalf("position %d is listed, want at least %d and less than %d", at, least, cells)
		}
		least = at + 1
		n++
	}
	for range l.Positions {
		break // and it stops where it is told to
	}
	return n
}

// statsEstimateKeys: Low and High enclose the number of distinct keys in 95 of 100
// filters, within 3 sigma of 3000 small ones, half, just and twice as full as
// planned, or are the number itself in all of them; and Keys is within 10 % of it. Since
// keys are whole, bounds that enclose few may enclose one more at each end than would do.
func statsEstimateKeys(t tb, v umbel.Kind) {
	const filters, planned = 3000, 600
	inside, exact, whole := 0, 0, 0.0
	empty := make1(t, v, planned)
	for i := range filters {
		n := planned / 2 << (i % 3)
		f := twin(t, v, empty)
		addAll(f, digests(uint64(i+1), n))
		if s := f.Stats(); s.Low <= float64(n) && float64(n) <= s.High {
			inside++
			if s.Low == s.High {
				exact++
				continue
			}
			// A normal distribution has 2·0.0584 of itself in a key at both bounds, over
			// its standard deviation in keys; these are 2·1.96 of them apart.
			whole += 2 * 0.0584 * 2 * 1.96 / (s.High - s.Low) / filters
		}
	}
	const promised = 0.95
	share, sigma := float64(inside)/filters, math.Sqrt(promised*(1-promised)/filters)
	if exact < filters && (share < promised-3*sigma || share > promised+whole+3*sigma) {
		t.Errorf("the number of keys lies between Low and High in %.4f of %d filters, want about %g, within 3 sigma of %.4f, and up to %.4f more",
			share, filters, promised, sigma, whole)
	}
	for _, n := range []int{3000, 10000, 20000} {
		f := make1(t, v, 10000)
		ds := digests(1, n)
		addAll(f, ds)
		addAll(f, ds[:n/2])
		if s := f.Stats(); math.Abs(s.Keys-float64(n)) > 0.1*float64(n) {
			t.Errorf("%d keys are estimated to be %.0f", n, s.Keys)
		}
	}
}

// statsWhenFull: a filter with all bits set has any number of keys, and all of them.
func statsWhenFull(t tb, v umbel.Kind) {
	s := make1(t, v, sizes[0]).State().Clone()
	if len(s.Arrays) != 1 || len(s.Parts) != 0 || s.Arrays[0].Width > 1 {
		t.Skipf("not a single plane of bits")
	}
	for i := range s.Arrays[0].Len {
		s.Arrays[0].Put(i, 1)
	}
	f, err := v.Open(s)
	if err != nil {
		t.Fatalf("Open with all bits set: %v", err)
	}
	st := f.Stats()
	if !math.IsInf(st.Keys, 1) || !math.IsInf(st.High, 1) || math.IsInf(st.Low, 0) || st.FPRate != 1 || st.Fill != 1 {
		t.Errorf("a full filter: %+v, want infinitely many keys, at least a finite number, and a rate of 1", st)
	}
	ds := digests(1, 100)
	wantAll(t, f, ds, "full")
	for _, d := range ds {
		if f.Add(d) {
			t.Fatalf("Add(%v) changed a full filter", d)
		}
	}
}
