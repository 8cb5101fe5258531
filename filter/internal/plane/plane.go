// Package plane is what kinds whose state is one plane share: opening a state,
// stats, folds and unions. The plane is of bits, or of counters.
package plane

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/plan"
)

// Open returns the plane of bits of a state of the kind and sets dst to its
// parameters, which must be those of names, in order. The error wraps umbel.ErrKind
// or umbel.ErrCorrupt.
func Open(kind string, s umbel.State, names []string, dst ...*uint64) (cells.Array, error) {
	a, err := OpenCells(kind, s, names, dst...)
	if err == nil && a.Width > 1 {
		return cells.Array{}, fmt.Errorf("%s: cells of %d bits, want 1: %w", kind, a.Width, umbel.ErrCorrupt)
	}
	return a, err
}

// OpenCells is Open for cells of any width, which isn't 0 in what it returns.
func OpenCells(kind string, s umbel.State, names []string, dst ...*uint64) (cells.Array, error) {
	if s.Kind != kind {
		return cells.Array{}, fmt.Errorf("%s: a state of kind %.40q: %w", kind, s.Kind, umbel.ErrKind)
	}
	if err := s.Check(); err != nil {
		return cells.Array{}, err
	}
	if err := s.Params.Uints(names, dst...); err != nil {
		return cells.Array{}, err
	}
	if len(s.Arrays) != 1 || len(s.Parts) != 0 {
		return cells.Array{}, fmt.Errorf("%s: %d planes and %d parts, want one plane: %w", kind, len(s.Arrays), len(s.Parts), umbel.ErrCorrupt)
	}
	a := s.Arrays[0]
	a.Width = max(a.Width, 1)
	return a, nil
}

// Stats returns the stats of a plane of which each key sets k cells, whatever the
// slices.
func Stats(a cells.Array, k int) umbel.Stats {
	if a.Len == 0 {
		return umbel.Stats{}
	}
	ones := a.Nonzero()
	n := plan.KeysInterval(a.Len, k, ones)
	fill := float64(ones) / float64(a.Len)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: fill, FPRate: plan.FPRateAtFill(fill, k),
		Cells: a.Len, K: float64(k), Bytes: a.Bytes(),
	}
}

// Grouped is a plane whose cells keep their place in groups of Group when it
// folds. It folds by what divides Groups: their number, or that of one slice.
type Grouped struct {
	Kind   string // for errors
	Bits   cells.Array
	Group  uint64
	Groups uint64
}

// Fold returns the plane folded by r. Errors wrap umbel.ErrMismatch.
func (g Grouped) Fold(r uint64) (cells.Array, error) {
	if err := g.CheckFold(r); err != nil {
		return cells.Array{}, err
	}
	a, err := g.Bits.Fold(r, g.Group)
	return a, g.mismatch(err)
}

// CheckFold returns the error of Fold by r, and reads no cell.
func (g Grouped) CheckFold(r uint64) error {
	if err := g.made(); err != nil {
		return err
	}
	return g.mismatch(cells.CheckFold(g.Groups, g.Group, r))
}

// Unfold returns the plane unfolded by u. Errors wrap umbel.ErrMismatch.
func (g Grouped) Unfold(u uint64) (cells.Array, error) {
	if err := g.made(); err != nil {
		return cells.Array{}, err
	}
	a, err := g.Bits.Unfold(u, g.Group)
	return a, g.mismatch(err)
}

// Other opens the state of a filter that is to be merged into one with state own.
// The error wraps umbel.ErrMismatch if the two aren't of one kind and hasher or one
// is a zero Filter, and is that of open otherwise.
func Other[F any](own, s umbel.State, open func(umbel.State) (*F, error)) (*F, error) {
	if err := own.Alike(s); err != nil {
		return nil, err
	}
	for _, t := range []umbel.State{own, s} {
		if len(t.Arrays) > 0 && t.Arrays[0].Len == 0 {
			return nil, zero(own.Kind)
		}
	}
	return open(s)
}

// leastShare is how much smaller than the smaller of two filters their union may be.
const leastShare = 4

// Merge returns the union of g and h, the sum of their cells: see Join.
func (g Grouped) Merge(h Grouped) (cells.Array, error) { return g.Join(h, cells.Array.Sum) }

// Join returns g with h joined to it, which are alike but for their sizes. Both are
// folded to the largest number of groups that divides those of each: that of the
// smaller if it divides the other. Where nothing is folded, or only h, the result is in
// g's memory; if join fails it must leave that as it was. Errors wrap
// umbel.ErrMismatch, and so does the one about sizes with so little in common that the
// result would have less than a quarter of the smaller one's groups, or a single group:
// nobody who joins two filters asks for its rate.
func (g Grouped) Join(h Grouped, join func(a, b cells.Array) error) (cells.Array, error) {
	common, err := g.Common(h)
	if err != nil {
		return cells.Array{}, err
	}
	a, err := g.foldTo(common)
	if err != nil {
		return cells.Array{}, err
	}
	b, err := h.foldTo(common)
	if err != nil {
		return cells.Array{}, err
	}
	return a, g.mismatch(join(a, b))
}

// Common returns the number of groups to which Join folds g and h, and reads no cell.
func (g Grouped) Common(h Grouped) (uint64, error) {
	for _, x := range []Grouped{g, h} {
		if err := x.made(); err != nil {
			return 0, err
		}
	}
	common, smaller := commonDivisor(g.Groups, h.Groups), min(g.Groups, h.Groups)
	if common*leastShare < smaller || common == 1 && smaller > 1 {
		return 0, fmt.Errorf("%s: %d cells and %d both fold to no more than %d: if so few will do, fold by %d and %d first: %w",
			g.Kind, g.Bits.Len, h.Bits.Len, g.Bits.Len/(g.Groups/common), g.Groups/common, h.Groups/common, umbel.ErrMismatch)
	}
	return common, nil
}

// foldTo returns the plane folded to so many groups, which divide its own: itself, in
// its memory, if it has as many.
func (g Grouped) foldTo(groups uint64) (cells.Array, error) {
	if g.Groups == groups {
		return g.Bits, nil
	}
	return g.Fold(g.Groups / groups)
}

func commonDivisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (g Grouped) made() error {
	if g.Bits.Len == 0 {
		return zero(g.Kind)
	}
	return nil
}

func zero(kind string) error {
	return fmt.Errorf("%s: a zero Filter has no size: make it with New: %w", kind, umbel.ErrMismatch)
}

func (g Grouped) mismatch(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", g.Kind, err, umbel.ErrMismatch)
}
