package plan

import (
	"fmt"
	"math"
)

// Plane is one plane of an incremental filter: a standard filter that is closed
// when it holds its keys.
type IncrementalLayer struct {
	M    uint64 // cells
	K    int    // cells set per key
	Keys uint64 // the number of keys it is for
}

// incrementalSteps is the number of sizes among which ends of planes are looked
// for; up to so many keys the plan is the best there is.
const incrementalSteps = 200

// Incremental returns the planes of an incremental filter (Hao, Kodialam and
// Lakshman 2008) for up to n keys: planes are opened one after the other as keys
// come, a filter asks all that are open, and with n keys its rate is at most p. So
// each of L planes has the rate 1-(1-p)^(1/L). Of all ways to share n keys among
// planes it returns the one with the least mean size over the numbers of keys
// 1 to n, all equally likely: with s keys in the planes before it a plane is sent
// with the n-s larger numbers of keys. The mean is in cells.
//
// If planes is zero the number of planes is the best up to maxPlanes, otherwise it
// is planes. No plane sets more than maxK cells per key. Above 200 keys the planes
// end at multiples of n/200.
//
// The error wraps [ErrRange] if n or maxK is zero, p is not inside (0, 1), there are
// more planes than keys, or the planes would have above 2^63 cells.
func Incremental(n uint64, p float64, planes, maxPlanes, maxK int) (best []IncrementalLayer, mean float64, err error) {
	if err := checkGoal(n, p); err != nil {
		return nil, 0, err
	}
	if err := checkK(maxK); err != nil {
		return nil, 0, err
	}
	first, last := planes, planes
	if planes == 0 {
		first, last = 1, int(min(n, uint64(maxPlanes)))
	}
	if first < 1 || uint64(last) > min(n, incrementalSteps) {
		return nil, 0, fmt.Errorf("plan: %d planes for %d keys, want 1 to the number of keys, at most %d: %w",
			last, n, incrementalSteps, ErrRange)
	}
	mean = math.Inf(1)
	for L, worse := first, 0; L <= last && worse < 3; L++ {
		ps, cost := shareKeys(n, L, LayeredFPRate(p, L), maxK)
		if cost < mean {
			best, mean, worse = ps, cost, 0
		} else {
			worse++ // more planes send less at first, and cost more in the end
		}
	}
	if best == nil {
		return nil, 0, fmt.Errorf("plan: %d keys at a false-positive rate of %v need more than 2^63 cells; accept a higher rate: %w", n, p, ErrRange)
	}
	return best, mean, nil
}

// PlaneFPRate returns the rate of each of so many equal planes that together have
// the rate p: 1-(1-p)^(1/planes).
func LayeredFPRate(p float64, planes int) float64 {
	return -math.Expm1(math.Log1p(-p) / float64(planes))
}

// shareKeys returns the best shares of n keys among so many planes of rate p, and
// the mean size, +Inf if there is none. With cost[e] the mean size of j planes that
// end after e steps, one plane more makes it
// min over s of cost[s] + size(e-s)·(n-s)/n.
func shareKeys(n uint64, planes int, p float64, maxK int) ([]IncrementalLayer, float64) {
	steps := int(min(n, incrementalSteps))
	end := func(i int) uint64 { return n/uint64(steps)*uint64(i) + n%uint64(steps)*uint64(i)/uint64(steps) }
	// sized[i] is the plane for i steps of keys; where n isn't a multiple of the
	// steps they differ by a key, and the largest counts.
	sized := make([]IncrementalLayer, steps+1)
	for i := 1; i <= steps; i++ {
		sized[i] = planeFor(min(n, (n+uint64(steps)-1)/uint64(steps)*uint64(i)), p, maxK)
		if steps == int(n) || i == steps {
			sized[i] = planeFor(end(i), p, maxK)
		}
	}
	size, sent := make([]float64, steps+1), make([]float64, steps+1) // sent: the share of numbers of keys above end(i)
	cost := make([]float64, steps+1)
	for i := range cost {
		cost[i] = math.Inf(1)
		size[i], sent[i] = float64(sized[i].M), 1-float64(end(i))/float64(n)
	}
	cost[0] = 0
	from := make([][]int, planes)
	for j := range planes {
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
	shares, total := make([]IncrementalLayer, planes), 0.0
	for j, e := planes-1, steps; j >= 0; j-- {
		s := from[j][e]
		shares[j] = planeFor(end(e)-end(s), p, maxK)
		total += float64(shares[j].M)
		e = s
	}
	if total >= maxCells {
		return nil, math.Inf(1)
	}
	return shares, cost[steps]
}

// planeFor returns the smallest plane of rate p for n keys with k up to maxK: that
// of [Size] up to rounding, by the inverse of the rate for each k.
func planeFor(n uint64, p float64, maxK int) IncrementalLayer {
	best, size := IncrementalLayer{Keys: n}, math.Inf(1)
	most, first := min(highestK(p), maxK), 1
	if n >= 1000 { // of many keys the valley is at -log2 p, and so much before it sizes still fall
		first = max(min(int(-0.8*math.Log2(p)), most), 1)
	}
	for k := first; k <= most; k++ {
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
