package filtertest

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
)

// sample is a mean of measurements with its standard error.
type sample struct{ mean, sigma float64 }

// measure fills filters as planned for the goal, seals them if the kind has Seal, and queries
// each for absent keys. The standard error is that of the filters' rates, which differ in fill
// and by chance, and at least the binomial standard error.
//
// A filter that expires keys is filled in two ways, and the result is that with the higher rate: with all keys in one period,
// and up to its limit in each of its periods, until it is full again after n keys have expired.
func measure(t tb, v umbel.Kind, g umbel.Goal, filters, queries int) sample {
	t.Helper()
	once := measureFilled(t, v, g, filters, queries, func(f umbel.Filter, seed uint64, n int) { addAll(f, digests(seed, n)) })
	if _, forgets := mustNew(t, v, g, nil).(umbel.Advancer); !forgets {
		return once
	}
	if full := measureFilled(t, v, g, filters, queries, fill); full.mean > once.mean {
		return full
	}
	return once
}

// measureFilled is measure for one way to fill filters.
func measureFilled(t tb, v umbel.Kind, g umbel.Goal, filters, queries int, fill func(f umbel.Filter, seed uint64, n int)) sample {
	t.Helper()
	var sum, squares float64
	empty := mustNew(t, v, g, nil)
	for i := range filters {
		f := copyOf(t, v, empty)
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

// fill fills a filter that expires keys up to its limit in each of its periods, until it is full again after n keys have
// expired.
func fill(f umbel.Filter, seed uint64, n int) {
	a, g := f.(umbel.Advancer), f.(umbel.Grower)
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

// rate returns the fraction of random digests for which Has is true.
func rate(f umbel.Filter, seed uint64, queries int) float64 {
	yes := 0
	for _, d := range digests(seed, queries) {
		if f.Has(d) {
			yes++
		}
	}
	return float64(yes) / float64(queries)
}

// rateMeetsGoal: filled with the keys of the goal, a filter has a false-positive rate of at most
// the goal's, within 6 sigma, and of the forecast's, within 3 % or 3 sigma.
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
			t.Errorf("%+v: measured rate %.5f with a sigma of %.5f in %d queries: above the goal",
				c.goal, got.mean, got.sigma, c.filters*c.queries)
		}
		if d := math.Abs(got.mean - fc.FPRate); d > max(0.03*fc.FPRate, 3*got.sigma) {
			t.Errorf("%+v: measured rate %.5f with a sigma of %.5f in %d queries, forecast %.5f",
				c.goal, got.mean, got.sigma, c.filters*c.queries, fc.FPRate)
		}
	}
}

// statsMatchState: fill and sizes in Stats are those of the state. At any load the estimated
// rate is within 10 %, or 4 sigma, of the measured rate.
func statsMatchState(t tb, v umbel.Kind) {
	const filters, queries, keys = 8, 40000, 3000
	for _, load := range []float64{0.5, 1, 2} {
		var want, got float64
		for i := range filters {
			f := newFilter(t, v, keys)
			addAll(f, digests(uint64(2*i+1), int(keys*load)))
			seal(t, f)
			s := f.Stats()
			wantConsistentStats(t, f, s)
			got += s.FPRate / filters
			want += rate(f, uint64(2*i+2), queries) / filters
		}
		sigma := math.Sqrt(max(want, got) / (filters * queries)) // for few expected positives the measured rate may be 0
		if math.Abs(got-want) > 0.1*want+4*sigma {
			t.Errorf("load %g: estimated rate %.5f, measured %.5f with a sigma of %.5f", load, got, want, sigma)
		}
	}
	empty := newFilter(t, v, keys)
	s := empty.Stats()
	wantConsistentStats(t, empty, s)
	if s.Keys != 0 || s.Low != 0 || s.Fill != 0 || s.FPRate != 0 {
		t.Errorf("an empty filter: %+v, want no keys, no fill and no rate", s)
	}
}

// wantConsistentStats fails unless the numbers of s are in their ranges and match the state of
// f.
func wantConsistentStats(t tb, f umbel.Filter, s umbel.Stats) {
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
		t.Errorf("fill %v without arrays and parts, want 0", s.Fill)
	}
	if len(state.Arrays) > 0 && len(state.Parts) == 0 {
		if want := float64(nonzero) / float64(cells); s.Fill != want {
			t.Errorf("fill %v, want %v: %d of %d cells are nonzero", s.Fill, want, nonzero, cells)
		}
	}
	if len(state.Parts) == 0 && s.Cells != cells {
		t.Errorf("%d cells, want %d", s.Cells, cells)
	}
	if s.Bytes != state.Bytes() {
		t.Errorf("%d bytes, want %d", s.Bytes, state.Bytes())
	}
	if !(s.Low >= 0 && s.Low <= s.Keys && s.Keys <= s.High) {
		t.Errorf("%g keys with bounds %g and %g, want the estimate between them", s.Keys, s.Low, s.High)
	}
	if !(s.Fill >= 0 && s.Fill <= 1 && s.FPRate >= 0 && s.FPRate <= 1) {
		t.Errorf("fill %g and rate %g, want 0 to 1", s.Fill, s.FPRate)
	}
}

// listed returns the number of positions that l yields. It fails unless they ascend and are
// below cells.
func listed(t tb, l umbel.PositionLister, cells uint64) (n uint64) {
	t.Helper()
	least := uint64(0)
	for at := range l.Positions {
		if at < least || at >= cells {
			t.Fatalf("position %d, want at least %d and less than %d", at, least, cells)
		}
		least = at + 1
		n++
	}
	for range l.Positions {
		break // Positions must accept that yield returns false
	}
	return n
}

// statsEstimateKeys: Low and High enclose the number of distinct keys in 95 % of the filters,
// within 3 sigma of 3000 filters that are half as full as planned, as full, and twice as full;
// or they equal that number in all of them. Keys is within 10 % of it. As keys are whole
// numbers, narrow bounds may enclose one more key at each end.
func statsEstimateKeys(t tb, v umbel.Kind) {
	const planned = 600
	filters := 3000
	if testing.Short() {
		filters = 300
	}
	inside, exact, whole := 0, 0, 0.0
	empty := newFilter(t, v, planned)
	for i := range filters {
		n := planned / 2 << (i % 3)
		f := copyOf(t, v, empty)
		addAll(f, digests(uint64(i+1), n))
		if s := f.Stats(); s.Low <= float64(n) && float64(n) <= s.High {
			inside++
			if s.Low == s.High {
				exact++
				continue
			}
			// One key at each bound has the probability 2·0.0584/sigma, in a normal
			// distribution with sigma = (High-Low)/(2·1.96) keys.
			whole += 2 * 0.0584 * 2 * 1.96 / (s.High - s.Low) / float64(filters)
		}
	}
	const confidence = 0.95
	share, sigma := float64(inside)/float64(filters), math.Sqrt(confidence*(1-confidence)/float64(filters))
	if exact < filters && (share < confidence-3*sigma || share > confidence+whole+3*sigma) {
		t.Errorf("the number of keys lies between Low and High in %.4f of %d filters, want about %g, within 3 sigma of %.4f, and up to %.4f more",
			share, filters, confidence, sigma, whole)
	}
	for _, n := range []int{3000, 10000, 20000} {
		f := newFilter(t, v, 10000)
		ds := digests(1, n)
		addAll(f, ds)
		addAll(f, ds[:n/2])
		if s := f.Stats(); math.Abs(s.Keys-float64(n)) > 0.1*float64(n) {
			t.Errorf("%d keys are estimated to be %.0f", n, s.Keys)
		}
	}
}

// statsOfFullFilter: if all bits are set, the estimated number of keys is infinite and Has is
// true for every key.
func statsOfFullFilter(t tb, v umbel.Kind) {
	s := newFilter(t, v, sizes[0]).State().Clone()
	if len(s.Arrays) != 1 || len(s.Parts) != 0 || s.Arrays[0].Width > 1 {
		t.Skipf("the state is not a single array of bits")
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
		t.Errorf("a full filter: %+v, want infinite keys with a finite lower bound, and a rate of 1", st)
	}
	if _, err := json.Marshal(st); err != nil {
		t.Errorf("the stats of a full filter have no JSON: %v", err)
	}
	ds := digests(1, 100)
	wantAll(t, f, ds, "full")
	for _, d := range ds {
		if f.Add(d) {
			t.Fatalf("Add(%v) changed a full filter", d)
		}
	}
}
