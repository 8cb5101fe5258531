package arrays

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/plan"
)

// maxCopies is the largest factor of an Unfold that [EstimateKeys] finds.
const maxCopies = 4096

// Pairs counts pairs of cells at the same place of two neighboring groups.
type Pairs struct {
	All               uint64 // pairs
	Left, Right, Both uint64 // pairs whose left, right or both cells are not zero
}

// excess returns by how much Both exceeds what it is on average if the cells of a pair are
// independent, and the variance of Both in that case.
func (p Pairs) excess() (over, variance float64) {
	all := float64(max(p.All, 1))
	left, right := float64(p.Left)/all, float64(p.Right)/all
	return float64(p.Both) - all*left*right, all * left * (1 - left) * right * (1 - right)
}

// correlation returns the correlation of the two cells of a pair, or 0 if one of them never
// varies.
func (p Pairs) correlation() float64 {
	over, variance := p.excess()
	if variance == 0 {
		return 0
	}
	return over / math.Sqrt(variance*float64(p.All))
}

// IsExcessive reports whether independent cells have as large an excess with a probability below
// e^-16, one in nine million.
func (p Pairs) IsExcessive() bool { return p.exceeds(16) }

// exceeds reports whether independent cells have as large an excess with a probability below
// e^-t: Bernstein's inequality.
func (p Pairs) exceeds(t float64) bool {
	over, variance := p.excess()
	return over > t/3+math.Sqrt(t*t/9+2*t*variance)
}

// Copies returns the factor u by which a filter was unfolded before the last keys were added, 1 if
// it finds none, and 0 if it finds copies but no factor up to 4096. u divides groups, the number of
// groups that a fold joins. at(r) counts the pairs of group i·r-1 and group i·r for all i.
//
// Unfold copies each group u times, so that neighboring groups agree where both are copies of one
// group, and are independent otherwise. A factor r fits if the groups on both sides of each
// multiple of r are independent: then no group was copied across one. Otherwise at least half of
// these pairs are copies of one group. A factor that does not fit gives a wrong estimate, and a
// multiple of the right one a less exact estimate, so a small excess, e^-6, excludes a factor.
// Copies of few keys are not found: about √n of n keys.
func Copies(groups uint64, at func(r uint64) Pairs) uint64 {
	any := at(1)
	if !any.IsExcessive() {
		return 1
	}
	for r := uint64(2); r <= min(groups, maxCopies); r++ {
		if groups%r != 0 {
			continue
		}
		if p := at(r); !p.exceeds(6) && p.correlation() < any.correlation()/4 {
			return r
		}
	}
	return 0
}

// maxRepeats is the largest factor of an Unfold that [Repeats] finds.
const maxRepeats = 64

// Repeats is [Copies] for kinds with positions by remainder, whose arrays repeat u times after Unfold(u). It
// returns 1 if it finds no factor. u divides units. at(r) counts the pairs of cells at a distance of 1/r of the
// array.
//
// The cells of keys that were present agree at the distance of 1/u of the array and at its multiples. In a
// repeated array each pair occurs several times, so that pairs at other distances may have an excess by chance
// as well; but their correlation is a small part of the largest.
func Repeats(units uint64, at func(r uint64) Pairs) uint64 {
	u, largest := uint64(1), 0.0
	var correlations [maxRepeats + 1]float64
	for r := uint64(2); r <= min(maxRepeats, units); r++ {
		if units%r != 0 {
			continue
		}
		if p := at(r); p.IsExcessive() {
			correlations[r] = p.correlation()
			largest = max(largest, correlations[r])
		}
	}
	for r, c := range correlations {
		if c > largest/4 {
			u = uint64(r)
		}
	}
	return u
}

// EstimateKeys estimates the number of distinct keys of a filter that may have been unfolded. The
// result is estimate(r), which estimates the number from the filter folded by r, for the factor
// that [Copies] found. Its upper end is at most that of estimate(1), since copies only add cells.
func EstimateKeys(copies uint64, estimate func(r uint64) plan.Estimate) plan.Estimate {
	e := estimate(1)
	switch copies {
	case 0:
		e.Low = 0
	case 1:
	default:
		folded := estimate(copies)
		e.Low, e.High = min(folded.Low, e.High), min(folded.High, e.High)
		e.Value = min(folded.Value, e.Value, e.High)
	}
	return e
}

// Keys estimates the number of distinct keys, where of(m, ones) estimates it for an array of m cells,
// ones of which are not zero, that was not unfolded: see EstimateKeys.
func (a Array) Keys(of func(m, ones uint64) plan.Estimate) plan.Estimate {
	copies := uint64(1)
	if a.Copied || !a.Kind.Counters {
		copies = a.copies()
	}
	e := EstimateKeys(copies, func(r uint64) plan.Estimate {
		folded := a.Cells
		if r > 1 {
			folded = a.bits(a.Cells, r)
		}
		return of(a.Shape.M/r, folded.Nonzero())
	})
	if a.Copied {
		e.Low = 0 // removals leave copies of cells
	}
	return e
}

// copies returns the factor by which a was unfolded: see [Copies].
func (a Array) copies() uint64 {
	sample := a.sample()
	return Copies(a.groups(), func(r uint64) Pairs { return pairs(sample, a.Shape.Group, r) })
}

// sampleCells bounds the cells that copies reads. It is a multiple of all groups and words.
const sampleCells = 1 << 20

// sample returns the first cells of a, whole groups of them, as bits.
func (a Array) sample() cells.Array {
	c := a.Cells
	if c.Len > sampleCells {
		c.Len = sampleCells
		c.Words = c.Words[:c.Len*uint64(c.Width)/64]
	}
	if c.Width > 1 {
		c = a.bits(c, 1)
	}
	return c
}

// bits returns c, cells of a, folded by r to bits that are set where a cell is not zero.
func (a Array) bits(c cells.Array, r uint64) cells.Array {
	c, err := c.FoldToBits(r, 1<<a.Shape.Group)
	if err != nil {
		panic(err) // r divides the number of groups
	}
	return c
}

// pairs counts the pairs of group i·r-1 and group i·r for all i, where a group is 2^log bits.
func pairs(a cells.Array, log uint8, r uint64) Pairs {
	var p Pairs
	size := uint64(1) << log
	width := min(size, 64)
	for right := r << log; right+size <= a.Len; right += r << log {
		for at := uint64(0); at < size; at += width {
			x, y := word(a, right-size+at, width), word(a, right+at, width)
			p.Left += uint64(bits.OnesCount64(x))
			p.Right += uint64(bits.OnesCount64(y))
			p.Both += uint64(bits.OnesCount64(x & y))
		}
		p.All += size
	}
	return p
}

// word returns width bits from a bit on, where width is a power of two that divides the bit's index.
func word(a cells.Array, bit, width uint64) uint64 {
	return a.Words[bit/64] >> (bit % 64) & (^uint64(0) >> (64 - width))
}
