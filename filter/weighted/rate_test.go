package weighted

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// queriedBy returns 10^4 keys. Each is a class of its own and a member with probability 0.1.
// weight returns the queries of a key from its rank, which begins at 0.
func queriedBy(weight func(rank int) float64) []Class {
	keys := make([]Class, 10_000)
	for i := range keys {
		keys[i] = Class{Members: 0.1, Queries: weight(i)}
	}
	return keys
}

func zipf(exponent float64) []Class {
	return queriedBy(func(rank int) float64 { return math.Pow(float64(rank+1), -exponent) })
}

// gathered puts keys with about the same real k into one class, as a filter with as many classes
// would.
func gathered(keys []Class, perBit float64) []Class {
	classes := map[int]Class{}
	for _, k := range keys {
		at := int(math.Round(perBit * math.Log2(k.Queries/k.Members)))
		c := classes[at]
		classes[at] = Class{Members: c.Members + k.Members, Queries: c.Queries + k.Queries}
	}
	var list []Class
	for _, c := range classes {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Class) int { return int(math.Copysign(1, b.Queries/b.Members-a.Queries/a.Members)) })
	return list
}

// TestBruckGaoJiangOptimum: Bruck, Gao and Jiang 2006, equations of section III, with 1000
// members of 10^4 keys: the real optimum, its first and last k, and the rate of whole k. The
// rates of a plain filter are 0.1469, 0.02158 and 0.003142.
func TestBruckGaoJiangOptimum(t *testing.T) {
	step := func(rank int) float64 {
		if rank < 100 {
			return 0.5 / 100
		}
		return 0.5 / 9900
	}
	for name, c := range map[string]struct {
		keys        []Class
		m           uint64
		rate        float64
		first, last float64
		whole       float64 // no more than this, which rounding the optimum gives
	}{
		"uniform":        {queriedBy(func(int) float64 { return 3 }), 8000, 0.021415847, 5.5451774, 5.5451774, 0.021577142},
		"Zipf 0.8":       {zipf(0.8), 8000, 0.011087639, 15.021829, 4.391659, 0.011343912},
		"Zipf 1, m/n=4":  {zipf(1), 4000, 0.040620543, 14.618403, 1.3306906, 0.041549280},
		"Zipf 1":         {zipf(1), 8000, 0.0059444729, 17.390992, 4.1032794, 0.0060703309},
		"Zipf 1, m/n=12": {zipf(1), 12000, 0.00086992333, 20.16358, 6.8758681, 0.00088575016},
		"Zipf 1.2":       {zipf(1.2), 8000, 0.0023465888, 19.760155, 3.8148997, 0.0023893068},
		"1 % get 50 %":   {queriedBy(step), 8000, 0.011324693, 12.10824, 5.4788839, 0.011451661},
	} {
		ks, rate, err := OptimalK(c.m, c.keys)
		if err != nil || !fixture.Near(rate, c.rate, 1e-7) || !fixture.Near(ks[0], c.first, 1e-7) || !fixture.Near(ks[len(ks)-1], c.last, 1e-7) {
			t.Errorf("%s: rate %.9g, k from %.8g to %.8g, %v; want %.9g, %.8g, %.8g", name, rate, ks[0], ks[len(ks)-1], err, c.rate, c.first, c.last)
		}
		classes := gathered(c.keys, 2)
		whole, rate, err := BestK(c.m, classes, 256)
		if err != nil || rate < c.rate || rate > c.whole*1.005 {
			t.Errorf("%s: whole k %v of %d classes give %.9g, %v; want %.9g to %.9g", name, whole, len(classes), rate, err, c.rate, c.whole)
		}
	}
}

// TestBruckGaoJiangErratum: the printed k_e = c + log2 r_e isn't the optimum if keys are members
// with unequal probabilities.
func TestBruckGaoJiangErratum(t *testing.T) {
	const m = 8000
	keys := zipf(1)
	var n, total, log float64
	for i := range keys {
		x := 0.02 + 0.16*float64(i)/float64(len(keys)-1)
		keys[i].Members = x
		keys[i].Queries *= 1 - x // a query of a member has no wrong result
		n += keys[i].Members
		total += keys[i].Queries
	}
	for _, k := range keys {
		log += k.Members / n * math.Log2(k.Queries/total)
	}
	var printed, load float64 // at a fill of one half
	for _, k := range keys {
		ke := m/n*math.Ln2 + math.Log2(k.Queries/total) - log
		printed += k.Queries / total * math.Exp2(-ke)
		load += k.Members * ke
	}
	if !fixture.Near(load, m*math.Ln2, 1e-9) {
		t.Fatalf("the printed k_e set %v cells, want %v", load, m*math.Ln2)
	}
	_, rate, err := OptimalK(m, keys)
	if err != nil || !fixture.Near(printed, 0.0036304853, 1e-7) || !fixture.Near(rate, 0.0032351946, 1e-7) {
		t.Errorf("printed %.8g, corrected %.8g, %v; want 0.0036304853 and 0.0032351946", printed, rate, err)
	}
}

// TestWeightedKIsOptimal: nearby real k, scaled to the same load or to another, have a higher
// rate.
func TestWeightedKIsOptimal(t *testing.T) {
	classes := []Class{{Members: 10, Queries: 5}, {Members: 200, Queries: 3}, {Members: 790, Queries: 2}}
	const m = 8000
	ks, best, err := OptimalK(m, classes)
	if err != nil {
		t.Fatal(err)
	}
	rateOf := func(ks []float64) (rate float64) {
		load := 0.0
		for i, c := range classes {
			load += c.Members * ks[i]
		}
		for i, c := range classes {
			rate += c.Queries / 10 * math.Pow(-math.Expm1(-load/m), ks[i])
		}
		return rate
	}
	if !fixture.Near(rateOf(ks), best, 1e-12) {
		t.Errorf("the optimum's rate is %g, by the sum %g", best, rateOf(ks))
	}
	r := fixture.Rand(1)
	for range 2000 {
		other := slices.Clone(ks)
		for i := range other {
			other[i] += r.NormFloat64() * 0.3
		}
		if rate := rateOf(other); rate < best {
			t.Errorf("k = %v give %g, less than %g with %v", other, rate, best, ks)
		}
	}
}

// TestWeightedKsOfOneClass: with one class the result is the plain filter with the best k.
func TestWeightedKsOfOneClass(t *testing.T) {
	for _, m := range []uint64{10, 1000, 8000, 20_000} {
		ks, rate, err := BestK(m, []Class{{Members: 1000, Queries: 7}}, 256)
		if k := plan.BestK(m, 1000); err != nil || ks[0] != k || !fixture.Near(rate, plan.Filter{M: m, K: k}.FPRate(1000), 1e-9) {
			t.Errorf("m=%d: k %v, rate %g, %v; want %d, %g", m, ks, rate, err, k, plan.Filter{M: m, K: k}.FPRate(1000))
		}
	}
}

// TestWeightedKsByBruteForce compares the search with trying all vectors.
func TestWeightedKsByBruteForce(t *testing.T) {
	const maxK = 14
	r := fixture.Rand(2)
	for trial := range 150 {
		classes := make([]Class, 1+trial%4)
		var n float64
		for i := range classes {
			classes[i] = Class{Members: math.Exp(r.Float64() * 8), Queries: math.Exp(r.Float64() * 8)}
			n += classes[i].Members
		}
		m := uint64(max(1, n*r.Float64()*12))
		ks, rate, err := BestK(m, classes, maxK)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := fpRate(m, classes, ks); err != nil || again != rate {
			t.Errorf("fpRate is %g, %v; BestK says %g", again, err, rate)
		}
		try := make([]int, len(classes))
		var all func(at int)
		all = func(at int) {
			if at == len(try) {
				if other, _ := fpRate(m, classes, try); other < rate*(1-1e-9) {
					t.Fatalf("m=%d, %v: k = %v give %.12g, the search found %v with %.12g", m, classes, try, other, ks, rate)
				}
				return
			}
			for try[at] = 1; try[at] <= maxK; try[at]++ {
				all(at + 1)
			}
		}
		all(0)
	}
}

// TestWeightedKsWithoutMembersOrQueries: a class without members gets the largest k, and a class
// without queries the smallest.
func TestWeightedKsWithoutMembersOrQueries(t *testing.T) {
	ks, rate, err := BestK(8000, []Class{{Members: 1000, Queries: 1}, {Members: 0, Queries: 1}, {Members: 100, Queries: 0}, {Members: 0, Queries: 0}}, 30)
	if err != nil || ks[1] != 30 || ks[2] != 1 || ks[3] != 1 {
		t.Fatalf("k = %v, %v; want 30 for the class without members and 1 for those without queries", ks, err)
	}
	if want, _ := fpRate(8000, []Class{{Members: 1000, Queries: 1}, {Members: 0, Queries: 1}, {Members: 100, Queries: 0}, {Members: 0, Queries: 0}}, ks); rate != want || rate > 0.02 {
		t.Errorf("rate %g, want %g, and about half of a plain filter's", rate, want)
	}
	if ks, _, err := BestK(100, []Class{{Members: 5, Queries: 0}, {Members: 0, Queries: 1}}, 30); err != nil || !slices.Equal(ks, []int{1, 30}) {
		t.Errorf("k = %v, %v; want [1 30]", ks, err)
	}
}

// TestWeightedKsOfExtremeClasses: the quotient of the classes' numbers, or a share, overflows or
// underflows a float64.
func TestWeightedKsOfExtremeClasses(t *testing.T) {
	for name, classes := range map[string][]Class{
		"hardly a member":   {{Members: 5e-324, Queries: 1}, {Members: 10, Queries: 1}},
		"hardly a question": {{Members: 5, Queries: 1e-320}, {Members: 10, Queries: 1e300}},
		"hardly anything":   {{Members: 1e-200, Queries: 1}, {Members: 1e-200, Queries: 2}},
		"far too much":      {{Members: 1e200, Queries: 1}, {Members: 1e-200, Queries: 2}},
	} {
		ks, rate, err := BestK(1000, classes, 256)
		if err != nil || !(rate >= 0 && rate <= 1) || slices.Min(ks) < 1 || slices.Max(ks) > 256 {
			t.Errorf("%s: ks %v, rate %v, error %v", name, ks, rate, err)
		}
	}
}

func TestWeightedRefuses(t *testing.T) {
	good := []Class{{Members: 1, Queries: 1}}
	for name, c := range map[string]struct {
		m       uint64
		classes []Class
		ks      []int
		maxK    int
	}{
		"no cells":           {0, good, []int{1}, 5},
		"no classes":         {100, nil, nil, 5},
		"no questions":       {100, []Class{{Members: 1, Queries: 0}}, []int{1}, 5},
		"no members":         {100, []Class{{Members: 0, Queries: 1}}, []int{1}, 5},
		"negative members":   {100, []Class{{Members: -1, Queries: 1}, {Members: 5, Queries: 5}}, []int{1, 1}, 5},
		"negative questions": {100, []Class{{Members: 1, Queries: -1}, {Members: 5, Queries: 5}}, []int{1, 1}, 5},
		"NaN":                {100, []Class{{Members: math.NaN(), Queries: 1}}, []int{1}, 5},
		"infinite":           {100, []Class{{Members: 1, Queries: math.Inf(1)}}, []int{1}, 5},
		"no k":               {100, good, []int{0}, 0},
	} {
		_, err1 := fpRate(c.m, c.classes, c.ks)
		_, _, err2 := BestK(c.m, c.classes, c.maxK)
		for _, err := range []error{err1, err2} {
			if !errors.Is(err, plan.ErrRange) {
				t.Errorf("%s: %v, want an error that wraps %q", name, err, plan.ErrRange)
			}
		}
	}
	for _, c := range []Class{{Members: 0, Queries: 1}, {Members: 1, Queries: 0}} {
		if _, _, err := OptimalK(100, append([]Class{c}, good...)); !errors.Is(err, plan.ErrRange) {
			t.Errorf("OptimalK with %v: %v, want an error that wraps %q", c, err, plan.ErrRange)
		}
	}
	if _, err := fpRate(100, good, []int{1, 2}); !errors.Is(err, plan.ErrRange) {
		t.Errorf("two k for one class: %v", err)
	}
}

func BenchmarkWeightedKs(b *testing.B) {
	for _, perBit := range []float64{0.5, 1, 2} {
		classes := gathered(zipf(1), perBit)
		b.Run(fmt.Sprintf("classes=%d", len(classes)), func(b *testing.B) {
			for b.Loop() {
				_, _, _ = BestK(8000, classes, 256)
			}
		})
	}
}
