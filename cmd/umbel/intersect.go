package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/plan"
)

const intersectHelp = `Estimate how many keys are in both filters, with an interval that holds the number
with probability 0.95 or more. It is what A and B hold, less what the two hold
together, each by the cells that are set; so it is coarse where A and B have few keys
in common, and no filter of the keys in both is made.

The two must be filters of single bits, of one kind, one hash and one k; of a counting
filter its counters that aren't zero are taken, and of a folding one what it sends. So
the three kinds bloom, counting and folding can be compared with each other. Filters of
unlike sizes are folded to a size that divides both, if there is one near.`

const intersectExample = `  umbel intersect monday.umb tuesday.umb
  umbel intersect --json a.umb b.umb | jq .both.keys`

func intersectCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "intersect FILE FILE",
		Short:   "estimate how many keys two filters share",
		Long:    intersectHelp,
		Example: intersectExample,
		Args:    arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var fs [2]umbel.Filter
			for i, name := range args {
				f, _, err := container.Open(name, filter.All)
				if err != nil {
					return err
				}
				if fs[i], err = bitsOf(f); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			sizes, err := intersect(fs[0], fs[1])
			if err != nil {
				return fmt.Errorf("%s and %s: %w", args[0], args[1], err)
			}
			return sizes.print(cmd, args[0], args[1])
		},
	}
}

// bitsOf returns the one array of bits that a filter is, or that it has to be sent: the
// view of counters, the face of a base.
func bitsOf(f umbel.Filter) (umbel.Filter, error) {
	switch f := f.(type) {
	case interface{ View() *counting.View }:
		return f.View().Filter(), nil
	case interface{ Face() (*bloom.Filter, error) }:
		return f.Face()
	}
	if !ofBits(f.State()) {
		return nil, fmt.Errorf("a filter of kind %s isn't one array of bits and has none, and only such are compared: %w", f.State().Kind, errors.ErrUnsupported)
	}
	return f, nil
}

// ofBits reports whether a state is one plane of bits and nothing else.
func ofBits(s umbel.State) bool {
	return len(s.Planes) == 1 && len(s.Parts) == 0 && s.Planes[0].Width <= 1
}

// overlap is what two filters tell of their keys.
type overlap struct {
	a, b, union, both plan.Estimate
	cells             uint64 // of the filters as they were compared
}

// intersect estimates how many keys a and b share. It may change both. The error
// wraps umbel.ErrMismatch if they don't go together.
func intersect(a, b umbel.Filter) (overlap, error) {
	union, err := filter.All.Open(a.State().Clone())
	if err != nil {
		return overlap{}, err
	}
	m, ok := union.(umbel.Merger)
	if !ok {
		return overlap{}, fmt.Errorf("a filter of kind %s doesn't merge: %w", a.State().Kind, errors.ErrUnsupported)
	}
	if err := m.Merge(b.State()); err != nil {
		return overlap{}, err
	}
	size := union.State().Planes[0].Len
	for _, f := range []umbel.Filter{a, b} {
		if err := foldTo(f, size); err != nil {
			return overlap{}, err
		}
	}
	o := overlap{a: keysOf(a), b: keysOf(b), union: keysOf(union), cells: size}
	if k, ok := plainK(a, b); ok {
		ones := func(f umbel.Filter) uint64 { return f.State().Planes[0].Nonzero() }
		o.both = plan.Intersection(size, k, ones(a), ones(b), ones(union))
	} else {
		o.both = bothOf(o.a, o.b, o.union)
	}
	return o, nil
}

// foldTo folds f to the size that a union with it has.
func foldTo(f umbel.Filter, size uint64) error {
	m := f.State().Planes[0].Len
	if m == size {
		return nil
	}
	folder, ok := f.(umbel.Folder)
	if !ok {
		return fmt.Errorf("a filter of kind %s, of %d cells, is compared at %d, and doesn't fold: %w", f.State().Kind, m, size, errors.ErrUnsupported)
	}
	return folder.Fold(m / size)
}

// plainK returns k if the filters count their keys by the formula of the standard
// one, for which the variance of an intersection is known.
func plainK(fs ...umbel.Filter) (k int, plain bool) {
	for _, f := range fs {
		s := f.Stats()
		k = int(s.K)
		if float64(k) != s.K || k < 1 {
			return 0, false
		}
		want := plan.Keys(s.Cells, k, f.State().Planes[0].Nonzero())
		if s.Keys != want && !(math.Abs(s.Keys-want) <= 1e-9*want) {
			return 0, false
		}
	}
	return k, true
}

// bothOf returns the intersection of two sets by inclusion and exclusion. The standard
// deviation of a sum is at most the sum of theirs, however the terms depend on each
// other: so is the interval's half, which is therefore wide.
func bothOf(a, b, union plan.Estimate) plan.Estimate {
	most := min(a.High, b.High)
	value := a.Value + b.Value - union.Value
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return plan.Estimate{Value: math.NaN(), High: most}
	}
	low := value - (a.Value - a.Low) - (b.Value - b.Low) - (union.High - union.Value)
	high := value + (a.High - a.Value) + (b.High - b.Value) + (union.Value - union.Low)
	value = min(max(value, 0), a.Value, b.Value)
	return plan.Estimate{Value: value, Low: min(value, max(low, 0)), High: max(value, min(high, most))}
}

func (o overlap) print(cmd *cobra.Command, nameA, nameB string) error {
	result := struct {
		A     setInfo `json:"a"`
		B     setInfo `json:"b"`
		Union setInfo `json:"union"`
		Both  setInfo `json:"both"`
		Cells uint64  `json:"cells"`
	}{newSetInfo(nameA, o.a), newSetInfo(nameB, o.b), newSetInfo("", o.union), newSetInfo("", o.both), o.cells}
	return answer(cmd, result, func(w io.Writer) error {
		t := table.New("", " Keys", " Least", " Most")
		result.A.row(t, nameA)
		result.B.row(t, nameB)
		result.Union.row(t, "union")
		result.Both.row(t, "both")
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "compared at %v cells\n", quantity.Count(o.cells))
		return err
	})
}
