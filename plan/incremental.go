package plan

import (
	"fmt"
	"math"
)

// IncrementalLayer is one layer of an incremental filter: a Bloom filter that is closed when it
// contains its keys.
type IncrementalLayer struct {
	M    uint64 // cells
	K    int    // cells set per key
	Keys uint64 // keys it is planned for
}

// incrementalSteps is the number of positions at which a layer may end; up to that many keys the
// plan is optimal.
const incrementalSteps = 200

// IncrementalLayers returns the layers of an incremental filter (Hao, Kodialam and Lakshman
// 2008) for up to n keys. Layers are opened one after another as keys come, a query tests all
// open ones, and with n keys the rate is at most p. Each of L layers therefore has the rate
// [LayeredFPRate](p, L). Of all ways to divide n keys among the layers, IncrementalLayers returns
// the one with the smallest mean size over the numbers of keys 1 to n, all equally likely: a
// layer that starts after s keys is sent with the n-s larger numbers of keys. The mean is in
// cells.
//
// If layers is zero, it chooses the best number of layers up to maxLayers. No layer sets more
// than maxK cells per key. Above 200 keys the layers end at multiples of n/200.
//
// It returns an error wrapping [ErrRange] if n or maxK is zero, p is not inside (0, 1), there are
// more layers than keys, or the layers would have more than 2^63 cells.
func IncrementalLayers(n uint64, p float64, layers, maxLayers, maxK int) (best []IncrementalLayer, mean float64, err error) {
	if err := checkGoal(n, p); err != nil {
		return nil, 0, err
	}
	if err := checkK(maxK); err != nil {
		return nil, 0, err
	}
	first, last := layers, layers
	if layers == 0 {
		first, last = 1, int(min(n, uint64(maxLayers)))
	}
	if first < 1 || uint64(last) > min(n, incrementalSteps) {
		return nil, 0, fmt.Errorf("plan: %d layers for %d keys, want 1 to the number of keys, at most %d: %w",
			last, n, incrementalSteps, ErrRange)
	}
	mean = math.Inf(1)
	for L, worse := first, 0; L <= last && worse < 3; L++ {
		ls, cost := shareKeys(n, L, LayeredFPRate(p, L), maxK)
		if cost < mean {
			best, mean, worse = ls, cost, 0
		} else {
			worse++ // costs fall with the number of layers and then rise
		}
	}
	if best == nil {
		return nil, 0, tooManyCells(n, p)
	}
	return best, mean, nil
}

// shareKeys returns the best division of n keys among layers of rate p, and its mean size, +Inf
// if there is none. If cost[e] is the mean size of j layers that end after e steps, that of j+1
// layers is the minimum over s of cost[s] + size(e-s)·(n-s)/n.
func shareKeys(n uint64, layers int, p float64, maxK int) ([]IncrementalLayer, float64) {
	steps := int(min(n, incrementalSteps))
	end := func(i int) uint64 { return n/uint64(steps)*uint64(i) + n%uint64(steps)*uint64(i)/uint64(steps) }
	// sized[i] is the layer for i steps of keys. If n isn't a multiple of the steps they differ
	// by a key, and the largest counts.
	sized := make([]IncrementalLayer, steps+1)
	for i := 1; i <= steps; i++ {
		sized[i] = layerFor(min(n, (n+uint64(steps)-1)/uint64(steps)*uint64(i)), p, maxK)
		if steps == int(n) || i == steps {
			sized[i] = layerFor(end(i), p, maxK)
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
				if c := cost[s] + size[e-s]*sent[s]; c < least {
					least, at = c, s
				}
			}
			next[e], from[j][e] = least, at
		}
		cost = next
	}
	shares, total := make([]IncrementalLayer, layers), 0.0
	for j, e := layers-1, steps; j >= 0; j-- {
		s := from[j][e]
		shares[j] = layerFor(end(e)-end(s), p, maxK)
		total += float64(shares[j].M)
		e = s
	}
	if total >= maxCells {
		return nil, math.Inf(1)
	}
	return shares, cost[steps]
}

// layerFor returns the smallest layer of rate p for n keys with k up to maxK: that of [Size] up
// to rounding, by the inverse of the rate for each k.
func layerFor(n uint64, p float64, maxK int) IncrementalLayer {
	best, size := IncrementalLayer{Keys: n}, math.Inf(1)
	last, first := min(highestK(p), maxK), 1
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
