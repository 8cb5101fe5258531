package inpacket

import "math"

// odds are what there is to tell apart by a Bloom filter, and so how likely one is to
// do. They say only where to look: a filter that is found has been tried. They are
// computed without functions that may differ between machines, and so is what is
// found.
type odds struct {
	tree, others int // links to hold, and not to
	maxStray     float64
}

// chance is about that of a filter of m bits with k positions a link to do. Filters
// with few ones do far more often than those with the mean number: so it is the mean
// over some numbers, as far from each other as the standard deviation.
func (o odds) chance(m, k int) (sum float64) {
	size, n := float64(m), o.tree*k
	// The chances that one bit, and that two bits, are zero.
	one, two := power(1-1/size, n), power(max(0, 1-2/size), n)
	deviation := math.Sqrt(max(0, float64(one*(1-one)/size)+float64((two-float64(one*one))*(1-1/size))))
	for i, weight := range spread {
		fill := max(1/size, 1-one-float64(float64(i)*deviation))
		stray := power(fill, k)
		if stray > o.maxStray || fill > 7.0/8 {
			continue
		}
		sum += float64(weight * power(1-stray, o.others))
	}
	return sum
}

// spread is how often a number is about 0, 1, … standard deviations below the mean,
// if it is normal.
var spread = [...]float64{.4, .24, .054, .0044, .00013}

// firstWith returns the shortest length with which k positions a link do with at
// least some chance, or one above last if that is longer.
func (o odds) firstWith(k int, chance float64, last int) int {
	low, high := 0, last+1
	for high-low > 1 {
		if mid := (low + high) / 2; o.chance(mid, k) < chance {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
