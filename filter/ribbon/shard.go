package ribbon

import "github.com/umbel-filters/umbel/probe"

const (
	// width is the number of coefficients of a key, which stand in neighbouring slots.
	width = 128
	// overhang is how far outside of its shard a key's first coefficient may be drawn
	// before it is moved to the nearest place. Without it the ends of a shard lie under
	// fewer keys than its middle and it needs 0.6 % more slots.
	overhang = 64
	// word is the number of slots of a block.
	word = 64
	// maxSlots and maxSeed are the most that a cell of the table of shards can say.
	maxSlots = 1<<24 - 1
	maxSeed  = 1<<8 - 1
)

// shard is a system of equations of its own: that of the keys whose first value of the
// stream falls to it.
type shard struct {
	first uint64 // slot of the filter with which it begins
	slots uint32
	seed  uint32
}

// row returns the slot in the shard of a key's first coefficient, and all of them: bit
// i of lo is for slot at+i, bit i of hi for slot at+64+i. s is the key's stream before
// its first value.
func (h shard) row(s probe.Stream) (at, lo, hi uint64) {
	draw, s := h.own(s).Next()
	lo, s = s.Next()
	hi, _ = s.Next()
	return h.place(draw), lo, hi
}

// own returns the key's stream before the values that the shard's seed takes.
func (h shard) own(s probe.Stream) probe.Stream { return s.Skip(1 + 3*uint64(h.seed)) }

// place returns the slot in the shard that a value of the stream draws.
func (h shard) place(v uint64) uint64 {
	at := probe.Reduce(v, uint64(h.slots)+1)
	return min(at-min(at, overhang), max(uint64(h.slots), width)-width)
}
