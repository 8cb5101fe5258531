package sparse

import (
	"iter"
	"math/bits"
	"sync"

	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/number"
)

// samplePositions is the number of positions from which copies are found.
const samplePositions = 1 << 16

// copies returns the factor by which the filter was unfolded: see [arrays.Copies]. It reads a sample of the positions a
// few times, however many factors the number of groups has.
func (f *Filter) copies() uint64 {
	groups, end := f.mapping.Groups, f.sampled()
	of := func(r uint64) arrays.Pairs { return arrays.Pairs{All: (end - 1) / r << f.shape.Group} }
	// The pair of groups i-1 and i counts for factor r if r divides i. As r divides the number of groups too, it then
	// divides the greatest common divisor of both. So one pass counts the pairs of all factors.
	byDivisor := sync.OnceValue(func() map[uint64]arrays.Pairs {
		counts := map[uint64]arrays.Pairs{}
		for i, c := range f.neighbors(end) {
			divisor := number.GCD(i, groups)
			counts[divisor] = c.plus(counts[divisor])
		}
		return counts
	})
	return arrays.Copies(groups, func(r uint64) arrays.Pairs {
		sum := of(r)
		if r == 1 {
			for _, c := range f.neighbors(end) {
				sum = c.plus(sum)
			}
			return sum
		}
		for divisor, p := range byDivisor() {
			if divisor%r == 0 {
				sum.Left, sum.Right, sum.Both = sum.Left+p.Left, sum.Right+p.Right, sum.Both+p.Both
			}
		}
		return sum
	})
}

// sampled returns the number of groups of the sample.
func (f *Filter) sampled() uint64 {
	n := 0
	for x := range f.Positions {
		if n++; n > samplePositions {
			return max(x>>f.shape.Group, 1) // the group of x may be incomplete
		}
	}
	return f.mapping.Groups
}

// neighbor is the cells of two neighboring groups as bits.
type neighbor struct{ left, right uint64 }

// plus returns p with the counts of one pair of groups.
func (c neighbor) plus(p arrays.Pairs) arrays.Pairs {
	p.Left += uint64(bits.OnesCount64(c.left))
	p.Right += uint64(bits.OnesCount64(c.right))
	p.Both += uint64(bits.OnesCount64(c.left & c.right))
	return p
}

// neighbors yields the cells of groups i-1 and i, for each i below end for which one of them is not empty.
func (f *Filter) neighbors(end uint64) iter.Seq2[uint64, neighbor] {
	return func(yield func(uint64, neighbor) bool) {
		var last, set uint64 // the group before and its cells
		for group, ones := range words(f.Positions, f.shape.Group) {
			if set != 0 && last+1 < group {
				if last+1 >= end || !yield(last+1, neighbor{set, 0}) {
					return
				}
				set = 0
			}
			if group >= end || group > 0 && !yield(group, neighbor{set, ones}) {
				return
			}
			last, set = group, ones
		}
		if set != 0 && last+1 < end {
			yield(last+1, neighbor{set, 0})
		}
	}
}
