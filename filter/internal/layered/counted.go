package layered

import (
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/core"
)

// Counted is the array of a layer and the number of its nonzero cells.
type Counted struct {
	core.Array
	Nonzero uint64
}

// Count counts the nonzero cells of a.
func Count(a core.Array) Counted { return Counted{a, a.Cells.Nonzero()} }

// Fill returns the fill ratio.
func (c Counted) Fill() float64 { return float64(c.Nonzero) / float64(c.Shape.M) }

// Clone returns a copy that shares no memory with c.
func (c Counted) Clone() Counted { return Counted{c.Array.Clone(), c.Nonzero} }

// Counted returns the layers, the oldest first. It reads all cells.
func (l *List) Counted() []Counted {
	layers := make([]Counted, len(l.layers))
	for i := range layers {
		layers[i] = Count(l.layers[i].Bits.Array())
	}
	return layers
}

// Covers reports whether a has all bits of b, which has the same length. If it has not, it
// usually returns after a word or two.
func Covers(a, b cells.Array) bool {
	for i, w := range b.Words {
		if w&^a.Words[i] != 0 {
			return false
		}
	}
	return true
}
