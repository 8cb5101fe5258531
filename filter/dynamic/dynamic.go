// Package dynamic provides the dynamic Bloom filter: equal filters, its layers, each for the
// same number of keys; when the last is full another is appended (Guo, Wu, Chen and Luo
// 2006). Its rate grows with the number of layers, while that of a scalable filter stays
// below a bound. In return two layers that are nearly empty can be joined bit by bit and,
// with counters, keys can be removed: [Filter] has bits, [Counting] has counters.
//
// A layer is full when as many of its cells are nonzero as its planned number of keys is
// expected to set. This number is planned once and stored.
//
// The kind's name stands for its positions: layers are filters of kind bloom or counting
// with one shape (spec/kinds/dynamic.md).
package dynamic

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Name is the name of this kind.
const Name = "dynamic"

// Filter is a dynamic Bloom filter of bits. All methods that begin with Has are safe to call concurrently;
// changes require exclusive access. A Filter must not be copied, since the copies would share memory: use
// Clone. The zero Filter contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	shape   Shape
	layers  layered.List
	most    int // layers that it grows to
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.shape.Layer.Hasher, Planned: &f.planned, Zero: f.shape.Full == 0}
}

// NewShape returns an empty filter of bits of shape s, which has one layer. The error wraps umbel.ErrGoal
// if no filter can have that shape. It allocates the memory of the shape: for untrusted sizes, check
// [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	if s.Width != 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "dynamic: a shape with counters of %d bits, want bits: use NewCountingShape", s.Width)
	}
	if err := s.fits(); err != nil {
		return nil, err
	}
	f := &Filter{shape: s, most: math.MaxInt}
	if err := f.append(); err != nil {
		return nil, err
	}
	return f, nil
}

// append appends an empty layer. The error wraps umbel.ErrGoal.
func (f *Filter) append() error {
	b, err := arrays.NewBits(arrays.Bloom, arrays.Shape(f.shape.Layer))
	if err == nil {
		f.layers.Append(layered.Layer{Bits: b, Full: f.shape.Full})
	}
	return err
}

// Add adds d unless some layer has it, and reports whether it did. If Shape.MaxBytes leaves
// no space for another layer, the last one takes d and the rate rises: TryAdd refuses d
// instead.
func (f *Filter) Add(d umbel.Digest) bool { return f.layers.Add(d, f.grow) }

// TryAdd is Add, but it refuses d if adding it would need a layer for which there is no
// space: see [umbel.Grower]. The error then wraps umbel.ErrLimit and f is unchanged.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) { return f.layers.TryAdd(d, f.grow) }

// Has reports whether d may have been added. It is never false for a digest that was.
func (f *Filter) Has(d umbel.Digest) bool { return f.layers.Has(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.layers.HasAll(dst, ds) }

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) { f.layers.AddAll(changed, ds, f.grow) }

// Clear removes all keys and all layers except one, which is empty.
func (f *Filter) Clear() { f.layers.Clear() }

// Layers returns the number of layers.
func (f *Filter) Layers() int { return f.layers.Len() }

// NextGrowth returns the bytes that the next new key needs: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	f.layers.MustInit()
	if !f.layers.IsFull() {
		return 0, nil
	}
	return f.shape.bytes(), f.shape.checkGrowth(f.layers.Len(), f.most)
}

// grow appends an empty layer. The error wraps umbel.ErrLimit if there is no space.
func (f *Filter) grow() error {
	if err := f.shape.checkGrowth(f.layers.Len(), f.most); err != nil {
		return err
	}
	return asLimit(f.append())
}

// Merge adds the keys of another dynamic filter of bits whose layers have the same shape. A
// layer of the other is omitted if one of f has all its bits, united with one of f if the
// union is at most full, and appended otherwise. The rate is therefore at most the sum of
// both rates. The result contains the same keys in any order of merges, but
// its layers may differ. The error wraps umbel.ErrMismatch, or umbel.ErrLimit if the result
// exceeds MaxBytes; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	g, err := layered.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	return f.set(merged(f.shape, g.shape, f.layers.Counted(), g.layers.Counted()))
}

// Compact joins layers as far as the rate as estimated by Stats remains at most p, the two
// emptiest first (Guo et al. 2006 merge two filters if one can hold their keys). All keys
// stay. If there are two layers or more but joining any two exceeds p, the error wraps
// umbel.ErrGoal and contains the least possible rate; on error f is unchanged.
func (f *Filter) Compact(p float64) error {
	return f.set(compacted(f.layers.Counted(), p))
}

// set makes layers those of f unless err is not nil, and returns err.
func (f *Filter) set(layers []arrays.Array, err error) error {
	if err != nil {
		return err
	}
	list := make([]layered.Layer, len(layers))
	for i, a := range layers {
		list[i] = layered.Layer{Bits: arrays.BitsFrom(a), Full: f.shape.Full}
	}
	f.layers.Set(list)
	return nil
}

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State { return f.shape.state(f.layers.States(), f.planned) }

// Open returns the filter of bits with state s and takes over its memory. The error wraps
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	f := &Filter{planned: s.Planned}
	layers, err := openLayers(s, arrays.Bloom, &f.shape)
	if err != nil {
		return nil, err
	}
	f.most = f.shape.mostLayers(len(layers))
	return f, f.set(layers, nil)
}

// openLayers opens the layers of a state, which are of kind k, and sets shape to theirs.
func openLayers(s umbel.State, k arrays.Kind, shape *Shape) ([]arrays.Array, error) {
	if s.Kind == Name && len(s.Parts) > 0 {
		switch part := s.Parts[0].Kind; {
		case part == arrays.Counting.Name && !k.Counters:
			return nil, sentinel.Errorf(umbel.ErrKind, "dynamic: the filter has counters: open it as Counting, with OpenCounting")
		case part == arrays.Bloom.Name && k.Counters:
			return nil, sentinel.Errorf(umbel.ErrKind, "dynamic: the filter has no counters: open it as Filter, with Open")
		}
	}
	layers, err := layered.OpenParts(Name, s, k.Open, paramNames, &shape.Full, &shape.MaxBytes)
	if err != nil {
		return nil, err
	}
	first := layers[0]
	for i, l := range layers {
		if l.Shape != first.Shape || l.Cells.Width != first.Cells.Width {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "dynamic: layer %d does not have the shape of layer 0", i)
		}
	}
	if shape.Layer = bloom.Shape(first.Shape); k.Counters {
		shape.Width = first.Cells.Width
	}
	return layers, sentinel.Wrap(umbel.ErrCorrupt, shape.check())
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. The stats of the zero
// Filter are zero.
//
// An earlier layer returns true for some new keys, which are then not added to the later layer, so
// the cells of the later one avoid those of the earlier ones. FPRate and Keys allow for it if
// its effect is above 1e-4: it is measured in the first 2^18 cells of all layers.
func (f *Filter) Stats() umbel.Stats {
	layers, of := make([]arrays.Array, f.layers.Len()), make([]umbel.Stats, f.layers.Len())
	for i := range layers {
		layers[i], of[i] = f.layers.Bits(i).Array(), f.layers.Bits(i).Stats()
	}
	return stats(layers, of)
}

// Shape returns the shape of the filter.
func (f *Filter) Shape() Shape { return f.shape }

// SetMaxBytes sets Shape.MaxBytes, the limit of memory, from now on; 0 means no limit. The
// present layers stay, even if they exceed it. If the layers of an opened filter are full
// with less than a sixteenth of their cells, the filter grows to 64 times its size or, if
// that is more, to 64 MiB, until SetMaxBytes is called: an untrusted state cannot exhaust
// memory with a few additions.
func (f *Filter) SetMaxBytes(limit uint64) { f.shape.MaxBytes, f.most = limit, math.MaxInt }
