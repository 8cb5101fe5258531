package adaptive

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
)

// maxPlaneK is how many positions a link has at most in the planes of [Incremental].
const maxPlaneK = 256

// AnyLength returns the bits of plain filters of 1 to n links at a rate, each of the
// least length with the best k: what a header can have whose router maps hashes to any
// length. The error wraps [umbel.ErrGoal].
func AnyLength(n int, rate float64) (Lengths, error) {
	return plain(n, rate, func(i int) int { return i })
}

// Fixed returns the bits of the plain filter for n links at a rate, n times: what a
// header has that doesn't adapt. The error wraps [umbel.ErrGoal].
func Fixed(n int, rate float64) (Lengths, error) {
	return plain(n, rate, func(int) int { return n })
}

func plain(n int, rate float64, links func(i int) int) (Lengths, error) {
	return lengths(n, rate, func(i int) (float64, error) {
		m, _, err := plan.Size(uint64(links(i)), rate)
		return float64(m), err
	})
}

// Bound returns what no filter is below, whatever its form: i·log2(1/f) bits for i
// links among many more. The error wraps [umbel.ErrGoal].
func Bound(n int, rate float64) (Lengths, error) {
	return lengths(n, rate, func(i int) (float64, error) { return -float64(i) * math.Log2(rate), nil })
}

// Folded returns the bits of plain filters of 1 to n links at a rate whose lengths
// divide [inpacket.FoldBase], with k positions a link whatever the length, so that a
// router keeps these and divides them. If k is 0 it is that with the least mean by w,
// n weights; k is returned too. The error wraps [umbel.ErrGoal], also if a filter of n
// links would be longer than the base.
func Folded(n int, rate float64, k int, w Weights) (Lengths, int, error) {
	if k < 0 || k > MaxK {
		return nil, 0, fmt.Errorf("adaptive: k is %d, want 1 to %d, or 0 for the best: %w", k, MaxK, umbel.ErrGoal)
	}
	if k > 0 {
		l, err := folded(n, rate, k)
		return l, k, err
	}
	if err := w.Check(); err != nil {
		return nil, 0, err
	}
	if len(w) != n {
		return nil, 0, fmt.Errorf("adaptive: %d weights for %d links, want as many: %w", len(w), n, umbel.ErrGoal)
	}
	var best Lengths
	var last error
	for try := 1; try <= 2+int(-1.5*math.Log2(rate)); try++ {
		l, err := folded(n, rate, try)
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

func folded(n int, rate float64, k int) (Lengths, error) {
	sizes := number.Divisors(inpacket.FoldBase)
	return lengths(n, rate, func(i int) (float64, error) {
		for _, m := range sizes {
			if plan.FPRate(m, k, uint64(i)) <= rate {
				return float64(m), nil
			}
		}
		return 0, fmt.Errorf("%d links with k=%d need more than %d bits; accept a higher rate or fewer links", i, k, inpacket.FoldBase)
	})
}

// Incremental returns the bits of an incremental filter (Hao, Kodialam and Lakshman
// 2008) of 1 to n links: planes are opened one after the other, so many and of such
// sizes that with all numbers of links alike the mean is least, see [plan.Incremental];
// only open ones are sent. The rate is that of n links. The error wraps [umbel.ErrGoal].
func Incremental(n int, rate float64) (Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	planes, _, err := plan.Incremental(uint64(n), rate, 0, min(n, 64), maxPlaneK)
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w: %w", err, umbel.ErrGoal)
	}
	var l Lengths
	bits := 0.0
	for _, p := range planes {
		bits += float64(p.M)
		for range p.Keys {
			l = append(l, bits)
		}
	}
	return l, nil
}

// Scalable returns the bits of a scalable filter (Almeida et al. 2007) of 1 to n links
// with r = 1/2 and s = 2, whose layers are opened when they come, and P_0 = f/2. Slices
// of the first layer have m0 bits; or the first layer has, if slices is false, in as
// many slices as it needs, rounded up: Heszberger et al. don't say which their m_0 = 128
// is. The error wraps [umbel.ErrGoal].
func Scalable(n int, rate float64, m0 uint64, slices bool) (Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	first := rate / 2
	if k := uint64(math.Ceil(-math.Log2(first))); !slices {
		m0 = (m0 + k - 1) / k
	}
	var l Lengths
	bits := 0.0
	for i := 0; len(l) < n; i++ {
		layer, err := plan.ScalableLayerAt(i, first, 0.5, 2, m0)
		if err != nil {
			return nil, fmt.Errorf("adaptive: %w: %w", err, umbel.ErrGoal)
		}
		bits += float64(layer.Cells())
		for range min(layer.Capacity, uint64(n-len(l))) {
			l = append(l, bits)
		}
	}
	return l, nil
}

// lengths puts together what bits gives for 1 to n links.
func lengths(n int, rate float64, bits func(i int) (float64, error)) (Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	l := make(Lengths, n)
	for i := range l {
		m, err := bits(i + 1)
		if err != nil {
			return nil, fmt.Errorf("adaptive: %w: %w", err, umbel.ErrGoal)
		}
		l[i] = m
	}
	return l, nil
}
