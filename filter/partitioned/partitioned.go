// Package partitioned provides the partitioned Bloom filter: m bits in k slices of equal
// size, of which each key sets one per slice (Almeida, Baquero, Preguiça and Hutchison
// 2007, section 2; the slices are those of Mullin 1983). Every key sets exactly k bits,
// so all keys have the same rate, and the formula for the rate is exact on average at
// every size. The rate is slightly higher than that of the standard filter; the
// difference matters in small filters only. Stats.FPRate is the product of the fill ratios of the
// slices, the probability of a false positive in this filter.
//
// The kind's name stands for its positions: value i of the stream of probe.Start sets, in
// slice i, the cell of a probe.Mapping over the m/k cells of a slice, in groups of
// 2^group (spec/kinds/partitioned.md).
package partitioned

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Name is the name of this kind.
const Name = "partitioned"

// Filter is a partitioned Bloom filter. All methods that begin with Has or end in Atomic are safe to call
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

// Locate appends the k positions of d to dst, one in each slice: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 { return f.bits.Locate(dst, d) }

// Clear removes all keys.
func (f *Filter) Clear() { f.bits.Clear() }

// Fold shrinks f by factor r, each slice by itself: bit for bit to the filter built at
// that size. r must divide the number of groups in a slice. The error wraps
// umbel.ErrMismatch; on error f is unchanged. Fold reads the filter once and allocates the
// smaller array.
func (f *Filter) Fold(r uint64) error { return f.bits.Fold(r) }

// Unfold enlarges f by factor u by copying cells: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error { return f.bits.Unfold(u) }

// KeepSlices drops all slices but the first k and keeps all keys: bit for bit the filter that was made with k slices of the
// same size. A rate of p becomes p^(k/K). Fold shrinks in finer steps; of a filter to be halved, KeepSlices leaves
// the lower rate if more than 38 % of the cells are set, and Fold otherwise (docs/folding.md). k is 1 to K; otherwise the error wraps
// umbel.ErrMismatch, and f is unchanged. KeepSlices copies the slices that remain.
func (f *Filter) KeepSlices(k int) error {
	a := f.bits.Array()
	if k < 1 || k > a.Shape.K {
		return sentinel.Errorf(umbel.ErrMismatch, "partitioned: %d slices, want 1 to the %d that the filter has", k, a.Shape.K)
	}
	kept, err := cells.New(a.Shape.M/uint64(a.Shape.K)*uint64(k), 1)
	if err != nil {
		return sentinel.Wrap(umbel.ErrMismatch, err)
	}
	copy(kept.Words, a.Cells.Words)
	if n := kept.Len % 64; n != 0 {
		kept.Words[len(kept.Words)-1] &= 1<<n - 1 // the last word has cells of the next slice
	}
	a.Shape.K = k
	f.bits = arrays.BitsFrom(a.With(kept))
	return nil
}

// Merge adds the keys of another partitioned filter with the same k, group and hasher; KeepSlices gives two
// filters the same k. Filters of different sizes are merged as in bloom.Filter.Merge. The error wraps
// umbel.ErrMismatch and names the first difference; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error { return f.bits.Merge(s) }

// Stats measures the filter: see [umbel.Filter]. It reads all cells. The stats of the
// zero Filter are zero.
func (f *Filter) Stats() umbel.Stats { return f.bits.Stats() }

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State { return f.bits.State(kind) }

// Shape returns the shape of the filter.
func (f *Filter) Shape() Shape { return Shape(f.bits.Shape()) }

// MaxK is the largest number of slices.
const MaxK = arrays.MaxK

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	M      uint64 // cells (bits), at least K, a multiple of K·2^Group
	K      int    // slices, and so cells set per key, 1 to MaxK
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6; Plan chooses 6 for whole words, and only equal groups merge
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: for keys and rate, the least memory over
// all k; for keys and bytes, the lowest rate; for rate and bytes, the largest number of
// keys. Slices from 64 cells on are whole words. A size that follows from keys and rate
// is up to 1 % larger so that it folds well (plan.RoundFoldable). The error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// planWith is Plan with parameters that override m and k. It also returns the number of
// keys that the shape is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, k, n, err := sizing.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("partitioned: %w", err)
	}
	s := Shape{M: m, K: k, Group: arrays.GroupFor(m / uint64(k)), Hasher: g.Hasher}
	return s, n, s.Check()
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) Check() error { return sentinel.Wrap(umbel.ErrGoal, kind.Check(arrays.Shape(s))) }

// Forecast returns what a filter of this shape costs, and its rate, with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: fpRate(s.M, s.K, n),
		Cells: s.M, Bytes: (s.M + 63) / 64 * 8, K: float64(s.K),
	}
}

var kind = arrays.Partitioned

var sizing = kinds.Sizing{
	MaxK:  MaxK,
	Width: 1,
	Step:  func(k int) uint64 { return uint64(k) },
	Unit: func(m uint64, k int) uint64 {
		if m < uint64(k)<<arrays.WordGroup {
			return uint64(k)
		}
		return uint64(k) << arrays.WordGroup
	},
	FPRate: func(m uint64, k int, n uint64) float64 {
		if m < uint64(k) {
			return 1 // some slice has no cell
		}
		return fpRate(m, k, n)
	},
	Size:     size,
	SizeForK: sizeForK,
}

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "partitioned Bloom filter: one cell in each of k slices, rate exact on average (Almeida et al. 2007)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (bits), rounded up to k equal slices", Min: 1, Max: 1 << 55},
		{Name: "k", Doc: "slices, and so cells set per key", Min: 1, Max: MaxK},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
	Locator:  kind.Locator,
}.Kind()
