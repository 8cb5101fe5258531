// Package merging makes one filter of several: it joins their cells, or keeps them side by side.
package merging

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Form is the form of the result.
type Form string

// The forms. Best is Joined if that does not raise the rate much: see [Filters].
const (
	Best   Form = ""
	Joined Form = "joined" // one filter, cell by cell
	Union  Form = "union"  // the filters side by side
)

// Forms are the forms that a user may choose.
var Forms = []Form{Joined, Union}

// Result is a filter that contains the keys of several filters.
type Result struct {
	Filter umbel.Filter
	Stats  umbel.Stats // of Filter
	Form   Form        // Joined or Union
	// Beyond is set if the rate of joined cells is too high: see [Filters].
	Beyond     bool
	JoinedRate float64 // rate of joined cells, if Apart is nil
	UnionRate  float64 // rate side by side
	UnionBytes uint64  // memory side by side
	Apart      error   // why cells are not joined; nil if they can be
	Joinable   bool    // the filters are of one kind, whose cells can be joined if filters have the same shape
}

// Filters returns a filter with the keys of all fs, at least two, with one
// hasher. It may share their memory. In form Best it joins their cells if
//
//   - all have one kind that merges, and a common size of at least half of the smallest, and
//   - the rate of the result is at most that of a union, or at most twice the largest rate for which a
//     filter was planned or that it has now.
//
// Otherwise the result is a union. If kind union does not accept a filter, cells are joined even
// so. The error wraps umbel.ErrMismatch if the filters cannot have the form.
func Filters(fs []umbel.Filter, form Form) (Result, error) {
	var r Result
	limit, least, most, sameK := 0.0, uint64(math.MaxUint64), uint64(0), true
	_, r.Joinable = fs[0].(umbel.Merger)
	k, rates := 0.0, make([]float64, len(fs))
	states := make([]umbel.State, len(fs))
	for i, f := range fs {
		s := f.Stats()
		states[i] = f.State()
		limit = max(limit, umbel.OverfullFactor*max(s.FPRate, plannedRate(states[i].Planned, s.K)))
		least, most = min(least, s.Cells), max(most, s.Cells)
		if i == 0 {
			k = s.K
		}
		r.Joinable = r.Joinable && states[i].Kind == states[0].Kind
		sameK = sameK && s.K == k
		rates[i] = s.FPRate
		r.UnionBytes += s.Bytes
	}
	r.UnionRate = plan.CompoundFPRate(rates...)

	joined, err := join(states)
	if err == nil {
		r.Filter, r.Stats, r.Form = joined, joined.Stats(), Joined
		r.JoinedRate = r.Stats.FPRate
		r.Beyond = r.JoinedRate > max(limit, r.UnionRate)
		if r.Stats.Cells < least/2 {
			r.Apart = fmt.Errorf("joined they would have %v cells, less than half of the smallest", quantity.Count(r.Stats.Cells))
		}
	}
	if r.Apart == nil {
		r.Apart = err
	}
	if r.Joinable && sameK && least < most && err != nil {
		r.Apart = fmt.Errorf("their sizes, from %v to %v cells, have no large common divisor", quantity.Count(least), quantity.Count(most))
	}
	if form == Joined {
		return r, err
	}
	if form == Best && r.Apart == nil && !r.Beyond {
		return r, nil
	}
	u, refused := union.Of(states...)
	switch {
	case refused != nil && form == Best && err == nil:
		return r, nil
	case refused != nil && err != nil && form == Best:
		return r, err
	case refused != nil:
		return r, refused
	}
	if form == Best && len(u.Members()) == 1 && fs[0].State().Kind != union.Name { // all are equal
		r.Filter, r.Stats, r.Form, r.Apart = fs[0], fs[0].Stats(), Joined, nil
		return r, nil
	}
	r.Filter, r.Stats, r.Form = u, u.Stats(), Union
	r.UnionRate, r.UnionBytes = r.Stats.FPRate, r.Stats.Bytes // a filter that was given twice counts once
	return r, nil
}

// Limit returns the highest rate of joined cells that is not too high whatever the rates of the filters are, of which the first is
// planned for p and sets k cells per key: see [Filters].
func Limit(p umbel.Planned, k float64) float64 { return umbel.OverfullFactor * plannedRate(p, k) }

// plannedRate returns the rate that a filter was planned for. If it is unknown, that is the rate at
// which half of the cells are set, as in a filter that is planned with the best k, but at
// most the default rate.
func plannedRate(p umbel.Planned, k float64) float64 {
	if p.FPRate > 0 {
		return p.FPRate
	}
	return min(spec.DefaultRate, math.Exp2(-k))
}

// join returns the union of filters, joined cell by cell. It changes none of them.
func join(states []umbel.State) (umbel.Filter, error) {
	f, err := filter.All.Open(states[0].Clone())
	if err != nil {
		return nil, err
	}
	m, ok := f.(umbel.Merger)
	if !ok {
		return nil, sentinel.Errorf(umbel.ErrMismatch, "filters of kind %s have no cells that can be joined", states[0].Kind)
	}
	for _, s := range states[1:] {
		if err := m.Merge(s); err != nil {
			return nil, err
		}
	}
	return f, nil
}
