package folding_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// TestRates compares the rate of filters planned for 1000 keys, with fewer keys, with the
// forecast: each is within 3 % or 3 sigma. With -v it prints the table of
// docs/kinds/folding.md.
func TestRates(t *testing.T) {
	const filters, queries = 60, 20000
	shape, err := folding.Plan(umbel.Goal{Keys: 1000, FPRate: 0.012})
	if err != nil {
		t.Fatal(err)
	}
	low, high := shape.Interval()
	t.Logf("a base of %d cells, k = %d, a rate of %.4f to %.4f", shape.M, shape.K, low, high)
	t.Log("keys  cells, mean  expected  rate, measured  forecast")
	for _, n := range []int{20, 50, 100, 200, 333, 500, 750, 1000} {
		var cells, sum, squares float64
		for i := range filters {
			f := mustNew(t, shape)
			for _, d := range fixture.Digests(uint64(2*i+1), n) {
				f.Add(d)
			}
			yes := 0
			for _, d := range fixture.Digests(uint64(2*i+2), queries) {
				if f.Has(d) {
					yes++
				}
			}
			rate := float64(yes) / queries
			sum, squares = sum+rate, squares+rate*rate
			cells += float64(size(f))
		}
		mean := sum / filters
		sigma := math.Sqrt(max(0, squares/filters-mean*mean) / (filters - 1))
		want := shape.Forecast(uint64(n)).FPRate
		t.Logf("%4d  %11.0f  %8d  %14.5f  %8.5f", n, cells/filters, shape.FoldedSize(uint64(n)), mean, want)
		if math.Abs(mean-want) > max(0.03*want, 3*sigma) {
			t.Errorf("%d keys: measured rate %.5f with a sigma of %.5f, forecast %.5f", n, mean, sigma, want)
		}
	}
}

// The figures of Sailhan and Stehr 2012, section IV-C, on entropy: a base of 36,000
// cells, 1000 keys of 2 cells, sent folded by 3 and by 4, 21,000 bits together.
const (
	entropyCells, entropyKeys, entropyK = 36000, 1000, 2
)

// joined returns the rate of two folds of a base that are both queried. union lists the numbers of
// cells that a cell is joined with in at least one of the folds, each as often as it occurs.
func joined(r, s int, unions []int) float64 {
	load := float64(entropyK*entropyKeys) / entropyCells
	empty := func(cells int) float64 { return math.Exp(-load * float64(cells)) }
	sum := 0.0
	for _, u := range unions {
		sum += 1 - empty(r) - empty(s) + empty(u)
	}
	return math.Pow(sum/float64(len(unions)), entropyK)
}

// neighbors returns, for each cell of a period, the number of cells joined with it if r and s
// neighbors are joined.
func neighbors(r, s int) []int {
	unions := make([]int, r*s)
	for c := range unions {
		a, b := c/r*r, c/s*s
		shared := min(a+r, b+s) - max(a, b)
		unions[c] = r + s - shared
	}
	return unions
}

// TestTwoFolds measures the rate of two folds of one base, by 3 and by 4, which are both
// queried, and compares it with the alternatives: docs/kinds/folding.md. In the order of
// equation (3) a fold joins cells a third or a fourth of the base apart; the two folds then
// share one cell and the rate is 0.0048. In our order a fold joins neighbors, so that both
// folds join the same cells, and the rate is 0.0156.
func TestTwoFolds(t *testing.T) {
	shape := kept(t, folding.Shape{M: entropyCells, K: entropyK}, 0.02, 0.005)
	const filters, queries = 20, 50000
	var three, four, both, unfolded float64
	for i := range filters {
		f := mustNew(t, shape)
		for _, d := range fixture.Digests(uint64(2*i+1), entropyKeys) {
			f.Add(d)
		}
		foldedBy := func(r uint64) *bloom.Filter {
			folded, err := f.FoldedBy(r)
			if err != nil {
				t.Fatal(err)
			}
			return folded
		}
		in3, in4, base := foldedBy(3), foldedBy(4), foldedBy(1)
		for _, d := range fixture.Digests(uint64(2*i+2), queries) {
			for _, c := range []struct {
				has bool
				sum *float64
			}{{in3.Has(d), &three}, {in4.Has(d), &four}, {in3.Has(d) && in4.Has(d), &both}, {base.Has(d), &unfolded}} {
				if c.has {
					*c.sum += 1.0 / (filters * queries)
				}
			}
		}
	}
	single := func(m uint64, k int) float64 { return plan.Filter{M: m, K: k}.FPRate(entropyKeys) }
	for _, c := range []struct {
		what            string
		measured, want  float64
		bits            float64
		printed, within float64
	}{
		{"folded by 3", three, single(12000, 2), 12000, 0.0236, 0.0001},
		{"folded by 4", four, single(9000, 2), 9000, 0.0397, 0.0001},
		{"both, in our order", both, joined(3, 4, neighbors(3, 4)), 21000, 0.0156, 0.0001},
		{"both, in the order of equation (3)", -1, joined(3, 4, []int{6}), 21000, 0.0048, 0.0001},
		{"one filter of 21,000 cells, k = 2", -1, single(21000, 2), 21000, 0.0083, 0.0001},
		{"one filter of 21,000 cells, k = 4", -1, single(21000, 4), 21000, 0.0009, 0.0001},
		{"the base", unfolded, single(36000, 2), 36000, 0.0029, 0.0001},
		{"the base, compressed", -1, single(36000, 2), plan.Filter{M: 36000, K: 2}.WireBits(entropyKeys).Mean, 0.0029, 0.0001},
	} {
		t.Logf("%-36s %6.0f bits, rate %.4f, measured %.4f", c.what, c.bits, c.want, c.measured)
		if math.Abs(c.want-c.printed) > c.within {
			t.Errorf("%s: a rate of %.5f, want %.4f", c.what, c.want, c.printed)
		}
		if sigma := math.Sqrt(c.want / (filters * queries)); c.measured >= 0 && math.Abs(c.measured-c.want) > max(0.03*c.want, 4*sigma) {
			t.Errorf("%s: measured %.5f, want %.5f", c.what, c.measured, c.want)
		}
	}
}

// The order of equation (3), by position mod m, is measured too: 0.0048.
func TestEquation3Order(t *testing.T) {
	const filters, queries = 20, 50000
	yes := 0
	for i := range filters {
		three, four := make([]bool, entropyCells/3), make([]bool, entropyCells/4)
		for _, d := range fixture.Digests(uint64(2*i+1), entropyKeys) {
			for _, h := range []uint64{d.H1, d.H2} {
				h %= entropyCells
				three[h%(entropyCells/3)], four[h%(entropyCells/4)] = true, true
			}
		}
		for _, d := range fixture.Digests(uint64(2*i+2), queries) {
			all := true
			for _, h := range []uint64{d.H1, d.H2} {
				h %= entropyCells
				all = all && three[h%(entropyCells/3)] && four[h%(entropyCells/4)]
			}
			if all {
				yes++
			}
		}
	}
	got, want := float64(yes)/(filters*queries), joined(3, 4, []int{6})
	if math.Abs(got/want-1) > 0.05 {
		t.Errorf("measured %.5f, want %.5f", got, want)
	}
}
