// Package dynamic provides the dynamic Bloom filter: a row of equal filters, each for
// so many keys; when the last is full another is appended (Guo, Wu, Chen and Luo 2006).
// Its rate grows with the row, by that of one filter for each: a scalable filter keeps
// it. In return all parts are alike, so that two that are nearly empty join bit by bit,
// and, built on counters, keys can be removed from it: [Filter] has bits, [Counting]
// counters.
//
// A part is full when so many of its cells are nonzero as its keys are expected to
// make so: a number that is planned once and stored.
//
// Its name is a promise: parts are filters of kind bloom or counting of one shape
// (spec/kinds/dynamic.md).
package dynamic

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/row"
	"github.com/umbel-filters/umbel/probe"
)

// Filter is a dynamic Bloom filter of bits. Has and HasAll may run alongside
// themselves; changes run alone. The zero Filter holds nothing and is a target for
// UnmarshalBinary; adding to it panics.
type Filter struct {
	shape Shape
	parts []*bloom.Filter
	row   row.Row // the same cells
	most  int     // parts that it grows to
}

// Add adds d unless some part has it, and reports whether it did. Where there is no
// room for another part, by Shape.MaxBytes, the last one takes what comes, and the rate
// rises: TryAdd refuses instead.
func (f *Filter) Add(d umbel.Digest) bool {
	changed, err := f.row.TryAdd(d, f.grow)
	return changed || err != nil && f.row.Put(d)
}

// TryAdd is Add, except that it refuses d, with an error that wraps umbel.ErrLimit,
// where adding it would take a part for which there is no room: see [umbel.Grower].
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) { return f.row.TryAdd(d, f.grow) }

// Has reports whether d may have been added. It is never false for what was.
func (f *Filter) Has(d umbel.Digest) bool { return f.row.Has(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.row.HasAll(dst, ds) }

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	f.row.MustBeMade()
	f.row.AddAll(changed, ds, f.grow)
}

// Clear forgets all keys, and all parts but an empty one.
func (f *Filter) Clear() {
	if len(f.parts) > 0 {
		f.parts[0].Clear()
		f.hold(f.parts[:1:1])
	}
}

// Parts returns the number of filters in the row.
func (f *Filter) Layers() int { return len(f.parts) }

// Growth tells what the next new key takes: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	f.row.MustBeMade()
	if !f.row.IsFull() {
		return 0, nil
	}
	return f.shape.bytes(), f.shape.room(len(f.parts), f.most)
}

// grow appends an empty part. The error wraps umbel.ErrLimit where there is no room.
func (f *Filter) grow() error {
	if err := f.shape.room(len(f.parts), f.most); err != nil {
		return err
	}
	p, err := bloom.NewShape(f.shape.Layer)
	if err != nil {
		return full(err)
	}
	f.parts = append(f.parts, p)
	f.row.Append(f.layer(p))
	return nil
}

// hold makes parts those of the filter.
func (f *Filter) hold(parts []*bloom.Filter) {
	f.parts = parts
	layers := make([]row.Layer, len(parts))
	for i, p := range parts {
		layers[i] = f.layer(p)
	}
	f.row.Set(layers)
}

func (f *Filter) layer(p *bloom.Filter) row.Layer {
	s := p.Shape()
	return row.Layer{
		Cells:   p.State().Arrays[0],
		Mapping: probe.Mapping{Groups: s.M >> s.Group, Log: s.Group},
		K:       s.K,
		Full:    f.shape.Full,
	}
}
