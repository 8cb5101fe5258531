// Package arrays provides filters with one array, from which the kinds are built. An
// [Array] holds the cells and their layout; it folds and merges. [Bits] adds
// and queries keys in an array of bits, [Counters] in an array of counters.
//
// The kinds bloom and partitioned are Bits with a formula and a name; weighted is an
// Array whose keys have different k; counting is Counters. The composed kinds hold Bits
// or Counters as layers. Only State, Open and Merge handle an umbel.State.
package arrays

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

const (
	// MaxK is the largest number of cells per key.
	MaxK = 256
	// WordGroup is the group of an array whose groups are words. Its folds and unions
	// work on whole words.
	WordGroup = probe.WordLog
)

// Kind is a kind whose filters have one array.
type Kind struct {
	Name     string
	Sliced   bool // a key has one cell in each of k equal slices
	Counters bool // cells are counters of 4, 8 or 16 bits
}

// Bloom, Partitioned and Counting are the kinds that serve as layers of other kinds.
var (
	Bloom       = Kind{Name: "bloom"}
	Partitioned = Kind{Name: "partitioned", Sliced: true}
	Counting    = Kind{Name: "counting", Counters: true}
)

// Shape contains the parameters that are fixed when an array is made. The shapes of
// kinds bloom and partitioned convert to it.
type Shape struct {
	M      uint64 // cells, at least 1
	K      int    // cells per key, 1 to MaxK
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or WordGroup
	Hasher umbel.Hasher
}

// GroupFor returns the group of arrays that are planned with m cells: WordGroup if m is
// a multiple of a word, and 0 otherwise.
func GroupFor(m uint64) uint8 {
	if m%(1<<WordGroup) == 0 {
		return WordGroup
	}
	return 0
}

// Check returns an error, which wraps no sentinel, unless an array of kind k can have
// shape s.
func (k Kind) Check(s Shape) error {
	switch {
	case s.M == 0 || s.M > 1<<56:
		return fmt.Errorf("%s: %d cells, want 1 to 2^56", k.Name, s.M)
	case s.K < 1 || s.K > MaxK:
		return fmt.Errorf("%s: k is %d, want 1 to %d", k.Name, s.K, MaxK)
	case s.Group != 0 && s.Group != WordGroup:
		return fmt.Errorf("%s: groups of 2^%d cells, want 2^0 or 2^%d", k.Name, s.Group, WordGroup)
	case k.Sliced && s.M%uint64(s.K) != 0:
		return fmt.Errorf("%s: %d cells cannot be divided into %d equal slices", k.Name, s.M, s.K)
	case k.slice(s)%(1<<s.Group) != 0:
		return fmt.Errorf("%s: %d cells cannot be divided into groups of %d", k.Name, k.slice(s), 1<<s.Group)
	}
	return s.Hasher.Check()
}

// slice returns the number of cells from which a position is chosen.
func (k Kind) slice(s Shape) uint64 {
	if k.Sliced {
		return s.M / uint64(max(s.K, 1))
	}
	return s.M
}

// stride returns the number of cells between the slices of a digest's cells, which is 0 if all are in one.
func (k Kind) stride(s Shape) uint64 {
	if k.Sliced {
		return k.slice(s)
	}
	return 0
}

// New returns an array of zeros with cells of width bits. The error wraps umbel.ErrGoal.
func (k Kind) New(s Shape, width uint) (Array, error) {
	err := k.Check(s)
	if err == nil {
		err = k.CheckWidth(width)
	}
	if err != nil {
		return Array{}, sentinel.Wrap(umbel.ErrGoal, err)
	}
	a, err := cells.New(s.M, width)
	if err != nil {
		return Array{}, sentinel.Errorf(umbel.ErrGoal, "%s: %w", k.Name, err)
	}
	return Array{Kind: k, Shape: s, Cells: a}, nil
}

// Open returns the array of a state of kind k. It shares the memory of the state. The
// error wraps umbel.ErrKind or umbel.ErrCorrupt.
func (k Kind) Open(s umbel.State) (Array, error) {
	var n, group, copied uint64
	names, dst := paramNames, [...]*uint64{&n, &group, &copied} // they stay on the stack
	if !k.Counters {
		names = paramNames[:2]
	}
	a, err := k.OpenCells(s, names, dst[:len(names)]...)
	if err != nil {
		return Array{}, err
	}
	shape := Shape{M: a.Len, K: int(min(n, MaxK+1)), Group: uint8(min(group, 64)), Hasher: s.Hasher}
	if err = k.Check(shape); err == nil && copied > 1 {
		err = fmt.Errorf("%s: copied is %d, want 0 or 1", k.Name, copied)
	}
	if err != nil {
		return Array{}, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	return Array{Kind: k, Shape: shape, Cells: a, Copied: copied == 1, Planned: s.Planned}, nil
}

// Locator is that of umbel.Kind, for filters that are Bits or Counters of kind k.
func (k Kind) Locator(s umbel.State) (umbel.Locator, error) {
	a, err := k.Open(s.WithoutWords())
	if err != nil {
		return nil, err
	}
	return locator{a.Mapping(), k.stride(a.Shape), a.Shape.K}, nil
}

// locator finds the cells of a filter that has none.
type locator struct {
	slice  probe.Mapping
	stride uint64 // from one cell of a digest to the slice of the next
	k      int
}

// Locate is that of umbel.Locator.
func (l locator) Locate(dst []uint64, d umbel.Digest) []uint64 {
	s := probe.Start(d)
	var v, base uint64
	for range l.k {
		v, s = s.Next()
		dst = append(dst, base+l.slice.At(v))
		base += l.stride
	}
	return dst
}

// CheckWidth returns an error, which wraps no sentinel, unless cells of kind k can have
// width bits.
func (k Kind) CheckWidth(width uint) error {
	switch {
	case k.Counters && width != 4 && width != 8 && width != 16:
		return fmt.Errorf("%s: counters of %d bits, want 4, 8 or 16", k.Name, width)
	case !k.Counters && width != 1:
		return fmt.Errorf("%s: cells of %d bits, want 1", k.Name, width)
	}
	return nil
}

// paramNames are the parameters of a state in order; the last only counters have.
var paramNames = []string{"k", "group", "copied"}

// OpenCells returns the only array of a state of kind k. It sets dst to the state's
// parameters, whose names must be names in this order. The error wraps umbel.ErrKind or
// umbel.ErrCorrupt.
func (k Kind) OpenCells(s umbel.State, names []string, dst ...*uint64) (cells.Array, error) {
	if s.Kind != k.Name {
		return cells.Array{}, sentinel.Errorf(umbel.ErrKind, "%s: the state has kind %.40q, want %q", k.Name, s.Kind, k.Name)
	}
	if err := s.Check(); err != nil {
		return cells.Array{}, err
	}
	if err := s.Params.Uints(names, dst...); err != nil {
		return cells.Array{}, err
	}
	if len(s.Arrays) != 1 || len(s.Parts) != 0 {
		return cells.Array{}, sentinel.Errorf(umbel.ErrCorrupt, "%s: %d arrays and %d parts, want one array", k.Name, len(s.Arrays), len(s.Parts))
	}
	a := s.Arrays[0]
	if err := k.CheckWidth(a.Width); err != nil {
		return cells.Array{}, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	return a, nil
}

// Other opens with open the state s of a filter that is to be merged into the one with
// state own. The error wraps umbel.ErrMismatch if kind or hasher differ or if one of the two
// is the zero Filter; otherwise it is that of open.
func Other[F any](own, s umbel.State, open func(umbel.State) (F, error)) (F, error) {
	var none F
	if err := own.CheckMatch(s); err != nil {
		return none, err
	}
	for _, t := range []umbel.State{own, s} {
		if len(t.Arrays) > 0 && t.Arrays[0].Len == 0 {
			return none, NoSize(own.Kind)
		}
	}
	return open(s)
}
