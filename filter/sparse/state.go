package sparse

import (
	"io"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// Name is the name of this kind.
const Name = "sparse"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"m", "group"}

// State returns the complete contents of the filter: see [umbel.Filter]. It depends on the
// shape and the set of keys, not on their order. While additions are pending, each call makes
// a new list, in separate memory: see Compact.
func (f *Filter) State() umbel.State {
	l := f.all()
	high, low := l.Arrays()
	return umbel.State{
		Kind:   Name,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "m", Value: umbel.Uint(f.shape.M)},
			{Name: "group", Value: umbel.Uint(uint64(f.shape.Group))},
		},
		Arrays: []cells.Array{high, low},
		Notes:  umbel.Notes{Planned: f.planned},
	}
}

// Open returns the filter with state s and takes over its memory. It reads the list once:
// positions must be ascending and below m. The error wraps umbel.ErrKind or
// umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, sentinel.Errorf(umbel.ErrKind, "sparse: the state has kind %.40q, want %q", s.Kind, Name)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	var m, group uint64
	if err := s.Params.Uints(paramNames, &m, &group); err != nil {
		return nil, err
	}
	if len(s.Arrays) != 2 || len(s.Parts) != 0 {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "sparse: %d arrays and %d parts, want two arrays", len(s.Arrays), len(s.Parts))
	}
	shape := Shape{M: m, Group: uint8(min(group, 64)), Hasher: s.Hasher}
	if err := sentinel.Wrap(umbel.ErrCorrupt, shape.check()); err != nil {
		return nil, err
	}
	l, err := eliasfano.Open(m, s.Arrays[0], s.Arrays[1])
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "sparse: %w", err)
	}
	f := &Filter{shape: shape, planned: s.Planned}
	f.hold(l)
	return f, nil
}

// Positions yields the positions of the nonzero cells in ascending order.
func (f *Filter) Positions(yield func(uint64) bool) { union(&f.list, f.added.all)(yield) }

// Stats measures the filter: see [umbel.Filter]. Cells and fill ratio are those of the
// equivalent bloom filter, bytes those of the state. An index takes up to 0.625 bits per key
// in addition, and pending additions up to 3.5 bits.
func (f *Filter) Stats() umbel.Stats {
	if f.shape.M == 0 {
		return umbel.Stats{}
	}
	m, ones := f.shape.M, f.ones()
	n := arrays.EstimateKeys(f.copies(), func(r uint64) plan.Estimate {
		return plan.Filter{M: m / r, K: 1}.Keys(f.foldedOnes(r))
	})
	fill := float64(ones) / float64(m)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: fill, FPRate: plan.FPRateAtFill(fill, 1),
		Cells: m, K: 1, Bytes: f.Bytes(),
	}
}

// Bytes returns the bytes of the arrays of the state, without computing them.
func (f *Filter) Bytes() uint64 {
	if f.shape.M == 0 {
		return 0
	}
	return listBits(f.shape.M, f.ones()) / 8
}

// bloomKind is the kind of the equivalent filters, with k = 1, and bloomParams its
// parameters: spec/kinds/bloom.md.
const bloomKind = "bloom"

var bloomParams = []string{"k", "group"}

// FromBloom returns the filter that is equivalent to the filter of kind bloom with state s.
// It keeps nothing of s. The error wraps umbel.ErrKind or umbel.ErrCorrupt, and
// umbel.ErrMismatch if k is not 1.
func FromBloom(s umbel.State) (*Filter, error) {
	var k, group uint64
	a, err := arrays.Bloom.OpenCells(s, bloomParams, &k, &group)
	if err != nil {
		return nil, err
	}
	shape, err := bloomShape(s.Hasher, a.Len, k, group)
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: shape, planned: s.Planned}
	f.hold(must(eliasfano.Build(a.Len, a.Nonzero(), ones(a))))
	return f, nil
}

// bloomShape returns the shape of a filter of kind bloom as one of this kind.
func bloomShape(h umbel.Hasher, m, k, group uint64) (Shape, error) {
	if k != 1 {
		return Shape{}, sentinel.Errorf(umbel.ErrMismatch, "sparse: a sparse copy needs a filter with one cell per key; this one has k %d", k)
	}
	s := Shape{M: m, Group: uint8(min(group, 64)), Hasher: h}
	return s, sentinel.Wrap(umbel.ErrCorrupt, s.check())
}

// ones yields the nonzero cells of an array of bits.
func ones(a cells.Array) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for i, w := range a.Words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint64(i)<<6 | uint64(bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Bloom returns the state of the equivalent filter of kind bloom, with k = 1 and the same m.
// It takes m bits of memory. The error wraps umbel.ErrLimit if that is too much, and
// umbel.ErrMismatch if f is a zero Filter.
func (f *Filter) Bloom() (umbel.State, error) {
	if f.shape.M == 0 {
		return umbel.State{}, errZero
	}
	a, err := cells.New(f.shape.M, 1)
	if err != nil {
		return umbel.State{}, sentinel.Errorf(umbel.ErrLimit, "sparse: %w", err)
	}
	for x := range f.Positions {
		a.SetBit(x)
	}
	s := f.bloomHead()
	s.Arrays = []cells.Array{a}
	return s, nil
}

var errZero = arrays.NoSize(Name)

// WriteBloom writes the container that p makes of the result of Bloom, without having the
// cells in memory. Read reads it. It is the best message: about n·(log2(1/f) + 1.44) bits,
// half a bit per key less than the filter's own container. Errors are those of
// wire.Packer.Write, and umbel.ErrMismatch if f is a zero Filter.
func (f *Filter) WriteBloom(w io.Writer, p wire.Packer) error {
	if f.shape.M == 0 {
		return errZero
	}
	s := f.bloomHead()
	s.Arrays = []cells.Array{{Len: f.shape.M, Width: 1}}
	l := f.all()
	c := l.Cursor()
	x, ok := c.Next()
	for b, err := range p.WriteBlocks(w, s) {
		if err != nil {
			return err
		}
		for ; ok && x-b.First < b.Cells.Len; x, ok = c.Next() {
			b.Cells.SetBit(x - b.First)
		}
	}
	return nil
}

// bloomHead returns the state that Bloom returns, without the array.
func (f *Filter) bloomHead() umbel.State {
	return umbel.State{
		Kind:   bloomKind,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "k", Value: umbel.Uint(1)},
			{Name: "group", Value: umbel.Uint(uint64(f.shape.Group))},
		},
		Notes: umbel.Notes{Planned: f.planned},
	}
}
