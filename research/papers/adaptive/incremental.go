package adaptive

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// share is the part of the keys that a layer receives, in a Bloom filter that is closed when it contains
// them.
type share struct {
	M    uint64 // cells
	K    int    // cells set per key
	Keys uint64 // keys it is planned for
}

// mostSteps is the number of positions at which a layer may end; up to that many keys the
// plan is optimal.
const mostSteps = 200

// maxCells is the largest number of cells of all layers.
const maxCells = 1 << 63

// tie is the relative difference below which two mean sizes are equal. It is above the rounding
// errors of all platforms, some of which fuse multiplications and additions, so that they choose
// the same of equally good divisions: the first.
const tie = 1e-12

// divide returns the layers of an incremental filter (Hao, Kodialam and Lakshman
// 2008) for up to n keys. Layers are opened one after another as keys come, a query tests all
// open ones, and with n keys the rate is at most p. Each of L layers therefore has the rate
// 1 - (1-p)^(1/L). Of all ways to divide n keys among the layers, divide returns
// the one with the smallest mean size over the numbers of keys 1 to n, all equally likely: a
// layer that starts after s keys is sent with the n-s larger numbers of keys. The mean is in
// cells.
//
// If layers is zero, it chooses the best number of layers up to maxLayers. No layer sets more
// than maxK cells per key. Above 200 keys the layers end at multiples of n/200.
//
// It returns an error wrapping [umbel.ErrGoal] if n or maxK is zero, p is not inside (0, 1), there are
// more layers than keys, or the layers would have more than 2^63 cells.
func divide(n uint64, p float64, layers, maxLayers, maxK int) (best []share, mean float64, err error) {
	switch {
	case n == 0 || !(p > 0 && p < 1):
		return nil, 0, sentinel.Errorf(umbel.ErrGoal,
			"incremental: %d keys at a false-positive rate of %v, want at least 1, and a rate between 0 and 1, both excluded", n, p)
	case maxK < 1:
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "incremental: %d cells per key, want at least 1", maxK)
	}
	first, last := layers, layers
	if layers == 0 {
		first, last = 1, int(min(n, uint64(maxLayers)))
	}
	if first < 1 || uint64(last) > min(n, mostSteps) {
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "incremental: %d layers for %d keys, want 1 to the number of keys, at most %d",
			last, n, mostSteps)
	}
	mean = math.Inf(1)
	for L, worse := first, 0; L <= last && worse < 3; L++ {
		ls, cost := shareKeys(n, L, layerRate(p, L), maxK)
		if cost < mean*(1-tie) {
			best, mean, worse = ls, cost, 0
		} else {
			worse++ // costs fall with the number of layers and then rise
		}
	}
	if best == nil {
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "incremental: %d keys at a false-positive rate of %v need more than 2^63 cells; "+
			"accept a higher rate", n, p)
	}
	return best, mean, nil
}

// shareKeys returns the best division of n keys among layers of rate p, and its mean size, +Inf
// if there is none. If cost[e] is the mean size of j layers that end after e steps, that of j+1
// layers is the minimum over s of cost[s] + size(e-s)·(n-s)/n.
func shareKeys(n uint64, layers int, p float64, maxK int) ([]share, float64) {
	steps := int(min(n, mostSteps))
	end := func(i int) uint64 { return n/uint64(steps)*uint64(i) + n%uint64(steps)*uint64(i)/uint64(steps) }
	// sized[i] is the layer for i steps of keys. If n isn't a multiple of the steps they differ
	// by a key, and the largest counts.
	sized := make([]share, steps+1)
	for i := 1; i <= steps; i++ {
		sized[i] = shareFor(min(n, (n+uint64(steps)-1)/uint64(steps)*uint64(i)), p, maxK)
		if steps == int(n) || i == steps {
			sized[i] = shareFor(end(i), p, maxK)
		}
	}
	size, sent := make([]float64, steps+1), make([]float64, steps+1) // sent: the share of numbers of keys above end(i)
	cost := make([]float64, steps+1)
	for i := range cost {
		cost[i] = math.Inf(1)
		size[i], sent[i] = float64(sized[i].M), 1-float64(end(i))/float64(n)
	}
	cost[0] = 0
	from := make([][]int, layers)
	for j := range layers {
		next := make([]float64, steps+1)
		from[j] = make([]int, steps+1)
		for e := range next {
			least, at := math.Inf(1), 0
			for s := range e {
				if c := cost[s] + size[e-s]*sent[s]; c < least*(1-tie) {
					least, at = c, s
				}
			}
			next[e], from[j][e] = least, at
		}
		cost = next
	}
	shares, total := make([]share, layers), 0.0
	for j, e := layers-1, steps; j >= 0; j-- {
		s := from[j][e]
		shares[j] = shareFor(end(e)-end(s), p, maxK)
		total += float64(shares[j].M)
		e = s
	}
	if total >= maxCells {
		return nil, math.Inf(1)
	}
	return shares, cost[steps]
}

// shareFor returns the smallest layer of rate p for n keys with k up to maxK, by the inverse of the
// formula for independent cells for each k. The division of the keys needs no more: layers of
// filters are given their sizes afterwards.
func shareFor(n uint64, p float64, maxK int) share {
	best, size := share{Keys: n}, math.Inf(1)
	last, first := min(int(math.Ceil(-math.Log2(p)))+1, maxK), 1
	if n >= 1000 { // for many keys sizes still fall well before the valley at -log2 p
		first = max(min(int(-0.8*math.Log2(p)), last), 1)
	}
	for k := first; k <= last; k++ {
		zero := math.Log1p(-math.Pow(p, 1/float64(k))) / (float64(k) * float64(n))
		m := math.Ceil(-1/math.Expm1(zero) - 1e-9)
		if m < size {
			best.K, size = k, m
		} else if m > size+1 { // sizes fall to one valley and rise
			break
		}
	}
	best.M = uint64(min(max(size, 1), maxCells))
	return best
}

// layerRate returns the rate of each of several layers that together have the rate p.
func layerRate(p float64, layers int) float64 { return -math.Expm1(math.Log1p(-p) / float64(layers)) }
