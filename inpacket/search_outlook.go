package inpacket

import "math/bits"

// outlook is which Single filters are worth a trial.
type outlook struct {
	odds
	tries float64  // how many trials there will be at each length
	first int      // the shortest length worth trying
	ks    []uint16 // of lengths from first on: which numbers of positions are worth trying
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
	o := &outlook{odds: odds{l.tree, len(l.others()), maxStray}, tries: float64(tries)}
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
		if chance[k] > 0 && chance[k] >= float64(best*unlikely) {
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
