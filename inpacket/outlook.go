package inpacket

import "math/bits"

// outlook is which Bloom filters are worth a trial, for a number of links to hold and
// not to hold. It says only where to look: a filter that is found has been tried.
type outlook struct {
	tree, others int
	maxStray     float64
	tries        float64  // how many trials there will be at each length
	unlikely     float64  // the constant, or 0
	never        float64  // a chance that isn't worth a trial in any case
	first        int      // the shortest length worth trying
	ks           []uint16 // of lengths from first on: which numbers of positions are worth trying
}

const (
	// hopeless is the number of successes that may be expected at all lengths together
	// which aren't worth trying. It is small because filters vary: those with few ones
	// succeed far more often than the mean one, from which it is computed.
	hopeless = 1.0 / 256
	// unlikely is the chance that isn't worth a trial, as a part of that with the best
	// number of positions.
	unlikely = 1.0 / 12
)

// newOutlook returns the outlook for so many trials at each length.
func newOutlook(l links, tries int, maxStray float64) *outlook {
	o := &outlook{tree: l.tree, others: len(l.others()), maxStray: maxStray, tries: float64(tries), unlikely: unlikely}
	low, high := 0, 1 // hopeless, not hopeless
	for high <= MaxBits && o.successes(high) < hopeless/8 {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if mid := (low + high) / 2; o.successes(mid) < hopeless/8 {
			low = mid
		} else {
			high = mid
		}
	}
	o.first = high
	for sum := 0.0; o.first <= MaxBits; o.first++ {
		if sum += o.successes(o.first); sum >= hopeless {
			break
		}
	}
	return o
}

// successes returns how many trials with the best number of positions are expected
// to succeed at a length.
func (o *outlook) successes(m int) float64 {
	best := 0.0
	for k := 1; k <= maxK; k++ {
		best = max(best, o.chance(m, k))
	}
	return float64(best * o.tries)
}

// chance is that of a filter of m bits with k positions a link to do, if its ones are
// as many as are expected, and so spread.
func (o *outlook) chance(m, k int) float64 {
	fill := 1 - power(1-1/float64(m), o.tree*k)
	stray := power(fill, k)
	if stray > 2*o.maxStray || m > 16 && fill > 7.0/8 {
		return 0
	}
	return power(1-stray, o.others)
}

// positions returns the numbers of positions worth trying at a length from first on:
// bit k for k.
func (o *outlook) positions(m int) uint16 {
	for len(o.ks) <= m-o.first {
		o.ks = append(o.ks, o.choose(o.first+len(o.ks)))
	}
	return o.ks[m-o.first]
}

func (o *outlook) choose(m int) (ks uint16) {
	var chance [maxK + 1]float64
	best := 0.0
	for k := 1; k <= maxK; k++ {
		chance[k] = o.chance(m, k)
		best = max(best, chance[k])
	}
	for k := 1; k <= maxK; k++ {
		if chance[k] >= max(float64(best*o.unlikely), o.never) && chance[k] > 0 {
			ks |= 1 << k
		}
	}
	return ks
}

// most returns the largest number of positions worth trying at any length from first
// to last, or more if there are many lengths.
func (o *outlook) most(last int) int {
	if last-o.first > 256 {
		return maxK
	}
	var all uint16
	for m := o.first; m <= last; m++ {
		all |= o.positions(m)
	}
	return bits.Len16(all) - 1
}
