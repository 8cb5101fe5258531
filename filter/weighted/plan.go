package weighted

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Plan returns the shape that meets the goal with these classes of keys. The first class
// is that of all keys for which no table has another; the caller sets Hot or Prefixes.
// For keys and rate the shape has the least memory, for keys and bytes the lowest rate,
// and for rate and bytes the largest number of keys. The rate is the average over the
// queries that the classes expect: see [BestK]. Members and Queries may have any
// unit; only their ratios matter. K of the classes has no effect. Bytes are those of the bits without the table.
//
// With at most one class it is the plan of a standard filter. The error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal, classes ...Class) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	if len(classes) < 2 {
		s, _, err := planWith(g, nil)
		return s, err
	}
	if len(classes) > maxClasses {
		return Shape{}, sentinel.Errorf(umbel.ErrGoal, "weighted: %d classes, want 1 to %d", len(classes), maxClasses)
	}
	s, err := planClasses(g, classes)
	if err != nil {
		return Shape{}, sentinel.Errorf(umbel.ErrGoal, "weighted: %w", err)
	}
	return s, s.Check()
}

// planClasses is Plan with several classes.
func planClasses(g umbel.Goal, classes []Class) (Shape, error) {
	// The first call checks the classes.
	if _, _, err := BestK(1, classes, 1); err != nil {
		return Shape{}, err
	}
	p := planner{classes: classes}
	for _, c := range classes {
		p.members += c.Members
		p.queries += c.Queries
	}
	var m uint64
	var err error
	switch {
	case g.Bytes == 0:
		m, err = p.size(g)
	case g.Bytes > 1<<53:
		err = fmt.Errorf("%d bytes are more than 2^53", g.Bytes)
	default:
		m = g.Bytes * 8
		m -= m % sizing.Unit(m, 0)
	}
	if err != nil {
		return Shape{}, err
	}
	n := float64(g.Keys)
	if g.Keys == 0 {
		if n, err = p.capacity(m, g.FPRate); err != nil {
			return Shape{}, err
		}
	}
	ks, _ := p.at(m, n)
	return p.shape(g, m, ks), nil
}

// planner plans with classes that have been checked.
type planner struct {
	classes          []Class
	members, queries float64
}

// at returns the best k of each class for m cells and n keys, and the weighted rate.
func (p planner) at(m uint64, n float64) ([]int, float64) {
	scaled := make([]Class, len(p.classes))
	for i, c := range p.classes {
		scaled[i] = Class{Members: c.Members / p.members * n, Queries: c.Queries}
	}
	ks, rate, err := BestK(m, scaled, maxK)
	if err != nil {
		panic(err) // the classes were checked before
	}
	return ks, rate
}

// size returns the least number of cells for keys and a rate, to one part in 1000 or a
// word. A standard filter, where all k are equal, needs at least as many, except for a few keys.
func (p planner) size(g umbel.Goal) (uint64, error) {
	plain, _, err := sizing.Size(g.Keys, g.FPRate)
	if err != nil {
		return 0, err
	}
	unit := sizing.Unit(plain, 0)
	meets := func(units uint64) bool {
		_, rate := p.at(units*unit, float64(g.Keys))
		return rate <= g.FPRate
	}
	low, high := uint64(0), plain/unit+1
	for !meets(high) {
		low, high = high, 2*high
	}
	for high-low > 1+high/1000 {
		if middle := low + (high-low)/2; meets(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return plan.RoundFoldable(high) * unit, nil
}

// capacity returns the number of keys that m cells hold at a rate, to one part in 1000. A
// standard filter holds at most as many.
func (p planner) capacity(m uint64, rate float64) (float64, error) {
	_, _, plain, err := sizing.Solve(umbel.Goal{FPRate: rate}, m, 0)
	if err != nil {
		return 0, err
	}
	holds := func(n float64) bool {
		_, r := p.at(m, n)
		return r <= rate
	}
	low, high := float64(plain), float64(plain)*1.25
	for high < 1<<62 && holds(high) {
		low, high = high, high*1.25
	}
	for high/low > 1.001 && math.Floor(high) > math.Ceil(low) {
		if middle := math.Sqrt(low * high); holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Floor(low), nil
}

func (p planner) shape(g umbel.Goal, m uint64, ks []int) Shape {
	s := Shape{M: m, Group: arrays.GroupFor(m), Hasher: g.Hasher}
	for i, c := range p.classes {
		s.Classes = append(s.Classes, Class{K: ks[i], Members: c.Members / p.members, Queries: c.Queries / p.queries})
	}
	s.Classes = inBillionths(s.Classes)
	return s
}

var sizing = kinds.Anywhere(maxK, 1)

// planWith is Plan for one class with parameters that override m and k. It also returns
// the number of keys that the shape is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) { return planOne(sizing, 0, g, ps) }

// planCounting is planWith for counters, whose width is a parameter as well.
func planCounting(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	width := arrays.RoundWidth(ps.Uint("width"))
	return planOne(kinds.Anywhere(maxK, uint64(width)), width, g, ps)
}

// planOne plans a filter of one class.
func planOne(z kinds.Sizing, width uint, g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, k, n, err := z.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("weighted: %w", err)
	}
	s := Shape{M: m, Classes: []Class{{K: k, Members: 1, Queries: 1}}, Width: width, Group: arrays.GroupFor(m), Hasher: g.Hasher}
	return s, n, s.Check()
}

// Kind is the kind of Filter, for code that works with any kind. It makes filters of one class,
// which are standard filters. Plan and NewShape make filters of several classes, and so
// does umbel make --weights-log from a log of queries.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "more cells for keys that are often queried: fewest false positives for uneven queries (Bruck et al. 2006)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (bits)", Min: 1, Max: 1 << 56},
		{Name: "k", Doc: "cells set per key in class 0", Min: 1, Max: maxK},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
}.Kind()

// CountingKind is the kind of Counting, for code that works with any kind.
var CountingKind umbel.Kind = kinds.Kind[Shape, *Counting]{
	Name: countingName,
	Doc:  "weighted filter with counters: removes and counts keys of classes in 4 times the memory (Verma 2015)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (counters)", Min: 1, Max: 1 << 56},
		{Name: "k", Doc: "counters per key in class 0", Min: 1, Max: maxK},
		{Name: "width", Doc: "bits of a counter, rounded up to 4, 8 or 16", Min: 4, Max: 16},
	},
	Plan: planCounting,
	New:  NewCountingShape,
	Open: OpenCounting,
}.Kind()
