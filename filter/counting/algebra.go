package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Difference takes from the filter what another one holds: it undoes Merge. Which
// filters go together, and in what size, is as for Merge. The other's keys must all
// be in the filter, as often at least. Where a counter shows that they aren't, since
// it would fall below zero, the error wraps umbel.ErrMismatch and nothing has
// changed. Counters can't always show it: as for Remove, to take away what was never
// added loses other keys.
//
// A saturated counter stays. One that is saturated in the other alone is an error:
// it stands for more than the filter's counter has. So is another filter with
// counters that Unfold copied: they would take away more than its keys are.
func (f *Filter) Difference(s umbel.State) error {
	g, err := f.other(s)
	if err != nil {
		return err
	}
	if g.copied {
		return fmt.Errorf("counting: counters that Unfold copied can't be taken away, they count more than was added: %w", umbel.ErrMismatch)
	}
	rest, err := f.grouped().Join(g.grouped(), cells.Array.Subtract)
	if err != nil {
		return err
	}
	f.hold(rest)
	return nil
}

// Bound bounds, from above, how often keys are in two filters: it is what Max and
// Min give. Nothing can be removed from it. Its counters are of two filters at once,
// and a key of the one may share a counter that is 1 with a key of the other: to
// remove one would lose the other.
type Bound struct{ f Filter }

// Max returns the larger of each two counters, of the filter and another one that
// goes together with it as for Merge, in memory of its own: it has what either has,
// and Count is never less than in the filter where it is more.
func (f *Filter) Max(s umbel.State) (*Bound, error) { return f.bound(s, cells.Array.Max) }

// Min returns the smaller of each two counters, as Max returns the larger: it has
// what both have, and some keys that only share their cells with others; Count is
// never less than in the filter where it is less. Sets in both filters have no exact
// summary: Sailhan and Stehr 2012, section II.
func (f *Filter) Min(s umbel.State) (*Bound, error) { return f.bound(s, cells.Array.Min) }

func (f *Filter) bound(s umbel.State, join func(a, b cells.Array) error) (*Bound, error) {
	g, err := f.other(s)
	if err != nil {
		return nil, err
	}
	own := f.grouped()
	own.Bits = own.Bits.Clone()
	joined, err := own.Join(g.grouped(), join)
	if err != nil {
		return nil, err
	}
	b := &Bound{Filter{shape: f.shape, copied: true}}
	b.f.hold(joined)
	return b, nil
}

// Has reports whether each counter of d is above zero.
func (b *Bound) Has(d umbel.Digest) bool { return b.f.Has(d) }

// Count returns a bound on how often d was added: see Max, Min and Filter.Count.
func (b *Bound) Count(d umbel.Digest) uint64 { return b.f.Count(d) }

// Cells returns the counters. They are the bound's own memory.
func (b *Bound) Cells() cells.Array { return b.f.cells }

// Stats measures the counters, as those of a filter.
func (b *Bound) Stats() umbel.Stats { return b.f.Stats() }
