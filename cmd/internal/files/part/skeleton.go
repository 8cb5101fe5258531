package part

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// cellwise are the kinds whose filters of one shape are merged cell by cell, so that the sum of their arrays is the filter of all
// keys, bit for bit, in any order.
var cellwise = []string{
	bloom.Name, partitioned.Name, blocked.Name, counting.Name, weighted.Name, weighted.CountingKind.Name,
	splitblock.Name, squid.Name, nixbloom.Name, imported.Name,
}

// CheckCellwise returns nil if filters with the parameters and the size of s, which may be without words, are merged by adding up
// their cells. Otherwise the error wraps umbel.ErrMismatch.
func CheckCellwise(s umbel.State) error {
	switch {
	case !slices.Contains(cellwise, s.Kind):
		return sentinel.Errorf(umbel.ErrMismatch, "filters of kind %s are not joined cell by cell", s.Kind)
	case len(s.Arrays) != 1 || len(s.Parts) != 0:
		return sentinel.Errorf(umbel.ErrMismatch, "this filter of kind %s has a table of keys next to its cells", s.Kind)
	}
	return nil
}

// Skeleton returns the state of the empty filter that a kind makes for a goal, without its cells and without memory for them. The
// error wraps umbel.ErrGoal.
func Skeleton(kind umbel.Kind, g umbel.Goal, ps umbel.Params) (umbel.State, error) {
	shape, keys, err := kind.Shape(g, ps)
	if err != nil {
		return umbel.State{}, err
	}
	// A filter of the least size has the same parameters.
	var m uint64
	var small umbel.Filter
	switch s := shape.(type) {
	case bloom.Shape:
		m, s.M = s.M, 1<<s.Group
		small, err = bloom.NewShape(s)
	case partitioned.Shape:
		m, s.M = s.M, uint64(s.K)<<s.Group
		small, err = partitioned.NewShape(s)
	case blocked.Shape:
		m, s.M = s.M, blocked.BlockBits
		small, err = blocked.NewShape(s)
	case counting.Shape:
		m, s.M = s.M, 1<<s.Group
		small, err = counting.NewShape(s)
	case splitblock.Shape:
		m, s.M = s.M, splitblock.BlockBits
		small, err = splitblock.NewShape(s)
	default:
		err = sentinel.Errorf(umbel.ErrGoal, "a filter of kind %s can't be made by ranges of cells; divide the keys: --divide %s", kind.Name, Lines)
	}
	if err != nil {
		return umbel.State{}, err
	}
	s := small.State()
	s.Arrays = []cells.Array{{Len: m, Width: s.Arrays[0].Width}}
	s.Planned = umbel.PlannedBy(g, shape.Forecast(keys))
	return s, nil
}
