package arrays

import (
	"cmp"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Array is the array of a filter. Copies share the cells.
type Array struct {
	Kind   Kind
	Shape  Shape
	Cells  cells.Array // Shape.M cells
	Copied bool        // Unfold copied counters: some count more than was added
	// Planned is what the filter was made for; that of a layer or a base is zero.
	Planned umbel.Planned
}

// Mapping returns the mapping from a value to a cell, or to a cell of a slice.
func (a Array) Mapping() probe.Mapping {
	return probe.Mapping{Groups: a.groups(), Log: a.Shape.Group}
}

// groups returns the number of groups in the array or, if it is sliced, in a slice. The
// factor of a fold divides it.
func (a Array) groups() uint64 { return a.Kind.slice(a.Shape) >> a.Shape.Group }

// Clone returns a copy that shares no memory with a.
func (a Array) Clone() Array {
	a.Cells = a.Cells.Clone()
	return a
}

// With returns a with other cells, whose number becomes Shape.M.
func (a Array) With(c cells.Array) Array {
	a.Shape.M, a.Cells = c.Len, c
	return a
}

// Fold returns the array folded by r, in new memory. The error wraps umbel.ErrMismatch
// if r does not divide the number of groups.
func (a Array) Fold(r uint64) (Array, error) {
	if err := a.CheckFold(r); err != nil {
		return Array{}, err
	}
	c, err := a.Cells.Fold(r, 1<<a.Shape.Group)
	return a.With(c), a.mismatch(err)
}

// CheckFold returns the error of Fold and reads no cell.
func (a Array) CheckFold(r uint64) error {
	if a.Shape.M == 0 {
		return NoSize(a.Kind.Name)
	}
	return a.mismatch(cells.CheckFold(a.groups(), 1<<a.Shape.Group, r))
}

// Unfold returns the array unfolded by u, in new memory. The error wraps
// umbel.ErrMismatch.
func (a Array) Unfold(u uint64) (Array, error) {
	if a.Shape.M == 0 {
		return Array{}, NoSize(a.Kind.Name)
	}
	c, err := a.Cells.Unfold(u, 1<<a.Shape.Group)
	if err != nil {
		return Array{}, a.mismatch(err)
	}
	a.Copied = a.Kind.Counters && (a.Copied || u > 1 && !a.IsEmpty())
	return a.With(c), nil
}

// IsEmpty reports whether all cells are zero. It stops at the first that is not.
func (a Array) IsEmpty() bool {
	for _, w := range a.Cells.Words {
		if w != 0 {
			return false
		}
	}
	return true
}

// leastShare bounds how much smaller a union may be than the smaller of its two arrays.
const leastShare = 4

// Merge returns the sum of the cells of a and b: see Join.
func (a Array) Merge(b Array) (Array, error) { return a.Join(b, cells.Array.Sum) }

// Subtract undoes Merge. It is an error, which wraps umbel.ErrMismatch, if a counter of b is larger than that of a, or
// counters of b were copied and so count more than was added. Then a is unchanged.
func (a Array) Subtract(b Array) (Array, error) {
	if b.Copied {
		return Array{}, sentinel.Errorf(umbel.ErrMismatch,
			"%s: counters that were copied to unfold the filter count more than was added and cannot be subtracted", a.Kind.Name)
	}
	return a.Join(b, cells.Array.Subtract)
}

// Join folds a and b to the greatest common divisor of their numbers of groups and
// combines their cells: join changes the cells of its first argument. The result is in
// the memory of a if a needs no fold.
//
// The error wraps umbel.ErrMismatch if a and b differ in more than their size, if join
// fails, or if the result would have a single group or less than a quarter of the groups
// of the smaller array: its rate would be close to 1. Then a is unchanged.
func (a Array) Join(b Array, join func(a, b cells.Array) error) (Array, error) {
	common, err := a.Common(b)
	if err != nil {
		return Array{}, err
	}
	if a, err = a.foldTo(common); err != nil {
		return Array{}, err
	}
	if b, err = b.foldTo(common); err != nil {
		return Array{}, err
	}
	a.Copied = a.Copied || b.Copied
	return a, a.mismatch(join(a.Cells, b.Cells))
}

// Common returns the number of groups to which Join folds a and b, or its error. It
// reads no cell.
func (a Array) Common(b Array) (uint64, error) {
	if a.Shape.M == 0 || b.Shape.M == 0 {
		return 0, NoSize(a.Kind.Name)
	}
	differ := func(what string, x, y any) error {
		return sentinel.Errorf(umbel.ErrMismatch, "%s: %s is %v in one filter and %v in the other", a.Kind.Name, what, x, y)
	}
	switch {
	case a.Shape.K != b.Shape.K:
		return 0, differ("k", a.Shape.K, b.Shape.K)
	case a.Cells.Width != b.Cells.Width:
		return 0, differ("the width of a counter", a.Cells.Width, b.Cells.Width)
	case a.Shape.Group != b.Shape.Group:
		return 0, differ("the number of cells in a group", 1<<a.Shape.Group, 1<<b.Shape.Group)
	}
	x, y := a.groups(), b.groups()
	common, smaller := commonDivisor(x, y), min(x, y)
	if common*leastShare < smaller || common == 1 && smaller > 1 {
		return 0, sentinel.Errorf(umbel.ErrMismatch,
			"%s: sizes of %d and %d cells have a common fold of only %d cells: make both filters with the same number of keys, "+
				"add the keys of one to the other, or keep both in a filter of kind union",
			a.Kind.Name, a.Shape.M, b.Shape.M, a.Shape.M/(x/common))
	}
	return common, nil
}

// foldTo returns the array folded to a number of groups that divides its own. If the
// two are equal it returns a itself.
func (a Array) foldTo(groups uint64) (Array, error) {
	if a.groups() == groups {
		return a, nil
	}
	return a.Fold(a.groups() / groups)
}

func commonDivisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Other opens the state of a filter that is to be merged into a: see [Other].
func (a Array) Other(s umbel.State) (Array, error) {
	if a.Shape.M == 0 {
		return Array{}, NoSize(a.Kind.Name)
	}
	return Other(umbel.State{Kind: a.Kind.Name, Hasher: a.Shape.Hasher}, s, a.Kind.Open)
}

// State returns the state of an array that Open can open. It is of kind k even if a is
// the zero Array.
func (a Array) State(k Kind) umbel.State {
	s := umbel.State{
		Kind:   k.Name,
		Hasher: a.Shape.Hasher,
		Params: umbel.Params{
			{Name: paramNames[0], Value: umbel.Uint(uint64(a.Shape.K))},
			{Name: paramNames[1], Value: umbel.Uint(uint64(a.Shape.Group))},
		},
		Arrays: []cells.Array{a.Cells},
		Notes:  umbel.Notes{Planned: a.Planned},
	}
	if k.Counters {
		copied := uint64(0)
		if a.Copied {
			copied = 1
		}
		s.Params = append(s.Params, umbel.Param{Name: paramNames[2], Value: umbel.Uint(copied)})
	}
	return s
}

// AddToZero is the text of the panic of every method that adds to a zero filter.
const AddToZero = probe.AddToZero

// NoSize returns the error, wrapping umbel.ErrMismatch, of methods that need the size of a filter, for a zero filter of a kind.
func NoSize(kind string) error {
	return sentinel.Errorf(umbel.ErrMismatch, "%s: a zero Filter has no size: make it with New", cmp.Or(kind, "umbel"))
}

func (a Array) mismatch(err error) error {
	if err == nil {
		return nil
	}
	return sentinel.Errorf(umbel.ErrMismatch, "%s: %w", cmp.Or(a.Kind.Name, "umbel"), err)
}
