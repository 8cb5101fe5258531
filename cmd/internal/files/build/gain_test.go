package build

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/heavy"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// TestGainWithTable computes the false positives of filters whose table of frequent keys counts
// as memory, relative to a plain filter of the same bytes. Of a universe of keys that are queried
// by Zipf's law, a random part is present; the log contains 2 million queries. The rate is expected
// from the cells per key, without noise of the positions. It must be within 0.01 of the documented
// one. With -v it prints the table of docs/kinds/weighted.md.
func TestGainWithTable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Logf("%8s %8s %8s %9s %8s %8s", "exponent", "universe", "present", "bits/key", "table", "relative")
	for _, c := range []struct {
		exponent          float64
		universe, present int
		bits              uint64
		want              float64
	}{
		{1, 10_000, 1000, 8, 0.87},
		{1, 10_000, 1000, 16, 0.88},
		{1, 100_000, 10_000, 8, 0.73},
		{1, 300_000, 30_000, 8, 0.66},
		{1, 100_000, 1000, 10, 0.94},
		{1.2, 10_000, 1000, 8, 0.64},
		{1.2, 100_000, 10_000, 8, 0.40},
	} {
		relative, table := gainWithTable(t, c.exponent, c.universe, c.present, c.bits)
		t.Logf("%8g %8d %8d %9d %8d %8.2f", c.exponent, c.universe, c.present, c.bits, table, relative)
		if math.Abs(relative-c.want) > 0.01 {
			t.Errorf("Zipf %g, %d of %d keys, %d bits per key: %.3f of the false positives of a plain filter, want %.2f",
				c.exponent, c.present, c.universe, c.bits, relative, c.want)
		}
	}
}

// gainWithTable returns the false positives of a weighted filter divided by those of a plain filter
// of the same bytes, averaged over 10 sets, and the entries of the last table.
func gainWithTable(t *testing.T, exponent float64, universe, present int, bits uint64) (relative float64, table int) {
	t.Helper()
	const sets, queries = 10, 2_000_000
	ds := fixture.Digests(1, universe)
	weights, sums := make([]float64, universe), make([]float64, universe)
	sum := 0.0
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -exponent)
		sum += weights[i]
		sums[i] = sum
	}
	rng := rand.New(rand.NewPCG(1, bits))
	asked := heavy.New(universe)
	for range queries {
		asked.Add(ds[min(sort.SearchFloat64s(sums, rng.Float64()*sum), universe-1)])
	}
	goal := umbel.Goal{Keys: uint64(present), Bytes: bits * uint64(present) / 8}
	m := goal.Bytes * 8
	plain := plan.Filter{M: m, K: plan.BestK(m, uint64(present))}.FPRate(uint64(present))
	for range sets {
		members := make(map[umbel.Digest]bool)
		order := rng.Perm(universe)
		for _, i := range order[:present] {
			members[ds[i]] = true
		}
		s, err := learning(goal).shape(asked, members)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Forecast(goal.Keys).Bytes; got > goal.Bytes {
			t.Fatalf("the filter and its table take %d bytes, want at most %d", got, goal.Bytes)
		}
		class := make(map[umbel.Digest]int)
		for _, h := range s.Hot {
			class[h.Digest] = h.Class
		}
		fill := plan.Filter{M: s.M, K: s.Classes[0].K}.Fill(goal.Keys) // no present key is in the table
		var wrong, total float64
		for _, i := range order[present:] {
			total += weights[i]
			wrong += weights[i] * math.Pow(fill, float64(s.Classes[class[ds[i]]].K))
		}
		exact := wrong / total / plain
		if g := gainOf(s, s.Forecast(goal.Keys)); math.Abs(g.Relative/exact-1) > 0.03 || g.TableKeys != len(s.Hot) || g.TableBytes != 8*uint64(len(s.Hot)) {
			t.Errorf("Learn states %+v, want %.3f of the false positives of a plain filter and a table of %d keys", *g, exact, len(s.Hot))
		}
		relative += exact / sets
		table = len(s.Hot)
	}
	return relative, table
}
