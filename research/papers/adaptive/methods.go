package adaptive

import (
	"sync"

	"github.com/umbel-filters/umbel/inpacket/adaptive"
)

// Most of the figures have up to so many links, at this rate.
const (
	links = 200
	rate  = 0.1
)

// rates are those at which figures are made.
var rates = []float64{0.2, 0.1, 0.05, 0.01, 0.001}

// method is a way to lengths of filters of 1 to n links.
type method struct {
	name    string
	colour  int
	lengths func(n int, rate float64) (adaptive.Lengths, error)
}

const (
	formula  = "formula (17)-(19)"
	searchA  = "V-A by search"
	searchB  = "V-B by search"
	optimumA = "V-A optimum"
	optimumB = "V-B optimum"
)

// ours are the paper's methods that need no search.
var ours = []method{
	{formula, 0, func(n int, rate float64) (adaptive.Lengths, error) {
		d, err := heuristic(n, rate)
		if err != nil {
			return nil, err
		}
		return d.Lengths(), nil
	}},
	{optimumA, 1, relaxed(adaptive.Independent)},
	{optimumB, 2, relaxed(adaptive.Hashed)},
}

// counterparts are what the paper compares with.
var counterparts = []method{
	{"incremental", 3, incremental},
	{"scalable", 4, scalableOf128(true)},
	{"scalable, 128 in the first layer", 4, scalableOf128(false)},
}

// others are what it doesn't.
var others = []method{
	{"plain, for 200", 3, fixed},
	{"plain, any length", 4, adaptive.AnyLength},
	{"plain, divisors of 55440", 5, func(n int, rate float64) (adaptive.Lengths, error) {
		l, _, err := folded(n, rate, 0, adaptive.Uniform(n))
		return l, err
	}},
	{"n log2 1/f", 0, adaptive.Bound},
}

func relaxed(o adaptive.Objective) func(int, float64) (adaptive.Lengths, error) {
	return func(n int, rate float64) (adaptive.Lengths, error) {
		r, err := relax(adaptive.Requirements{Objective: o, Rate: rate, Weights: adaptive.Uniform(n)})
		return adaptive.Lengths(r.Lengths()), err
	}
}

func scalableOf128(slices bool) func(int, float64) (adaptive.Lengths, error) {
	return func(n int, rate float64) (adaptive.Lengths, error) { return scalable(n, rate, 128, slices) }
}

// searched returns what the search of one seed finds for the figures that have one
// design: up to 200 links at 0.1.
var searched = map[adaptive.Objective]func() (*adaptive.Design, error){
	adaptive.Independent: sync.OnceValues(searching(adaptive.Independent)),
	adaptive.Hashed:      sync.OnceValues(searching(adaptive.Hashed)),
}

func searching(o adaptive.Objective) func() (*adaptive.Design, error) {
	return func() (*adaptive.Design, error) {
		return greedy(adaptive.Requirements{Objective: o, Rate: rate, Weights: adaptive.Uniform(links)}, search{seed: 1})
	}
}
