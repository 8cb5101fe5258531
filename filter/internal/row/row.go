// Package row is what kinds share that are a row of filters with bits as cells: a key
// is asked of all of them and added to the last, which is full from a given number
// of ones on.
package row

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/probe"
)

// Layer is a filter of a row.
type Layer struct {
	Cells   cells.Array   // bits
	Mapping probe.Mapping // values to cells, or to those of a slice
	K       int
	Sliced  bool
	Full    uint64 // it takes no more keys from so many ones on
}

// Row asks and fills layers. Has and HasAll may run alongside themselves; changes run
// alone. The zero Row has no layers and no keys.
type Row struct {
	layers []Layer
	bits   []probe.Bits // of the layers
	heads  []head       // of the layers, the newest first; none unless all have one
	room   Room         // in the last layer
}

// Set makes layers, which the row shares, those of the row.
func (r *Row) Set(layers []Layer) {
	*r = Row{}
	for _, l := range layers {
		r.hold(l)
	}
	r.heads = headsOf(r.layers, r.bits)
}

// Append puts a layer at the end: additions go to it from now on.
func (r *Row) Append(l Layer) {
	r.hold(l)
	r.heads = headsOf(r.layers, r.bits)
}

func (r *Row) hold(l Layer) {
	r.layers = append(r.layers, l)
	r.bits = append(r.bits, probe.NewBits(l.Cells, l.Mapping, l.K, l.Sliced))
	r.room = Room{}
}

// Len returns the number of layers.
func (r *Row) Len() int { return len(r.layers) }

// Has reports whether a layer has d. It asks the newest first: in a row that grows
// by a factor most keys are there.
func (r *Row) Has(d umbel.Digest) bool { return r.has(len(r.bits), d) }

// has asks the oldest so many layers.
func (r *Row) has(layers int, d umbel.Digest) bool {
	if len(r.heads) > 0 {
		return anyHas(r.heads[len(r.heads)-layers:], d)
	}
	for i := layers - 1; i >= 0; i-- {
		if r.bits[i].Has(d) {
			return true
		}
	}
	return false
}

// IsFull reports whether the last layer is full: see [Room].
func (r *Row) IsFull() bool { return r.left() == 0 }

func (r *Row) left() uint64 {
	l := &r.layers[len(r.layers)-1]
	return r.room.Left(l.Cells, l.Full, l.K)
}

// TryAdd adds d unless some layer has it, and reports whether it did. Where the last
// layer is full it has the row grow first; if that fails d isn't added, and the error
// is that of grow. It panics if there are no layers.
func (r *Row) TryAdd(d umbel.Digest, grow func() error) (bool, error) {
	r.MustBeMade()
	if r.Has(d) {
		return false, nil
	}
	if r.IsFull() {
		if err := grow(); err != nil {
			return false, err
		}
	}
	return r.Put(d), nil
}

// Put adds d to the last layer, full or not, and reports whether a bit changed.
func (r *Row) Put(d umbel.Digest) bool {
	fresh := r.bits[len(r.bits)-1].Add(d)
	if fresh {
		r.room.Took(1)
	}
	return fresh
}

// MustBeMade panics if there are no layers.
func (r *Row) MustBeMade() {
	if len(r.layers) == 0 {
		panic("umbel: add to a zero filter: make it with New")
	}
}
