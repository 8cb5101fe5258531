// Package trial measures false-positive rates.
package trial

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

// Order describes a measurement.
type Order struct {
	Kind    umbel.Kind
	Goal    umbel.Goal
	Params  umbel.Params
	Load    float64 // keys to add, as a factor of the planned keys
	Filters int     // filters to fill, at least 1
	Queries uint64  // queries per filter, at least 1
	Seed    uint64
	Done    func(digests int) // called with the number of digests added or queried; may be nil
}

// Result contains the measurement and the plan.
type Result struct {
	Forecast umbel.Forecast
	Keys     uint64  // added to each filter
	Queries  uint64  // of all filters
	Wrong    uint64  // false positives
	FPRate   float64 // Wrong / Queries
	Sigma    float64 // standard error of FPRate
	Estimate float64 // mean of the rates that the filters estimate
	Bytes    float64 // mean size of the filters, full
}

// Run fills filters with random digests, seals those that can be sealed, and queries them for
// others. The standard error is that between filters, because their fill differs, and at least
// the binomial one. The same order gives the same result. It returns an error wrapping umbel.ErrLimit,
// before it allocates anything, if a filter does not fit into memory.
func (o Order) Run() (Result, error) {
	forecast, err := o.Kind.Plan(o.Goal, o.Params)
	if err != nil {
		return Result{}, err
	}
	if err := container.Fits(fmt.Sprintf("a filter of kind %s for %v keys", o.Kind.Name, quantity.Count(forecast.Keys)), forecast.Bytes); err != nil {
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
		rate := float64(wrong) / float64(o.Queries)
		squares += rate * rate
		r.Wrong += wrong
		stats := f.Stats()
		r.Estimate += stats.FPRate / float64(o.Filters)
		r.Bytes += float64(stats.Bytes) / float64(o.Filters)
	}
	n := float64(o.Filters)
	r.Queries = o.Queries * uint64(o.Filters)
	r.FPRate = float64(r.Wrong) / float64(r.Queries)
	r.Sigma = math.Sqrt(r.FPRate * (1 - r.FPRate) / float64(r.Queries))
	if o.Filters > 1 {
		r.Sigma = max(r.Sigma, math.Sqrt(max(0, squares/n-r.FPRate*r.FPRate)/(n-1)))
	}
	return r, nil
}

// wrong queries f for absent digests and returns the false positives. It also queries the added
// digests, unless old keys expire in f.
func (o Order) wrong(f umbel.Filter, i int, keys uint64) (uint64, error) {
	answers := make([]bool, batch)
	var wrong, lost uint64
	o.stream(2*i+1, o.Queries, func(ds []umbel.Digest) {
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
		return 0, fmt.Errorf("bug: a filter of kind %s lost %d of %d keys", o.Kind.Name, lost, keys)
	}
	return wrong, nil
}

const batch = 4096

// stream yields n digests, determined by the seed and a stream, in batches.
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
