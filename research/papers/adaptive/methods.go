package adaptive

import (
	"fmt"
	"math"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/almeida"
)

// The largest number of links and the rate of most figures.
const (
	links = 200
	rate  = 0.1
)

// rates contains the rates of the figures.
var rates = []float64{0.2, 0.1, 0.05, 0.01, 0.001}

// method computes lengths of filters of 1 to n links.
type method struct {
	name    string
	color   int
	lengths func(n int, rate float64) (adaptive.Lengths, error)
}

const (
	formula  = "formula (17)-(19)"
	searchA  = "V-A by search"
	searchB  = "V-B by search"
	optimumA = "V-A optimum"
	optimumB = "V-B optimum"
)

// ours contains the paper's methods that need no search.
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

// counterparts contains the filters with which the paper compares.
var counterparts = []method{
	{"incremental", 3, incrementalBits},
	{"scalable", 4, scalableOf128(true)},
	{"scalable, 128 in the first layer", 4, scalableOf128(false)},
}

// others contains filters with which it does not compare.
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

// searched contains the search with one seed, for up to 200 links at 0.1.
var searched = map[adaptive.Objective]func() (*adaptive.Design, error){
	adaptive.Independent: sync.OnceValues(searching(adaptive.Independent)),
	adaptive.Hashed:      sync.OnceValues(searching(adaptive.Hashed)),
}

func searching(o adaptive.Objective) func() (*adaptive.Design, error) {
	return func() (*adaptive.Design, error) {
		return greedy(adaptive.Requirements{Objective: o, Rate: rate, Weights: adaptive.Uniform(links)}, search{seed: 1})
	}
}

// maxLayerK is the largest number of positions per link in a layer of an incremental
// filter.
const maxLayerK = 256

// fixed returns the bits of the plain filter for n links at a rate, n times: the length
// of a header that does not adapt. It returns an error wrapping [umbel.ErrGoal].
func fixed(n int, rate float64) (adaptive.Lengths, error) {
	return lengths(n, rate, func(int) (float64, error) {
		f, err := plan.Size(uint64(n), rate)
		return float64(f.M), err
	})
}

// folded returns the bits of plain filters of 1 to n links at a rate whose lengths divide
// [inpacket.FoldBase], with the same k for every length, so that a router stores the k
// positions and divides them. If k is 0 it is the number with the least mean by w, n
// weights. It also returns k. It returns an error wrapping [umbel.ErrGoal], also if a
// filter of n links would be longer than the base.
func folded(n int, rate float64, k int, w adaptive.Weights) (adaptive.Lengths, int, error) {
	if k < 0 || k > adaptive.MaxK {
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "k is %d, want 1 to %d, or 0 for the best", k, adaptive.MaxK)
	}
	if k > 0 {
		l, err := foldedWith(n, rate, k)
		return l, k, err
	}
	if err := w.Check(); err != nil {
		return nil, 0, err
	}
	if len(w) != n {
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "%d weights for %d links, want %d", len(w), n, n)
	}
	var best adaptive.Lengths
	var last error
	for try := 1; try <= 2+int(-1.5*math.Log2(rate)); try++ {
		l, err := foldedWith(n, rate, try)
		if err != nil {
			last = err
			continue
		}
		if best == nil || l.Mean(w) < best.Mean(w) {
			best, k = l, try
		}
	}
	if best == nil {
		return nil, 0, last
	}
	return best, k, nil
}

func foldedWith(n int, rate float64, k int) (adaptive.Lengths, error) {
	sizes := number.Divisors(inpacket.FoldBase)
	return lengths(n, rate, func(i int) (float64, error) {
		for _, m := range sizes {
			if plan.FPRateAtFill(plan.Filter{M: m, K: k}.Fill(uint64(i)), k) <= rate {
				return float64(m), nil
			}
		}
		return 0, fmt.Errorf("%d links with k=%d need more than %d bits; accept a higher rate or fewer links", i, k, inpacket.FoldBase)
	})
}

// incrementalBits returns the bits of an incremental filter (Hao, Kodialam and Lakshman 2008)
// of 1 to n links, at the rate of n links. The layers are opened one after the other, and
// only open ones are sent. Their number and sizes have the least mean for equally
// frequent sizes; see divide. It returns an error wrapping [umbel.ErrGoal].
func incrementalBits(n int, rate float64) (adaptive.Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	layers, _, err := divide(uint64(n), rate, 0, min(n, 64), maxLayerK)
	if err != nil {
		return nil, sentinel.Wrap(umbel.ErrGoal, err)
	}
	var l adaptive.Lengths
	bits := 0.0
	for _, layer := range layers {
		bits += float64(layer.M)
		for range layer.Keys {
			l = append(l, bits)
		}
	}
	return l, nil
}

// scalable returns the bits of a scalable filter (Almeida et al. 2007) of 1 to n links
// with r = 1/2, s = 2 and P_0 = f/2, whose layers are opened when they are needed. If
// slices is set, each slice of the first layer has m0 bits; otherwise the whole first
// layer has m0 bits, rounded up to a multiple of its slices. Heszberger et al. do not
// state which of the two their m_0 = 128 is. It returns an error wrapping
// [umbel.ErrGoal].
func scalable(n int, rate float64, m0 uint64, slices bool) (adaptive.Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	first := rate / 2
	if k := uint64(math.Ceil(-math.Log2(first))); !slices {
		m0 = (m0 + k - 1) / k
	}
	var l adaptive.Lengths
	bits := 0.0
	for i := 0; len(l) < n; i++ {
		layer, err := almeida.LayerAt(i, first, 0.5, 2, m0)
		if err != nil {
			return nil, sentinel.Wrap(umbel.ErrGoal, err)
		}
		bits += float64(layer.Cells())
		for range min(layer.Capacity, uint64(n-len(l))) {
			l = append(l, bits)
		}
	}
	return l, nil
}

// lengths returns bits(i) for i = 1 to n.
func lengths(n int, rate float64, bits func(i int) (float64, error)) (adaptive.Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	l := make(adaptive.Lengths, n)
	for i := range l {
		m, err := bits(i + 1)
		if err != nil {
			return nil, sentinel.Wrap(umbel.ErrGoal, err)
		}
		l[i] = m
	}
	return l, nil
}
