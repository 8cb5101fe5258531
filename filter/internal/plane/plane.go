// Package plane is what kinds whose state is one plane of bits share: opening a
// state, stats, folds and unions.
package plane

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// Open returns the plane of a state of the kind and sets dst to its parameters,
// which must be those of names, in order. The error wraps umbel.ErrKind or
// umbel.ErrCorrupt.
func Open(kind string, s umbel.State, names []string, dst ...*uint64) (cells.Array, error) {
	if s.Kind != kind {
		return cells.Array{}, fmt.Errorf("%s: a state of kind %.40q: %w", kind, s.Kind, umbel.ErrKind)
	}
	if err := s.Check(); err != nil {
		return cells.Array{}, err
	}
	if err := s.Params.Uints(names, dst...); err != nil {
		return cells.Array{}, err
	}
	if len(s.Planes) != 1 || len(s.Parts) != 0 {
		return cells.Array{}, fmt.Errorf("%s: %d planes and %d parts, want one plane: %w", kind, len(s.Planes), len(s.Parts), umbel.ErrCorrupt)
	}
	a := s.Planes[0]
	if a.Width > 1 {
		return cells.Array{}, fmt.Errorf("%s: cells of %d bits, want 1: %w", kind, a.Width, umbel.ErrCorrupt)
	}
	a.Width = 1
	return a, nil
}

// Append appends the container of a filter of one plane to dst. It refuses the zero
// filter, which could not be opened again: the error wraps umbel.ErrGoal.
func Append(dst []byte, s umbel.State) ([]byte, error) {
	if s.Planes[0].Len == 0 {
		return dst, fmt.Errorf("%s: a zero Filter has no container: make it with New: %w", s.Kind, umbel.ErrGoal)
	}
	return wire.Append(dst, s)
}

// Unmarshal sets *f to the filter in a container, within wire.DefaultLimits; for a
// larger one there are wire.Parse and open. On error *f is as it was.
func Unmarshal[F any](f *F, b []byte, open func(umbel.State) (*F, error)) error {
	s, err := wire.Parse(b, wire.DefaultLimits)
	if err != nil {
		return err
	}
	g, err := open(s)
	if err != nil {
		return err
	}
	*f = *g
	return nil
}

// Stats returns the stats of a plane of which each key sets k bits, whatever the
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
	if err := g.made(); err != nil {
		return cells.Array{}, err
	}
	if err := cells.CheckFold(g.Groups, g.Group, r); err != nil {
		return cells.Array{}, g.mismatch(err)
	}
	a, err := g.Bits.Fold(r, g.Group)
	return a, g.mismatch(err)
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
		if len(t.Planes) == 1 && t.Planes[0].Len == 0 {
			return nil, zero(own.Kind)
		}
	}
	return open(s)
}

// Merge returns the union of g and h, which are alike but for their sizes, one
// being a multiple of the other: the larger is folded. Where g is no larger, the
// result is in its memory. Errors wrap umbel.ErrMismatch.
func (g Grouped) Merge(h Grouped) (cells.Array, error) {
	for _, x := range []Grouped{g, h} {
		if err := x.made(); err != nil {
			return cells.Array{}, err
		}
	}
	a, b, err := g.Bits, h.Bits, error(nil)
	switch {
	case g.Groups > h.Groups && g.Groups%h.Groups == 0:
		a, err = g.Fold(g.Groups / h.Groups)
	case h.Groups > g.Groups && h.Groups%g.Groups == 0:
		b, err = h.Fold(h.Groups / g.Groups)
	case g.Groups != h.Groups:
		err = fmt.Errorf("%s: %d cells and %d: neither size divides the other; fold both to a common divisor first: %w",
			g.Kind, a.Len, b.Len, umbel.ErrMismatch)
	}
	if err != nil {
		return cells.Array{}, err
	}
	return a, g.mismatch(a.Sum(b))
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
