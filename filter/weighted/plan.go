package weighted

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Plan returns the shape that meets the goal with keys of the classes, the first of
// which are all keys that no table tells another class of; Hot or Prefixes are the
// caller's to set. From keys and rate it has the least memory, from keys and bytes the
// least rate, and from rate and bytes room for the most keys; the rate is the weighted
// one, of the questions that the classes expect: see plan.WeightedKs. Members and
// Queries are taken as shares of all, in any unit. Bytes are those of the bits alone.
//
// Without classes, or with one, it is the plan of a standard filter. The error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal, classes ...plan.Class) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	if len(classes) < 2 {
		s, _, err := planWith(g, nil)
		return s, err
	}
	if len(classes) > MaxClasses {
		return Shape{}, fmt.Errorf("weighted: %d classes, want 1 to %d: %w", len(classes), MaxClasses, umbel.ErrGoal)
	}
	s, err := planClasses(g, classes)
	if err != nil {
		return Shape{}, fmt.Errorf("weighted: %w: %w", err, umbel.ErrGoal)
	}
	return s, s.Check()
}

// planClasses is Plan with several classes.
func planClasses(g umbel.Goal, classes []plan.Class) (Shape, error) {
	// A first look also says what is wrong with the classes.
	if _, _, err := plan.WeightedKs(1, classes, 1); err != nil {
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

// planner plans with classes that make sense.
type planner struct {
	classes          []plan.Class
	members, queries float64
}

// at returns the best k of m cells with n keys, and the weighted rate.
func (p planner) at(m uint64, n float64) ([]int, float64) {
	scaled := make([]plan.Class, len(p.classes))
	for i, c := range p.classes {
		scaled[i] = plan.Class{Members: c.Members / p.members * n, Queries: c.Queries}
	}
	ks, rate, err := plan.WeightedKs(m, scaled, MaxK)
	if err != nil {
		panic(err) // the classes were looked at before
	}
	return ks, rate
}

// size returns the number of cells for keys and a rate, to one part in 1000 or a word
// the least. A standard filter, which is one of equal k, needs no fewer.
func (p planner) size(g umbel.Goal) (uint64, error) {
	plain, _, err := sizing.Size(g.Keys, g.FPRate)
	if err != nil {
		return 0, err
	}
	if plain < 1<<wordGroup {
		return plain, nil
	}
	low, high := uint64(0), plain>>wordGroup+1
	for high-low > 1+high/1000 {
		middle := low + (high-low)/2
		if _, rate := p.at(middle<<wordGroup, float64(g.Keys)); rate <= g.FPRate {
			high = middle
		} else {
			low = middle
		}
	}
	return plan.RoundFoldable(high) << wordGroup, nil
}

// capacity returns how many keys m cells hold at a rate, to one part in 1000. They
// are no fewer than in a standard filter.
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
	s := Shape{M: m, Hasher: g.Hasher}
	for i, c := range p.classes {
		s.Classes = append(s.Classes, Class{K: ks[i], Members: c.Members / p.members, Queries: c.Queries / p.queries})
	}
	s.Classes = inBillionths(s.Classes)
	if m%(1<<wordGroup) == 0 {
		s.Group = wordGroup
	}
	return s
}
