package dynamic

import (
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Counting is a dynamic Bloom filter of counters, from which keys can be removed. All methods that begin
// with Has or Count are safe to call concurrently; changes require exclusive access. A Counting must not be
// copied, since the copies would share memory: use Clone. The zero Counting contains nothing and is a
// target for UnmarshalBinary; adding to it panics.
type Counting struct {
	NoCopy kinds.NoCopy

	shape    Shape
	layers   []arrays.Counters
	headroom layered.Headroom // of the last layer
	most     int              // layers that it grows to
	planned  umbel.Planned
}

func (f *Counting) core() kinds.Core {
	return kinds.Core{Hasher: f.shape.Layer.Hasher, Planned: &f.planned, Zero: f.shape.Full == 0}
}

// NewCounting returns an empty filter from which keys can be removed, for the given number
// of distinct keys in its first layer. Its counters have 4 bits. See [New].
func NewCounting(keys uint64, fpRate float64) (*Counting, error) {
	width := umbel.Params{{Name: "width", Value: umbel.Uint(counting.DefaultWidth)}}
	return kinds.New[*Counting](Kind, umbel.Goal{Keys: keys, FPRate: fpRate}, width)
}

// NewCountingShape returns an empty filter of counters of shape s, which has one layer. The
// error wraps umbel.ErrGoal if no filter can have that shape.
func NewCountingShape(s Shape) (*Counting, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	if s.Width == 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "dynamic: a shape of bits, want counters of 4, 8 or 16 bits: set Width, or use NewShape")
	}
	if err := s.fits(); err != nil {
		return nil, err
	}
	f := &Counting{shape: s, most: math.MaxInt}
	if err := f.append(); err != nil {
		return nil, err
	}
	return f, nil
}

// append appends an empty layer. The error wraps umbel.ErrGoal.
func (f *Counting) append() error {
	c, err := arrays.NewCounters(arrays.Shape(f.shape.Layer), f.shape.Width)
	if err == nil {
		f.layers = append(f.layers, c)
		f.headroom.Invalidate()
	}
	return err
}

// Add adds d once more and reports whether a counter changed. A key that a layer has is
// counted there, so that Remove finds it in one place; other keys go to the last layer. If
// Shape.MaxBytes leaves no space for another layer, the last one takes d and the rate
// rises: TryAdd refuses d instead.
func (f *Counting) Add(d umbel.Digest) bool {
	f.mustInit()
	if l := f.newest(d); l != nil {
		return l.Add(d)
	}
	_ = f.grow() // if it cannot, the last layer takes d
	return f.put(d)
}

// TryAdd is Add, but it refuses d if adding it would need a layer for which there is no
// space: see [umbel.Grower]. The error then wraps umbel.ErrLimit and f is unchanged.
func (f *Counting) TryAdd(d umbel.Digest) (bool, error) {
	f.mustInit()
	if l := f.newest(d); l != nil {
		return l.Add(d), nil
	}
	if err := f.grow(); err != nil {
		return false, err
	}
	return f.put(d), nil
}

func (f *Counting) mustInit() {
	if len(f.layers) == 0 {
		panic(arrays.AddToZero)
	}
}

// newest returns the newest layer that has d, or nil.
func (f *Counting) newest(d umbel.Digest) *arrays.Counters {
	for i := len(f.layers) - 1; i >= 0; i-- {
		if f.layers[i].Has(d) {
			return &f.layers[i]
		}
	}
	return nil
}

// put adds d to the last layer.
func (f *Counting) put(d umbel.Digest) bool {
	f.headroom.Consume(1)
	return f.layers[len(f.layers)-1].Add(d)
}

// NextGrowth returns the bytes that the next new key needs: see [umbel.GrowthForecaster].
func (f *Counting) NextGrowth() (uint64, error) {
	f.mustInit()
	if !f.isFull() {
		return 0, nil
	}
	return f.shape.bytes(), f.shape.checkGrowth(len(f.layers), f.most)
}

// isFull reports whether the last layer is full.
func (f *Counting) isFull() bool {
	last := &f.layers[len(f.layers)-1]
	return f.headroom.Remaining(last.Cells(), f.shape.Full, f.shape.Layer.K) == 0
}

// grow appends an empty layer if the last is full. The error wraps umbel.ErrLimit if it is
// full and there is no space for another.
func (f *Counting) grow() error {
	if !f.isFull() {
		return nil
	}
	if err := f.shape.checkGrowth(len(f.layers), f.most); err != nil {
		return err
	}
	return asLimit(f.append())
}

// Has reports whether d may have been added and not removed since. It is never false for a
// digest that was.
func (f *Counting) Has(d umbel.Digest) bool { return f.newest(d) != nil }

// Remove undoes one addition of d and reports whether it did. It removes d only if exactly
// one layer has d. If several have it, it is a false positive in all but one, and removing
// it from the wrong layer would lose other keys (Guo et al. 2006). With s layers of rate p,
// Remove therefore refuses a fraction (s-1)p of the keys; they stay. A layer that becomes
// empty is deleted unless it is the only one. Remove only what was added: see
// counting.Filter.Remove.
func (f *Counting) Remove(d umbel.Digest) bool {
	only := -1
	for i := range f.layers {
		if n, _ := f.layers[i].Count(d); n == 0 {
			continue
		}
		if only >= 0 {
			return false
		}
		only = i
	}
	if only < 0 || !f.layers[only].Remove(d) {
		return false
	}
	if len(f.layers) > 1 && f.layers[only].Array().IsEmpty() {
		f.layers = slices.Delete(f.layers, only, only+1)
	}
	f.headroom.Invalidate()
	return true
}

// Count returns how often d was added and not removed. It never returns too little, and
// returns too much about as often as Has is wrong. If all counters of d in a layer are
// saturated, the number is unknown: then known is false and n is 2^64-1.
func (f *Counting) Count(d umbel.Digest) (n uint64, known bool) {
	for i := range f.layers {
		c, known := f.layers[i].Count(d)
		if !known {
			return math.MaxUint64, false
		}
		n += c // at most 2^16 for each of the layers in memory
	}
	return n, true
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Counting) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	for i, d := range ds {
		dst[i] = f.Has(d)
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Counting) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	for i, d := range ds {
		if c := f.Add(d); changed != nil {
			changed[i] = c
		}
	}
}

// Clear removes all keys and all layers except one, which is empty.
func (f *Counting) Clear() {
	if len(f.layers) > 0 {
		f.layers = []arrays.Counters{f.layers[0]} // and release the others
		f.layers[0].Clear()
		f.headroom.Invalidate()
	}
}

// Layers returns the number of layers.
func (f *Counting) Layers() int { return len(f.layers) }

// Merge adds the counters of another dynamic filter of counters whose layers have the same
// shape; its keys can then be removed from f. A layer of the other is added to one of f if
// the sum is at most full, and appended otherwise. A key in both filters may then be in two
// layers, and cannot be removed. Errors are those of [Filter.Merge].
func (f *Counting) Merge(s umbel.State) error {
	g, err := layered.Other(f.State(), s, OpenCounting)
	if err != nil {
		return err
	}
	return f.set(merged(f.shape, g.shape, f.counted(), g.counted()))
}

// Compact joins layers: see [Filter.Compact]. The counters of two layers are added, and
// keys can still be removed.
func (f *Counting) Compact(p float64) error { return f.set(compacted(f.counted(), p)) }

// counted returns the layers, the oldest first. It reads all cells.
func (f *Counting) counted() []layered.Counted {
	layers := make([]layered.Counted, len(f.layers))
	for i := range layers {
		layers[i] = layered.Count(f.layers[i].Array())
	}
	return layers
}

// set makes layers those of f unless err is not nil, and returns err.
func (f *Counting) set(layers []arrays.Array, err error) error {
	if err != nil {
		return err
	}
	f.layers = make([]arrays.Counters, len(layers))
	for i, a := range layers {
		f.layers[i] = arrays.CountersFrom(a)
	}
	f.headroom.Invalidate()
	return nil
}

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Counting) State() umbel.State {
	var parts []umbel.State
	for i := range f.layers {
		parts = append(parts, f.layers[i].State())
	}
	return f.shape.state(parts, f.planned)
}

// OpenCounting is Open for filters of counters.
func OpenCounting(s umbel.State) (*Counting, error) {
	f := &Counting{planned: s.Planned}
	layers, err := openLayers(s, arrays.Counting, &f.shape)
	if err != nil {
		return nil, err
	}
	f.most = f.shape.mostLayers(len(layers))
	return f, f.set(layers, nil)
}

// Stats measures the filter: see [umbel.Filter]. It counts the nonzero cells; a key that
// was added several times counts once. The stats of the zero Counting are zero.
func (f *Counting) Stats() umbel.Stats {
	layers, of := make([]arrays.Array, len(f.layers)), make([]umbel.Stats, len(f.layers))
	for i := range f.layers {
		layers[i], of[i] = f.layers[i].Array(), f.layers[i].Stats()
	}
	return stats(layers, of)
}

// Shape returns the shape of the filter.
func (f *Counting) Shape() Shape { return f.shape }

// SetMaxBytes sets Shape.MaxBytes: see [Filter.SetMaxBytes].
func (f *Counting) SetMaxBytes(limit uint64) { f.shape.MaxBytes, f.most = limit, math.MaxInt }
