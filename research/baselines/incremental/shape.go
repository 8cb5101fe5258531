package incremental

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// MaxLayers is the largest number of layers.
const MaxLayers = 64

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	Layers []Layer // 1 to MaxLayers, in the order in which they are opened
	Hasher umbel.Hasher
}

// A layer may have smallLayer cells. A larger one has at most 4 times the cells of those
// before it, and is full with at least one of leastFull of its own cells: with an untrusted
// state a few additions cannot take much memory. Layers of plans are full with at least one
// in 13.
const (
	smallLayer = 4096
	leastFull  = 64
)

// Plan returns the shape that meets the goal with any number of keys up to g.Keys. Of these
// it has the least memory on average over all these numbers, all equally likely: see
// [Divide]. Layers from 64 cells on are whole words. The error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) Check() error { return wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	if n := len(s.Layers); n < 1 || n > MaxLayers {
		return fmt.Errorf("incremental: %d layers, want 1 to %d", n, MaxLayers)
	}
	sum := uint64(0)
	for i, p := range s.Layers {
		switch {
		case p.M == 0 || p.M > 1<<56-sum:
			return fmt.Errorf("incremental: layer %d has %d cells, want at least 1, and 2^56 in all layers", i, p.M)
		case i > 0 && p.M > 4*sum+smallLayer:
			return fmt.Errorf("incremental: layer %d has %d cells, want at most 4 times the %d of those before it and %d", i, p.M, sum, smallLayer)
		case p.M >= 64 && p.M%64 != 0:
			return fmt.Errorf("incremental: layer %d has %d cells, want a multiple of 64 from 64 on", i, p.M)
		case p.K < 1 || p.K > bloom.MaxK:
			return fmt.Errorf("incremental: layer %d sets %d cells per key, want 1 to %d", i, p.K, bloom.MaxK)
		case p.Limit == 0 || p.Limit > p.M:
			return fmt.Errorf("incremental: layer %d is full with %d bits of %d, want 1 to all of them", i, p.Limit, p.M)
		case p.M > smallLayer && p.Limit < p.M/leastFull:
			return fmt.Errorf("incremental: layer %d of %d cells is full with %d bits, want at least one in %d", i, p.M, p.Limit, leastFull)
		}
		sum += p.M
	}
	return s.Hasher.Check()
}

// bloom returns the shape of layer i, whose cells stay together in words from 64 on.
func (s Shape) bloom(i int) bloom.Shape {
	l := bloom.Shape{M: s.Layers[i].M, K: s.Layers[i].K, Hasher: s.Hasher}
	if l.M >= 64 {
		l.Group = 6
	}
	return l
}

// Forecast returns what a filter of this shape costs, and its rate, with n keys: with the
// layers that are open by then, all full except the last. A layer does not receive the keys
// that are false positives in those before it. For the maximum of keys all layers are open.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := umbel.Forecast{Keys: n}
	logNegative, left, set := 0.0, float64(n), 0.0 // logarithm of the fraction of true negatives
	for i, l := range s.Layers {
		if i > 0 && left <= 0 {
			break
		}
		negative := math.Exp(logNegative) // of the keys that come
		keys := l.closedKeys()
		rate := l.closedRate()
		if left*negative < keys || i == len(s.Layers)-1 {
			keys = left * negative
			rate = math.Pow(l.ones(keys)/float64(l.M), float64(l.K))
		}
		left -= keys / negative
		logNegative += math.Log1p(-rate)
		set += keys * float64(l.K)
		fc.Cells += l.M
		fc.Bytes += l.bytes()
	}
	fc.FPRate, fc.K = 0-math.Expm1(logNegative), set/float64(max(n, 1))
	if n <= fewKeys {
		fc.FPRate = limitedFPRate(s.Layers, n)
	}
	return fc
}

// fewKeys is the number of keys up to which a forecast follows the distributions of the layers' bits.
const fewKeys = 200

// Layer contains the parameters of one layer.
type Layer struct {
	M     uint64 // cells (bits), at least 1; a multiple of 64 if 64 or more
	K     int    // cells set per key, 1 to bloom.MaxK
	Limit uint64 // bits with which it is full, 1 to M
}

// layerFor returns the smallest layer that accepts that many keys on average and has a rate
// of at most p with the last of them, which may set K bits beyond Limit-1. It has slightly
// more cells than the layer of [Divide], which ignores that: those of one or
// two keys.
func layerFor(keys uint64, k int, p float64) Layer {
	fill := math.Pow(p, 1/float64(k))
	at := func(m uint64) Layer {
		limit := math.Floor(float64(m)*fill*(1+1e-12)) - float64(k-1)
		if m > 1 { // with all bits set it would contain any number of keys
			limit = min(limit, float64(m-1))
		}
		return Layer{M: m, K: k, Limit: uint64(max(limit, 0))}
	}
	high := 1 + largest(0, 64, 1<<56, func(m uint64) bool { return at(m).keys() < float64(keys) })
	if high > 64 {
		high = (high + 63) &^ 63
	}
	return at(high)
}

// keys returns the number of keys with which the layer is expected to have Limit bits.
func (l Layer) keys() float64 {
	switch {
	case l.Limit == 0:
		return -1 // no such layer exists
	case l.M == 1:
		return 1
	case l.Limit >= l.M:
		return math.Inf(1)
	}
	return math.Log1p(-float64(l.Limit)/float64(l.M)) / math.Log1p(-1/float64(l.M)) / float64(l.K)
}

// ones returns the expected number of bits with n keys, which need not be whole.
func (l Layer) ones(n float64) float64 {
	if l.M == 1 {
		return min(n, 1)
	}
	return -float64(l.M) * math.Expm1(n*float64(l.K)*math.Log1p(-1/float64(l.M)))
}

// closedKeys returns the expected number of keys of the layer when it is full. The
// last key sets some bits beyond the limit: a walk with steps of mean u and variance v
// exceeds a whole limit by (u² + v)/2u - 1/2 on average (renewal theory; Feller 1971,
// volume II, chapter XI).
func (l Layer) closedKeys() float64 {
	fill := float64(l.Limit) / float64(l.M)
	step := float64(l.K) * (1 - fill)
	ones := min(float64(l.M), float64(l.Limit)+max(0, (step+fill)/2-0.5))
	if l.M == 1 {
		return 1
	}
	draws := math.Log1p(-min(ones, float64(l.M)-0.5)/float64(l.M)) / math.Log1p(-1/float64(l.M))
	return draws / float64(l.K)
}

// closedRate returns the expected rate of the layer when it is full: the mean over the number of bits
// that the last key sets beyond the limit. A key sets S bits, about binomial with K draws, and it sets
// o bits beyond with a probability proportional to P(S > o) (Feller 1971, as above).
func (l Layer) closedRate() (mean float64) {
	m, k, limit := float64(l.M), float64(l.K), float64(l.Limit)
	chance := math.Pow(limit/m, k) // of S = o
	if chance == 0 || l.Limit >= l.M {
		return math.Pow(min(limit, m)/m, k)
	}
	odds, more, all := m/limit-1, 1.0, 0.0
	for o := range l.K {
		more -= chance // P(S > o)
		all += max(more, 0)
		mean += max(more, 0) * math.Pow(min(limit+float64(o), m)/m, k)
		chance *= odds * (k - float64(o)) / (float64(o) + 1)
	}
	return mean / all
}

// bytes returns the memory of the layer.
func (l Layer) bytes() uint64 { return (l.M + 63) / 64 * 8 }
