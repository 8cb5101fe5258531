// Package bloom provides the standard Bloom filter: m bits, of which each key sets k at
// independent positions (Bloom 1970). Of the kinds that accept additions it needs the
// least memory; a query causes up to k cache misses.
//
// The kind's name stands for its positions: those of probe.Mapping over the stream of
// probe.Start, in groups of 2^group cells (spec/kinds/bloom.md).
package bloom

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Name is the name of this kind.
const Name = "bloom"

// Filter is a standard Bloom filter. All methods that begin with Has or end in Atomic are safe to call
// concurrently. Other methods, among them Stats and WriteTo, may not run while keys are added. A Filter
// must not be copied, since the copies would share memory: use Clone. The zero Filter contains nothing and
// is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	bits arrays.Bits
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.bits.Hasher(), Planned: f.bits.Planned(), Zero: f.bits.IsZero()}
}

// NewShape returns an empty filter of shape s. The error wraps umbel.ErrGoal if no filter can have that
// shape. It allocates the memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) { return wrap(arrays.NewBits(kind, arrays.Shape(s))) }

// Open returns the filter with state s and takes over its memory. The error wraps
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) { return wrap(arrays.OpenBits(kind, s)) }

func wrap(b arrays.Bits, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	return &Filter{bits: b}, nil
}

// Add adds d and reports whether a bit changed.
func (f *Filter) Add(d umbel.Digest) bool { return f.bits.Add(d) }

// Has reports whether d may have been added. It is never false for a digest that was.
func (f *Filter) Has(d umbel.Digest) bool { return f.bits.Has(d) }

// AddAtomic adds d concurrently with Has and itself: see [umbel.AtomicAdder].
func (f *Filter) AddAtomic(d umbel.Digest) bool { return f.bits.AddAtomic(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier]. In a filter larger than the
// caches it takes a fraction of the time of single queries.
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.bits.HasAll(dst, ds) }

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) { f.bits.AddAll(changed, ds) }

// AddAllAtomic adds ds concurrently with Has and itself: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) { f.bits.AddAllAtomic(ds) }

// NewLoader returns a loader of f with at most the given bytes of memory, or nil: see [umbel.BulkAdder].
func (f *Filter) NewLoader(most uint64) umbel.Loader { return f.bits.NewLoader(most) }

// Locate appends the k positions of d to dst: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 { return f.bits.Locate(dst, d) }

// Clear removes all keys.
func (f *Filter) Clear() { f.bits.Clear() }

// Fold shrinks f by factor r: bit for bit to the filter built at that size. r must
// divide the number of groups. The error wraps umbel.ErrMismatch; on error f is unchanged. Fold
// reads the filter once and allocates the smaller array.
func (f *Filter) Fold(r uint64) error { return f.bits.Fold(r) }

// Unfold enlarges f by factor u by copying cells: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error { return f.bits.Unfold(u) }

// Equal reports whether f and other have equal states: the same parameters, the same
// hasher with the same seed, and the same cells. For other kinds compare their states.
func (f *Filter) Equal(other *Filter) bool { return f.State().Equal(other.State()) }

// Merge adds the keys of another bloom filter with the same k, group and hasher. If the
// sizes differ, both filters are folded to their greatest common divisor, which is the
// smaller size if it divides the larger; the result has that size and its rate. The error
// wraps umbel.ErrMismatch and names the first difference. Sizes whose greatest common
// divisor is less than a quarter of the smaller one count as different. On error f is
// unchanged.
//
// The cells of both filters are joined, and have been planned for the keys of one: after a
// merge of full filters for 100,000 and 150,000 keys at 0.1 % the rate is 73 %, and there is no error. Check
// f.Planned().Exceeded(f.Stats().FPRate) after each merge. Package
// union keeps filters of different sizes at the sum of their rates instead.
func (f *Filter) Merge(s umbel.State) error { return f.bits.Merge(s) }

// Stats measures the filter: see [umbel.Filter]. It reads all cells. The stats of the
// zero Filter are zero.
func (f *Filter) Stats() umbel.Stats { return f.bits.Stats() }

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State { return f.bits.State(kind) }

// Shape returns the shape of the filter.
func (f *Filter) Shape() Shape { return Shape(f.bits.Shape()) }

// MaxK is the largest number of cells per key.
const MaxK = arrays.MaxK

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	M      uint64 // cells (bits), at least 1, a multiple of 2^Group
	K      int    // cells set per key, 1 to MaxK
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6; Plan chooses 6 for whole words, and only equal groups merge
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: for keys and rate, the least memory over
// all k; for keys and bytes, the lowest rate; for rate and bytes, the largest number of
// keys. Sizes from 64 cells on are whole words, which need no more memory. A size that
// follows from keys and rate is up to 1 % larger so that it folds well
// (plan.RoundFoldable). The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// planWith is Plan with parameters that override m and k. It also returns the number of
// keys that the shape is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, k, n, err := sizing.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("bloom: %w", err)
	}
	s := Shape{M: m, K: k, Group: arrays.GroupFor(m), Hasher: g.Hasher}
	return s, n, s.Check()
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) Check() error { return sentinel.Wrap(umbel.ErrGoal, kind.Check(arrays.Shape(s))) }

// Forecast returns what a filter of this shape costs, and its rate, with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: plan.Filter{M: s.M, K: s.K}.FPRate(n),
		Cells: s.M, Bytes: (s.M + 63) / 64 * 8, K: float64(s.K),
	}
}

var (
	kind   = arrays.Bloom
	sizing = kinds.Anywhere(MaxK, 1)
)

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "standard Bloom filter: least memory, up to k cache misses per query (Bloom 1970)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (bits)", Min: 1, Max: 1 << 56},
		{Name: "k", Doc: "cells set per key", Min: 1, Max: MaxK},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
	Locator:  kind.Locator,
}.Kind()
