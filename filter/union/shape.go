package union

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
)

// Shape is the shape of a new union. It has one member, to which keys are added: a dynamic
// filter of bits, which equals one Bloom filter up to its planned number of keys.
type Shape struct {
	Member dynamic.Shape
}

// Forecast returns what the member costs, and its rate, with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast { return s.Member.Forecast(n) }

// newShape returns an empty union of shape s. The error wraps umbel.ErrGoal if no filter can
// have that shape.
func newShape(s Shape) (*Filter, error) {
	m, err := dynamic.NewShape(s.Member)
	if err != nil {
		return nil, err
	}
	return newFilter(m.Hasher(), []umbel.Filter{m}), nil
}

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "filters of any kinds and sizes side by side: merges without joining cells, at the sum of their rates",
	Plan: func(g umbel.Goal, _ umbel.Params) (Shape, uint64, error) {
		s, n, err := dynamic.Kind.Shape(g, nil)
		if err != nil {
			return Shape{}, 0, err
		}
		return Shape{s.(dynamic.Shape)}, n, nil
	},
	New:  newShape,
	Open: Open,
}.Kind()
