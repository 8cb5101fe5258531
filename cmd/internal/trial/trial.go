// Package trial measures how often filters answer yes for keys that they don't
// hold.
package trial

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
)

// Order says what to measure.
type Order struct {
	Kind      umbel.Kind
	Goal      umbel.Goal
	Params    umbel.Params
	Load      float64 // keys that are added, in times of those that the plan is for
	Filters   int     // filters to fill, at least 1
	Questions uint64  // to ask of each, at least 1
	Seed      uint64
	Done      func(digests int) // told of digests that were added or asked; may be nil
}

// Result is what was measured, and what was planned.
type Result struct {
	Forecast  umbel.Forecast
	Keys      uint64  // added to each filter
	Questions uint64  // asked of all filters
	Wrong     uint64  // of these, answered yes
	FPRate    float64 // Wrong / Questions
	Sigma     float64 // standard error of FPRate
	Estimate  float64 // mean of what the filters say of their own rate
	Bytes     float64 // mean size of the filters, full
}

// Run fills filters with random digests, seals those that can be, and asks them for others. Filters differ in
// fill as well as in luck: the standard error is that between filters, and at least
// that of counting. The same order gives the same result.
func (o Order) Run() (Result, error) {
	forecast, err := o.Kind.Plan(o.Goal, o.Params)
	if err != nil {
		return Result{}, err
	}
	r := Result{Forecast: forecast, Keys: uint64(math.Round(float64(forecast.Keys) * o.Load))}
	var squares float64
	for i := range o.Filters {
		f, err := o.Kind.New(o.Goal, o.Params)
		if err != nil {
			return Result{}, err
		}
		o.stream(2*i, r.Keys, func(ds []umbel.Digest) { umbel.AddAll(f, nil, ds) })
		if s, ok := f.(umbel.Sealer); ok {
			if err := s.Seal(); err != nil {
				return Result{}, err
			}
		}
		wrong, err := o.wrong(f, i, r.Keys)
		if err != nil {
			return Result{}, err
		}
		rate := float64(wrong) / float64(o.Questions)
		squares += rate * rate
		r.Wrong += wrong
		stats := f.Stats()
		r.Estimate += stats.FPRate / float64(o.Filters)
		r.Bytes += float64(stats.Bytes) / float64(o.Filters)
	}
	n := float64(o.Filters)
	r.Questions = o.Questions * uint64(o.Filters)
	r.FPRate = float64(r.Wrong) / float64(r.Questions)
	r.Sigma = math.Sqrt(r.FPRate * (1 - r.FPRate) / float64(r.Questions))
	if o.Filters > 1 {
		r.Sigma = max(r.Sigma, math.Sqrt(max(0, squares/n-r.FPRate*r.FPRate)/(n-1)))
	}
	return r, nil
}

// wrong asks f for what it doesn't hold, and again for what it holds, unless it is of
// those that forget.
func (o Order) wrong(f umbel.Filter, i int, keys uint64) (uint64, error) {
	answers := make([]bool, batch)
	var wrong, lost uint64
	o.stream(2*i+1, o.Questions, func(ds []umbel.Digest) {
		umbel.HasAll(f, answers, ds)
		wrong += count(answers[:len(ds)], true)
	})
	if _, forgets := f.(umbel.Advancer); forgets {
		return wrong, nil
	}
	o.stream(2*i, keys, func(ds []umbel.Digest) {
		umbel.HasAll(f, answers, ds)
		lost += count(answers[:len(ds)], false)
	})
	if lost != 0 {
		return 0, fmt.Errorf("a filter of kind %s lost %d of %d keys: this is a bug of umbel", o.Kind.Name, lost, keys)
	}
	return wrong, nil
}

const batch = 4096

// stream hands out the n digests of a stream of the order's seed, in batches.
func (o Order) stream(which int, n uint64, take func([]umbel.Digest)) {
	rng := rand.NewPCG(o.Seed, uint64(which))
	ds := make([]umbel.Digest, batch)
	for n > 0 {
		ds = ds[:min(n, batch)]
		for i := range ds {
			ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
		}
		take(ds)
		n -= uint64(len(ds))
		if o.Done != nil {
			o.Done(len(ds))
		}
	}
}

func count(answers []bool, what bool) uint64 {
	var n uint64
	for _, a := range answers {
		if a == what {
			n++
		}
	}
	return n
}
