package umbel

import (
	"fmt"
	"strings"
)

// Kind is all that generic code knows of a kind of filter. Its functions may be
// called concurrently.
type Kind struct {
	Name   string
	Doc    string // one line: what it is for, and its source
	Params []ParamDoc
	// Monotone says that additions only set bits of planes, whose number and size change
	// only when the filter grows, and that the bits which they set depend on the digest
	// alone. A copy of the planes that is torn anywhere in time then has, bit for bit, the
	// filter's planes once it is given again the additions since the copy began. Numbers
	// among the parameters may count differently, and neither of the two may grow
	// meanwhile: filters of such a kind that grow have SetMaxBytes, and Add takes what
	// comes where that leaves no room. If a GrowthForecaster has such a kind, the addition
	// of a digest for which Has is true changes nothing.
	Monotone bool
	// Plan tells what New would make, without making it: what it costs in memory
	// can be asked before it is taken.
	Plan func(Goal, Params) (Forecast, error)
	// Shape returns the shape of the filter that New makes, as the kind's own type, for
	// example bloom.Shape, and the number of keys that it is planned for. Plan returns its
	// forecast for that number.
	Shape func(Goal, Params) (s Shape, keys uint64, err error)
	// New makes an empty filter. Params override what the goal would give; with
	// enough of them the goal may be empty but for its hasher.
	New func(Goal, Params) (Filter, error)
	// Open makes the filter that a state describes, checks everything and takes over
	// the memory. The error wraps ErrCorrupt if no filter of this kind has such a
	// state.
	Open func(State) (Filter, error)
}

// Shape is the parameters that a kind fixes when a filter is made.
type Shape interface {
	// Forecast returns what a filter of this shape costs, and its rate, with n keys.
	Forecast(n uint64) Forecast
}

// Kinds is a list of kinds that a program hands to whatever makes or opens
// filters; what isn't in it can't be opened.
type Kinds []Kind

// Find returns the variant of that kind. The error wraps [ErrKind] and lists the
// kinds there are.
func (vs Kinds) Find(kind string) (Kind, error) {
	for _, v := range vs {
		if v.Name == kind {
			return v, nil
		}
	}
	names := make([]string, len(vs))
	for i, v := range vs {
		names[i] = v.Name
	}
	return Kind{}, fmt.Errorf("umbel: kind %q, want one of %s: %w", clip(kind), strings.Join(names, ", "), ErrKind)
}

// Open makes the filter that s describes, of whatever kind in the list. It takes
// over the memory of s.
func (vs Kinds) Open(s State) (Filter, error) {
	v, err := vs.Find(s.Kind)
	if err != nil {
		return nil, err
	}
	return v.Open(s)
}

// Check returns an error that wraps [ErrGoal] if ps names a parameter that isn't
// in the variant's list, names one twice, or has a value out of its range.
func (v Kind) Check(ps Params) error { return ps.Check(v.Name, v.Params) }
