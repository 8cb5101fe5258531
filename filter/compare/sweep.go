package compare

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// grid is a filter of bits as a division of the range of values: a value falls into one of groups
// equal intervals, and its low bits select one of lanes cells there.
type grid struct {
	cells  cells.Array
	groups uint64
	lanes  uint64 // 64, so that a group is a word, or 1
	k      int
	spread bool // a group has one cell, which is that of all 64 lanes: see grids
}

// gridOf returns the grid of a filter of kind bloom.
func gridOf(f umbel.Filter) (grid, bool) {
	b, ok := f.(*bloom.Filter)
	if !ok || b.Shape().M == 0 {
		return grid{}, false
	}
	s := b.Shape()
	lanes := uint64(1) << s.Group
	return grid{cells: b.State().Arrays[0], groups: s.M / lanes, lanes: lanes, k: s.K}, true
}

// zeros returns a word with the zero cells of group i.
func (g grid) zeros(i uint64) uint64 {
	if g.lanes == 64 && !g.spread {
		return ^g.cells.Words[i]
	}
	zero := ^g.cells.Words[i>>6] >> (i & 63) & 1
	if g.spread {
		return -zero
	}
	return zero
}

// empty returns the share of the values for which the cells of g are zero.
func (g grid) empty() float64 { return 1 - float64(g.cells.Nonzero())/float64(g.cells.Len) }

// emptyInBoth returns the share of the values for which the cells of both grids are zero. It
// passes through the intervals of both side by side.
func emptyInBoth(a, b grid) float64 {
	var sum float64
	var at, i, j uint64 // at is in units of 1/(a.groups·b.groups)
	for i < a.groups && j < b.groups {
		endA, endB := (i+1)*b.groups, (j+1)*a.groups
		end := min(endA, endB)
		sum += float64(end-at) * float64(bits.OnesCount64(a.zeros(i)&b.zeros(j)))
		if at = end; end == endA {
			i++
		}
		if end == endB {
			j++
		}
	}
	return sum / float64(a.groups) / float64(b.groups) / float64(a.lanes)
}

// keepCommon clears the cells of f whose values have no set cell in g: see Intersection. A value
// lies in the intervals of its cells in both filters, so these intersect, and no key of both
// filters is lost.
func keepCommon(f, g umbel.Filter) error {
	a, b, err := grids(f, g)
	if err != nil {
		return err
	}
	if a.k > b.k {
		return sentinel.Errorf(umbel.ErrMismatch, "the first filter has k = %d, more than the other with %d: exchange them", a.k, b.k)
	}
	j := uint64(0)
	for i := range a.groups {
		var set uint64
		for ; j < b.groups; j++ {
			set |= ^b.zeros(j)
			if (j+1)*a.groups >= (i+1)*b.groups {
				break
			}
		}
		a.keep(i, set)
		if j < b.groups && (j+1)*a.groups == (i+1)*b.groups {
			j++
		}
	}
	return nil
}

// keep clears the cells of group i that are zero in set.
func (g grid) keep(i, set uint64) {
	switch {
	case g.lanes == 64 && !g.spread:
		g.cells.Words[i] &= set
	case g.spread && set == 0, !g.spread && set&1 == 0:
		g.cells.Words[i>>6] &^= 1 << (i & 63)
	}
}

// sweep compares two filters of kind bloom with one hasher, of any sizes and k: see estimate.
// The error wraps umbel.ErrMismatch if they cannot be compared.
func sweep(f, g umbel.Filter) (Overlap, error) {
	a, b, err := grids(f, g)
	if err != nil {
		return Overlap{}, err
	}
	u := math.Log(emptyInBoth(a, b))
	if !plain(f) || !plain(g) {
		u = math.Inf(-1) // unknown: see ofTwoSizes
	}
	o := pairOf(a, b).estimate(Keys(f), Keys(g), u)
	if math.IsNaN(o.Both.Value) {
		return o, nil
	}
	o.Both.Value = min(o.Both.Value, o.A.Value, o.B.Value)
	o.Both.Low = min(o.Both.Low, o.Both.Value)
	o.Union.Value = min(max(o.Union.Value, o.A.Value, o.B.Value), o.A.Value+o.B.Value)
	o.Union.Low, o.Union.High = min(o.Union.Low, o.Union.Value), max(o.Union.High, o.Union.Value)
	return o, nil
}

// grids returns the grids of two filters with the same lanes: if only one of them has lanes, a filter of less than 64
// cells for example, a cell of the other is in all of them.
func grids(f, g umbel.Filter) (a, b grid, err error) {
	a, ok := gridOf(f)
	b, ok2 := gridOf(g)
	if !ok || !ok2 {
		return a, b, sentinel.Errorf(umbel.ErrMismatch, "filters of kind %s and %s cannot be compared at different sizes", f.State().Kind, g.State().Kind)
	}
	if a.lanes != b.lanes {
		a.spread, b.spread = a.lanes == 1, b.lanes == 1
		a.lanes, b.lanes = 64, 64
	}
	const most = 1 << 31 // groups, so that products are exact and a share of a group is more than rounding
	if max(a.groups, b.groups) > most {
		return a, b, sentinel.Errorf(umbel.ErrMismatch, "filters of %d and %d cells can't be compared at these sizes, of which the larger may be %d",
			a.cells.Len, b.cells.Len, most*a.lanes)
	}
	return a, b, nil
}
