// Package scalable provides the scalable Bloom filter: it grows with its keys and keeps its
// rate, however many keys it contains (Almeida, Baquero, Preguiça and Hutchison 2007). It
// consists of partitioned filters, its layers. When the last layer is half full, a new one
// is appended, which is larger by the growth and has a rate smaller by the tightening, so
// that the rates of all layers together stay below the planned one.
//
// # When a layer is full
//
// A layer is full when at least half of its cells are set, as in Almeida et al.: it then
// makes the best use of its memory, and its rate is 2^-k. The state contains no count, and
// adding a key again changes nothing, so a filter that was opened behaves exactly like the
// original. The paper's capacity at the planned rate is up to 7 % more keys, because k is
// rounded up (k_i = ceil(log2 1/P_i)), but would need a threshold in floating point.
//
// The kind's name stands for its positions: layers are filters of kind partitioned in
// groups of 2^6 cells (spec/kinds/scalable.md).
package scalable

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Filter is a scalable Bloom filter. All methods that begin with Has are safe to call concurrently; changes
// require exclusive access. A Filter must not be copied, since the copies would share memory: use Clone.
// The zero Filter contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	shape   Shape
	layers  layered.List // never smaller than the layer before
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.shape.Hasher, Planned: &f.planned, Zero: f.shape.Slice == 0}
}

// NewShape returns an empty filter of shape s, which has one layer. The error wraps umbel.ErrGoal if no
// filter can have that shape. It allocates the memory of the shape: for untrusted sizes, check
// [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	first := s.layer(0)
	if s.exceeds(0, first) {
		return nil, s.tooSmall(first)
	}
	b, err := arrays.NewBits(arrays.Partitioned, arrays.Shape(first))
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: s}
	f.layers.Append(layerOf(b))
	return f, nil
}

// layerOf returns b as a layer.
func layerOf(b arrays.Bits) layered.Layer {
	m := b.Shape().M
	return layered.Layer{Bits: b, Full: m/2 + m%2}
}

// Add adds d unless some layer has it, and reports whether it did. If Shape.MaxBytes leaves
// no space for another layer, the last one takes d and the rate rises: TryAdd refuses d
// instead.
func (f *Filter) Add(d umbel.Digest) bool { return f.layers.Add(d, f.grow) }

// TryAdd is Add, but it refuses d if adding it would need a layer for which there is no
// space: see [umbel.Grower]. The error then wraps umbel.ErrLimit and f is unchanged.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) { return f.layers.TryAdd(d, f.grow) }

// Has reports whether d may have been added. It is never false for a digest that was. It
// tests the newest layer first.
func (f *Filter) Has(d umbel.Digest) bool { return f.layers.Has(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.layers.HasAll(dst, ds) }

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) { f.layers.AddAll(changed, ds, f.grow) }

// Clear removes all keys. One empty layer remains: the first of the plan or, if that is
// much larger than all layers were, the oldest.
func (f *Filter) Clear() {
	if f.layers.Len() == 0 {
		return
	}
	first, planned := f.Layers()[0], f.shape.layer(0)
	if _, bytes := f.size(); first != planned && !tooMuch(bytes, planned) {
		if b, err := arrays.NewBits(arrays.Partitioned, arrays.Shape(planned)); err == nil {
			f.layers.Set([]layered.Layer{layerOf(b)})
			return
		}
	}
	f.layers.Clear()
}

// Layers returns the shapes of the layers, the oldest first.
func (f *Filter) Layers() []partitioned.Shape {
	shapes := make([]partitioned.Shape, f.layers.Len())
	for i := range shapes {
		shapes[i] = partitioned.Shape(f.layers.Bits(i).Shape())
	}
	return shapes
}

// A new layer takes at most mostAtOnce times the memory of the layers before it, or
// harmless bytes if that is more, so that an untrusted state cannot exhaust memory with one
// key. Plans never come near the limit: a layer of a plan is at most 80 times as large as
// the one before, with slices 16 times as long and 5 of them instead of 1.
const (
	mostAtOnce = 128
	harmless   = 64 << 20
)

// tooMuch reports whether a layer may not be added to layers of that many bytes.
func tooMuch(bytes uint64, l partitioned.Shape) bool { return l.M/8 > max(mostAtOnce*bytes, harmless) }

// NextGrowth returns the bytes that the next new key needs: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	f.layers.MustInit()
	if !f.layers.IsFull() {
		return 0, nil
	}
	next, err := f.next()
	return next.M / 8, err
}

// grow appends an empty layer. The error wraps umbel.ErrLimit if that is not possible; f is
// then unchanged.
func (f *Filter) grow() error {
	next, err := f.next()
	if err != nil {
		return err
	}
	b, err := arrays.NewBits(arrays.Partitioned, arrays.Shape(next))
	if err != nil {
		return sentinel.Wrap(umbel.ErrLimit, err)
	}
	f.layers.Append(layerOf(b))
	return nil
}

// next returns the shape of the next layer: the smallest of the plan that is larger than
// all layers. The error wraps umbel.ErrLimit if none is, or none within MaxBytes.
func (f *Filter) next() (partitioned.Shape, error) {
	var none partitioned.Shape
	if err := layered.CheckCount(Name, f.layers.Len()+1); err != nil {
		return none, err
	}
	largest, bytes := f.size()
	i, size := uint64(0), f.shape.Slice
	for size <= largest {
		i, size = i+1, size*f.shape.Growth
	}
	next := f.shape.layer(i)
	if next.Check() != nil {
		return none, sentinel.Errorf(umbel.ErrLimit, "scalable: no layer can follow the %d layers: start another filter", f.layers.Len())
	}
	if tooMuch(bytes, next) {
		return none, sentinel.Errorf(umbel.ErrLimit,
			"scalable: the next layer needs %d bytes, more than %d times the present %d: start another filter", next.M/8, mostAtOnce, bytes)
	}
	if f.shape.exceeds(bytes, next) {
		return none, sentinel.Errorf(umbel.ErrLimit, "scalable: %d bytes are full, and the next layer of %d bytes would exceed the limit of %d: "+
			"raise the limit, compact the filter, or start another", bytes, next.M/8, f.shape.MaxBytes)
	}
	return next, nil
}

// size returns the cells of the largest slice and the memory of all layers.
func (f *Filter) size() (largest, bytes uint64) {
	for i := range f.layers.Len() {
		s := f.layers.Bits(i).Shape()
		largest = max(largest, slice(s))
		bytes += s.M / 8
	}
	return largest, bytes
}

// slice returns the cells of a slice of a layer.
func slice(s arrays.Shape) uint64 { return s.M / uint64(s.K) }

// SetMaxBytes sets Shape.MaxBytes, the limit of memory, from now on; 0 means no limit. The
// present layers stay, even if they exceed it.
func (f *Filter) SetMaxBytes(limit uint64) { f.shape.MaxBytes = limit }

// Shape returns the shape of the filter.
func (f *Filter) Shape() Shape { return f.shape }

// State returns the complete contents of the filter: see [umbel.Filter]. Its parts are the
// layers, the oldest first.
func (f *Filter) State() umbel.State {
	s := f.shape
	values := [...]uint64{s.Slice, uint64(s.First), uint64(s.Tightening), s.Growth, s.MaxBytes}
	state := umbel.State{Kind: Name, Hasher: s.Hasher, Params: make(umbel.Params, len(values)), Notes: umbel.Notes{Planned: f.planned}}
	for i, v := range values {
		state.Params[i] = umbel.Param{Name: paramNames[i], Value: umbel.Uint(v)}
	}
	state.Parts = f.layers.States()
	return state
}

// Open returns the filter with state s and takes over its memory. The error wraps
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var first, tightening uint64
	f := &Filter{shape: Shape{Hasher: s.Hasher}, planned: s.Planned}
	layers, err := layered.OpenParts(Name, s, openLayer, paramNames, &f.shape.Slice, &first, &tightening, &f.shape.Growth, &f.shape.MaxBytes)
	if err != nil {
		return nil, err
	}
	f.shape.First, f.shape.Tightening = Log(first), Log(tightening)
	if err := sentinel.Wrap(umbel.ErrCorrupt, f.shape.check()); err != nil {
		return nil, err
	}
	largest := uint64(0)
	for i, l := range layers {
		s := l.Bits.Shape()
		if s.Group != arrays.WordGroup {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "scalable: layer %d has groups of 2^%d cells, want 2^%d", i, s.Group, arrays.WordGroup)
		}
		if slice(s) < largest {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "scalable: layer %d has slices of %d cells, want at least the %d of layer %d", i, slice(s), largest, i-1)
		}
		largest = slice(s)
	}
	// Therefore a new layer is at most Growth times as long as a present one.
	if f.shape.Slice > largest {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "scalable: no layer has slices of %d cells or more, as the first of the plan", f.shape.Slice)
	}
	f.layers.Set(layers)
	return f, nil
}

func openLayer(s umbel.State) (layered.Layer, error) {
	b, err := arrays.OpenBits(arrays.Partitioned, s)
	return layerOf(b), err
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. K is that of the last
// layer. The stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats { return f.layers.Stats() }
