package weighted_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// universe is a set of keys, each with a share of the queries, in classes of similar share.
type universe struct {
	weights []float64
	class   []int
	classes []weighted.Class // with Members as they are if members of the keys are drawn
}

const keysThere, members = 10_000, 1000

// newUniverse divides 10^4 keys into classes of half a bit of log2 of their weights, the
// largest class first.
func newUniverse(weight func(rank int) float64) universe {
	u := universe{weights: make([]float64, keysThere), class: make([]int, keysThere)}
	at := map[int]int{}
	for i := keysThere - 1; i >= 0; i-- { // the keys with the fewest queries form the largest class
		w := weight(i)
		half := int(math.Round(2 * math.Log2(w)))
		if _, ok := at[half]; !ok {
			at[half] = len(at)
			u.classes = append(u.classes, weighted.Class{})
		}
		c := at[half]
		u.weights[i], u.class[i] = w, c
		u.classes[c].Members += members / float64(keysThere)
		u.classes[c].Queries += w
	}
	return u
}

func zipf(exponent float64) func(int) float64 {
	return func(rank int) float64 { return math.Pow(float64(rank+1), -exponent) }
}

// measure returns the weighted rate and its standard error for filters that each contain 1000
// other keys of the universe. The two functions add and query.
func (u universe) measure(t *testing.T, s weighted.Shape, filters int, add, has func(f *weighted.Filter, d umbel.Digest, key int) bool) (mean, sigma float64) {
	t.Helper()
	f := mustNew(t, s)
	rng := rand.New(rand.NewPCG(1, s.M))
	var sum, squares float64
	for range filters {
		f.Clear()
		ds := make([]umbel.Digest, keysThere)
		for i := range ds {
			ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
		}
		order := rng.Perm(keysThere)
		for _, i := range order[:members] {
			add(f, ds[i], i)
		}
		var total, wrong float64
		for _, i := range order[members:] {
			total += u.weights[i]
			if has(f, ds[i], i) {
				wrong += u.weights[i]
			}
		}
		rate := wrong / total
		sum += rate
		squares += rate * rate
	}
	n := float64(filters)
	mean = sum / n
	return mean, math.Sqrt((squares/n - mean*mean) / (n - 1))
}

// Bruck, Gao and Jiang 2006: weighted rates of filters, compared with the formula and with a
// plain filter of the same size.
func TestRates(t *testing.T) {
	step := func(rank int) float64 {
		if rank < 100 {
			return 0.5 / 100
		}
		return 0.5 / 9900
	}
	for _, c := range []struct {
		name   string
		weight func(int) float64
		perKey uint64
		less   float64 // than a plain filter, at least
	}{
		{"uniform", func(int) float64 { return 1 }, 8, -0.03},
		{"Zipf 0.8", zipf(0.8), 8, 0.44},
		{"Zipf 1", zipf(1), 4, 0.68},
		{"Zipf 1", zipf(1), 8, 0.70},
		{"Zipf 1", zipf(1), 12, 0.68},
		{"Zipf 1.2", zipf(1.2), 8, 0.86},
		{"1 % get 50 %", step, 8, 0.44},
	} {
		u := newUniverse(c.weight)
		s, err := weighted.Plan(umbel.Goal{Keys: members, Bytes: c.perKey * members / 8}, u.classes...)
		if err != nil {
			t.Fatal(err)
		}
		keys := make([]weighted.Class, keysThere)
		for i, w := range u.weights {
			keys[i] = weighted.Class{Members: members / float64(keysThere), Queries: w}
		}
		_, optimum, err := weighted.OptimalK(s.M, keys) // with a real number of cells for each key
		if err != nil {
			t.Fatal(err)
		}
		planned := s.Forecast(members).FPRate
		got, sigma := u.measure(t, s, 400,
			func(f *weighted.Filter, d umbel.Digest, i int) bool { return f.AddClass(d, u.class[i]) },
			func(f *weighted.Filter, d umbel.Digest, i int) bool { return f.HasClass(d, u.class[i]) })
		plain := weighted.Shape{M: s.M, Group: s.Group, Classes: []weighted.Class{{K: plan.BestK(s.M, members)}}}
		bloom, _ := u.measure(t, plain, 400,
			func(f *weighted.Filter, d umbel.Digest, _ int) bool { return f.Add(d) },
			func(f *weighted.Filter, d umbel.Digest, _ int) bool { return f.Has(d) })
		// If few keys get most of the queries, 400 filters do not determine the average well.
		bloom = min(bloom, plan.Filter{M: s.M, K: plain.Classes[0].K}.FPRate(members))
		t.Logf("%-15s m/n=%-2d  %2d classes  optimum %.5f  planned %.5f  measured %.5f ± %.5f  plain %.5f  %.0f %% fewer",
			c.name, c.perKey, len(u.classes), optimum, planned, got, sigma, bloom, 100*(1-got/bloom))
		if planned < optimum || planned > optimum*1.045 {
			t.Errorf("%s: planned %.5f, want from the optimum %.5f to 4.5 %% above", c.name, planned, optimum)
		}
		if math.Abs(got-planned) > max(0.03*planned, 3*sigma) {
			t.Errorf("%s: measured %.5f with a sigma of %.5f, planned %.5f", c.name, got, sigma, planned)
		}
		if got > bloom*(1-c.less) {
			t.Errorf("%s: measured %.5f, want at least %.0f %% less than the plain filter's %.5f", c.name, got, 100*c.less, bloom)
		}
	}
}

// A table of digests gives the same answers as a program that names the classes.
func TestTableIsAsGoodAsTheProgram(t *testing.T) {
	u := newUniverse(zipf(1))
	s, err := weighted.Plan(umbel.Goal{Keys: members, Bytes: members}, u.classes...)
	if err != nil {
		t.Fatal(err)
	}
	ds := fixture.Digests(1, keysThere)
	byProgram := mustNew(t, s)
	for i, d := range ds {
		if u.class[i] != 0 {
			s.Hot = append(s.Hot, weighted.Hot{Digest: d, Class: u.class[i]})
		}
	}
	byTable := mustNew(t, s)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(ds), func(i, j int) {
		ds[i], ds[j] = ds[j], ds[i]
		u.class[i], u.class[j] = u.class[j], u.class[i]
	})
	for i, d := range ds[:members] {
		if a, b := byTable.Add(d), byProgram.AddClass(d, u.class[i]); a != b {
			t.Fatalf("key %d: Add is %v by the table and %v by the program", i, a, b)
		}
	}
	if !bits(byTable).Equal(bits(byProgram)) {
		t.Error("the bits differ")
	}
	for i, d := range ds {
		if a, b := byTable.Has(d), byProgram.HasClass(d, u.class[i]); a != b {
			t.Fatalf("key %d: Has is %v by the table and %v by the program", i, a, b)
		}
	}
}

// Stats use the classes' shares of keys and queries.
func TestStatsOfClasses(t *testing.T) {
	u := newUniverse(zipf(1))
	s, err := weighted.Plan(umbel.Goal{Keys: members, Bytes: members}, u.classes...)
	if err != nil {
		t.Fatal(err)
	}
	f := mustNew(t, s)
	ds := fixture.Digests(1, keysThere)
	for i := 0; i < keysThere; i += keysThere / members {
		f.AddClass(ds[i], u.class[i])
	}
	st, fc := f.Stats(), s.Forecast(members)
	if math.Abs(st.Keys/members-1) > 0.1 || st.Low > members || st.High < members {
		t.Errorf("estimated %.0f keys, from %.0f to %.0f; want %d", st.Keys, st.Low, st.High, members)
	}
	if math.Abs(st.FPRate/fc.FPRate-1) > 0.15 || st.K != fc.K {
		t.Errorf("estimated rate %g, k %g; want about %g, %g", st.FPRate, st.K, fc.FPRate, fc.K)
	}
}
