// Package scalable provides the scalable Bloom filter: it grows with its keys and
// keeps its rate however many there are (Almeida, Baquero, Preguiça and Hutchison
// 2007). It is a row of partitioned filters, its layers. When the last is half full
// a new one is appended, larger by the growth and stricter by the tightening, so that
// the rates of all layers together stay below the one wanted.
//
// # When a layer is full
//
// A layer is full when at least half of its cells are set: Almeida et al.'s own
// choice, which makes the most of its memory and its rate 2^-k. Nothing is counted in
// the state, and adding a key again changes nothing, so a filter opened from its state
// goes on as the filter that gave it. The paper's capacity at the planned rate is
// up to 7 % more keys, as k is rounded up (plan.ScalableLayerAt); it would take a
// threshold in floating point.
//
// Its name is a promise: layers are filters of kind partitioned in groups of 2^6 cells
// (spec/kinds/scalable.md).
package scalable

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/row"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/probe"
)

// Filter is a scalable Bloom filter. Has and HasAll may run alongside themselves;
// changes run alone. The zero Filter holds nothing and is a target for
// UnmarshalBinary; adding to it panics.
type Filter struct {
	shape  Shape
	layers []*partitioned.Filter // never smaller than the one before
	row    row.Row               // the same cells
}

// Add adds d unless some layer has it, and reports whether it did. Where there is no
// room for another layer, by Shape.MaxBytes, the last one takes what comes, and the
// rate rises: TryAdd refuses instead.
func (f *Filter) Add(d umbel.Digest) bool {
	changed, err := f.row.TryAdd(d, f.grow)
	return changed || err != nil && f.row.Put(d)
}

// TryAdd is Add, except that it refuses d, with an error that wraps umbel.ErrLimit,
// where adding it would take a layer for which there is no room: see [umbel.Grower].
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) { return f.row.TryAdd(d, f.grow) }

// Has reports whether d may have been added. It is never false for what was. It asks
// the newest layer first.
func (f *Filter) Has(d umbel.Digest) bool { return f.row.Has(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.row.HasAll(dst, ds) }

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	f.row.MustBeMade()
	f.row.AddAll(changed, ds, f.grow)
}

// Clear forgets all keys, and all layers but an empty first one of the plan, or the
// first there is where that of the plan is much larger than all layers were.
func (f *Filter) Clear() {
	if len(f.layers) == 0 {
		return
	}
	first := f.layers[0]
	if planned := f.shape.layer(0); first.Shape() != planned {
		if _, bytes := f.size(); !tooMuch(bytes, planned) {
			if l, err := partitioned.NewShape(planned); err == nil {
				first = l
			}
		}
	}
	first.Clear()
	f.hold([]*partitioned.Filter{first})
}

// Layers returns the shapes of the layers, the oldest first.
func (f *Filter) Layers() []partitioned.Shape {
	shapes := make([]partitioned.Shape, len(f.layers))
	for i, l := range f.layers {
		shapes[i] = l.Shape()
	}
	return shapes
}

// hold makes layers those of the filter.
func (f *Filter) hold(layers []*partitioned.Filter) {
	f.layers = layers
	rows := make([]row.Layer, len(layers))
	for i, l := range layers {
		rows[i] = rowLayer(l)
	}
	f.row.Set(rows)
}

func rowLayer(l *partitioned.Filter) row.Layer {
	s := l.Shape()
	return row.Layer{
		Cells:   l.State().Arrays[0],
		Mapping: probe.Mapping{Groups: slice(s) >> s.Group, Log: s.Group},
		K:       s.K,
		Sliced:  true,
		Full:    s.M/2 + s.M%2,
	}
}

// slice returns the cells of a slice of a layer.
func slice(s partitioned.Shape) uint64 { return s.M / uint64(s.K) }
