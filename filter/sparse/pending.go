package sparse

import (
	"math"
	"math/bits"
)

// pending is a sorted list with gaps: since positions are spread evenly, each lies near
// the place that is its share of the table, behind others for that place or before it.
// So a position is found, and put in, where interpolation would look for it first.
type pending struct {
	slots []uint64 // a position + 1, rising; 0 is a gap
	count uint64
	most  uint64 // positions that it takes
	homes uint64 // slots that positions are shared out to; the others are for overflow
	scale uint64 // of a position, to 64 bits
}

// reach is how far behind its place a position lies at most: where digests are chosen so
// that all lie in a few places a table is full early, and not slow. Those of a hash never
// lie so far.
const reach = 1 << 12

// newPending returns a table for so many positions below m.
func newPending(m, most uint64) pending {
	homes := most + most/2
	return pending{
		slots: make([]uint64, homes+most/4+16),
		most:  most,
		homes: homes,
		scale: math.MaxUint64 / m,
	}
}

// home returns the place of a position.
func (p *pending) home(x uint64) int {
	home, _ := bits.Mul64(x*p.scale, p.homes)
	return int(home)
}

// find returns the slot of the first position that isn't below x, or of the gap before
// it, from the place of x on.
func (p *pending) find(x uint64) int {
	i := p.home(x)
	for i < len(p.slots) && p.slots[i] != 0 && p.slots[i] <= x {
		i++
	}
	return i
}

func (p *pending) has(x uint64) bool {
	i := p.find(x)
	return i < len(p.slots) && p.slots[i] == x+1
}

// add adds a position that isn't there, and reports whether there was room.
func (p *pending) add(x uint64) bool {
	i := p.find(x)
	gap, end := i, min(len(p.slots), p.home(x)+reach)
	for gap < end && p.slots[gap] != 0 {
		gap++
	}
	if p.count == p.most || gap >= end {
		return false
	}
	copy(p.slots[i+1:gap+1], p.slots[i:gap])
	p.slots[i] = x + 1
	p.count++
	return true
}

// all yields the positions in order.
func (p *pending) all(yield func(uint64) bool) {
	for _, s := range p.slots {
		if s != 0 && !yield(s-1) {
			return
		}
	}
}
