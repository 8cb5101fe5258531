package filter_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// The law of few keys: with the keys that they are planned for, filters have a mean rate of at most 1.05 times
// the planned one, and their forecast is within 5 percent of it, in every kind and for any small number of keys.
// Formats of other programs fix the size or the rate: nixbloom and redisbloom are exempt.
//
//	UMBEL_FEWKEYS=1 go test ./filter -run FewKeys -v    # all cases, and random ones; some minutes
//
// It prints a table of the means in units of the planned rate and of the forecast.
func TestFewKeys(t *testing.T) {
	keys, rates, filters := []uint64{1, 2, 5, 20}, []float64{0.1, 1e-3, 1e-6}, 200
	long := os.Getenv("UMBEL_FEWKEYS") != ""
	rng := rand.New(rand.NewPCG(1, 2))
	if long {
		keys, rates, filters = []uint64{1, 2, 3, 5, 10, 20, 50, 100}, []float64{0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9}, 3000
	}
	for _, f := range forms() {
		for _, n := range keys {
			for _, p := range rates {
				f.check(t, umbel.Goal{Keys: n, FPRate: p}, filters, rng)
			}
		}
		for range 12 {
			if long {
				f.check(t, umbel.Goal{Keys: 1 + rng.Uint64N(100), FPRate: math.Exp(-2.3 - 18.4*rng.Float64())}, filters, rng)
			}
		}
	}
}

// TestFewKeysCounted is the law with counted answers instead of the rate that follows from the cells, which takes
// positions as independent.
func TestFewKeysCounted(t *testing.T) {
	rates, filters, queries := []float64{0.1, 0.01}, 400, 300
	rng := rand.New(rand.NewPCG(3, 4))
	if os.Getenv("UMBEL_FEWKEYS") != "" {
		rates, filters, queries = []float64{0.1, 0.01, 1e-3, 1e-4}, 3000, 3000
	}
	for _, f := range forms() {
		if f.name == "window, by-keys 1" || f.name == "weighted, 2 classes" {
			continue // the key that ended the generation is in the filter; queries have weights
		}
		full := f.full
		f.queries = float64(queries)
		f.full = func(f umbel.Filter, n uint64, next func() umbel.Digest) float64 {
			full(f, n, next)
			yes := 0
			for range queries {
				if f.Has(next()) {
					yes++
				}
			}
			return float64(yes) / float64(queries)
		}
		for _, n := range []uint64{1, 3, 10} {
			for _, p := range rates {
				f.check(t, umbel.Goal{Keys: n, FPRate: p}, filters, rng)
			}
		}
	}
}

// form is a way to make filters: a kind and parameters.
type form struct {
	name string
	plan func(g umbel.Goal) (umbel.Shape, error)
	make func(s umbel.Shape) (umbel.Filter, error)
	full func(f umbel.Filter, n uint64, next func() umbel.Digest) float64 // fills f and returns its rate

	queries float64 // that are counted for a rate; 0 for a rate that follows from the cells
}

func forms() []form {
	var all []form
	for _, k := range filter.All {
		if k.Name == nixbloom.Name || k.Name == redisbloom.Name {
			continue
		}
		all = append(all, formOf(k.Name, k, nil))
	}
	param := func(name string, x uint64) umbel.Params {
		return umbel.Params{{Name: name, Value: umbel.Uint(x)}}
	}
	of := func(kind, name string, x uint64) form {
		return formOf(fmt.Sprintf("%s, %s %d", kind, name, x), fixture.Must(filter.All.Find(kind)), param(name, x))
	}
	return append(all,
		of("bloom", "k", 3), of("counting", "width", 16), of("partitioned", "k", 5), of("blocked", "words", 2),
		of("folding", "width", 4), of("folding", "oversize", 1), of("dynamic", "width", 4),
		of("window", "by-keys", 1), of("window", "l", 1), classes())
}

// formOf returns the form of a kind with parameters.
func formOf(name string, k umbel.Kind, ps umbel.Params) form {
	var goal umbel.Goal
	f := form{name: name, full: addKeys}
	f.plan = func(g umbel.Goal) (umbel.Shape, error) {
		goal = g
		s, _, err := k.Shape(g, ps)
		return s, err
	}
	f.make = func(umbel.Shape) (umbel.Filter, error) { return k.New(goal, ps) }
	if k.Name == window.Name {
		f.full = fillWindow
	}
	return f
}

// addKeys adds n keys.
func addKeys(f umbel.Filter, n uint64, next func() umbel.Digest) float64 {
	for range n {
		f.Add(next())
	}
	if s, ok := f.(umbel.Sealer); ok {
		if err := s.Seal(); err != nil {
			panic(err)
		}
	}
	return f.Stats().FPRate
}

// fillWindow adds keys until all generations are full and returns the rate just before the next one begins, the
// worst moment.
func fillWindow(filter umbel.Filter, _ uint64, next func() umbel.Digest) float64 {
	f := filter.(*window.Filter)
	s := f.Shape()
	if s.Ticks == 0 { // by keys: the first key of a generation begins it
		for range uint64(2*(s.K+s.L)) * s.Limit {
			f.Add(next())
		}
		for first := f.State().Params.Uint("now"); ; {
			before := f.Stats().FPRate
			if f.Add(next()); f.State().Params.Uint("now") > first {
				return before
			}
		}
	}
	for generation := uint64(0); ; {
		if _, err := f.TryAdd(next()); err == nil {
			continue
		}
		if generation++; generation > uint64(s.K+s.L) {
			return f.Stats().FPRate
		}
		if err := f.Advance(generation * s.Ticks); err != nil {
			panic(err)
		}
	}
}

// classes is the form of weighted filters with two classes: a fifth of the keys gets most of the queries.
func classes() form {
	f := form{name: "weighted, 2 classes"}
	f.plan = func(g umbel.Goal) (umbel.Shape, error) {
		return weighted.Plan(g, weighted.Class{Members: 4, Queries: 1}, weighted.Class{Members: 1, Queries: 30})
	}
	f.make = func(s umbel.Shape) (umbel.Filter, error) { return weighted.NewShape(s.(weighted.Shape)) }
	f.full = func(filter umbel.Filter, n uint64, next func() umbel.Digest) float64 {
		w := filter.(*weighted.Filter)
		for i := range n {
			class := 0
			if i < n/5 {
				class = 1
			}
			w.AddClass(next(), class)
		}
		return w.Stats().FPRate
	}
	return f
}

// check measures filters for one goal.
func (f form) check(t *testing.T, g umbel.Goal, filters int, rng *rand.Rand) {
	t.Helper()
	if f.name == "weighted, 2 classes" && g.Keys%5 != 0 {
		return // shares of classes are whole keys
	}
	s, err := f.plan(g)
	if err != nil {
		t.Errorf("%s, %d keys at %.3g: %v", f.name, g.Keys, g.FPRate, err)
		return
	}
	forecast := s.Forecast(g.Keys).FPRate
	empty := fixture.Must(f.make(s)).State()
	kind := fixture.Must(filter.All.Find(empty.Kind))
	next := func() umbel.Digest { return umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()} }
	var sum, squares float64
	for range filters {
		rate := f.full(fixture.Must(kind.Open(empty.Clone())), g.Keys, next)
		sum += rate
		squares += rate * rate
	}
	N := float64(filters)
	mean := sum / N
	sigma := math.Sqrt(max(0, squares/N-mean*mean) / N)
	if all := N * f.queries; all > 0 { // also if no answer was positive
		sigma = max(sigma, math.Sqrt((forecast+1/all)/all))
	}
	t.Logf("%-20s %3d keys at %-8.3g mean/planned %.3f ± %.3f, mean/forecast %.3f ± %.3f", f.name, g.Keys, g.FPRate,
		mean/g.FPRate, sigma/g.FPRate, mean/forecast, sigma/forecast)
	if mean > 1.05*g.FPRate+4*sigma {
		t.Errorf("%s, %d keys at %.3g: a mean rate of %.3g with a sigma of %.2g in %d filters", f.name, g.Keys, g.FPRate, mean, sigma, filters)
	}
	if math.Abs(mean-forecast) > 0.05*forecast+4*sigma {
		t.Errorf("%s, %d keys at %.3g: a mean rate of %.3g with a sigma of %.2g in %d filters, forecast %.3g", f.name, g.Keys, g.FPRate, mean, sigma, filters, forecast)
	}
}
