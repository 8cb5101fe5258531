package sparse

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/probe"
)

// shareLog bounds the pending positions to 2^-shareLog of the list. On average a key is
// copied to a new list 2^shareLog times.
const shareLog = 5

// Add adds d and reports whether the filter changed. Occasionally it makes a new list, and
// needs memory for both. On average it takes about 20 times as long as Has; use AddAll for
// many keys.
func (f *Filter) Add(d umbel.Digest) bool {
	f.mustBeMade()
	x := f.position(d)
	if f.has(x) {
		return false
	}
	f.wait(x, max(8, f.list.Len()>>shareLog))
	return true
}

// AddAll adds ds in order: see [umbel.BatchAdder]. For a large batch it makes a new list once
// or twice, which needs 14 bytes per key meanwhile.
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	f.mustBeMade()
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	most := max(8, f.list.Len()>>shareLog)
	room := max(most, f.added.count+uint64(len(ds)))
	for i, d := range ds {
		x := f.position(d)
		fresh := !f.has(x)
		if fresh {
			f.wait(x, room)
		}
		if changed != nil {
			changed[i] = fresh
		}
	}
	if f.added.count > most {
		f.Compact()
	}
}

func (f *Filter) mustBeMade() {
	if f.shape.M == 0 {
		panic(probe.AddToZero)
	}
}

// wait adds an absent position to the table, which gets room for the given number.
func (f *Filter) wait(x, room uint64) {
	if f.added.most < room || !f.added.add(x) {
		f.Compact()
		f.added = newPending(f.shape.M, room)
		f.added.add(x)
	}
}

// Compact makes one list of all positions, as Add does occasionally, and frees all other
// memory. It changes neither results nor state. Call it after many additions if queries
// follow: it makes the filter slightly smaller and faster.
func (f *Filter) Compact() {
	f.list, f.added = f.all(), pending{}
}

// all returns the list of all positions: the filter's own if none are pending.
func (f *Filter) all() eliasfano.List {
	if f.added.count == 0 {
		return f.list
	}
	return must(eliasfano.Build(f.shape.M, f.ones(), union(&f.list, f.added.all)))
}

// ones returns the number of nonzero cells.
func (f *Filter) ones() uint64 { return f.list.Len() + f.added.count }

// must returns l. It is for lists of numbers that are in memory in another form, for which
// there is memory.
func must(l eliasfano.List, err error) eliasfano.List {
	if err != nil {
		panic(err)
	}
	return l
}

// pending is a sorted table with gaps. Positions are distributed evenly, so each is near the
// slot that interpolation gives.
type pending struct {
	slots []uint64 // position + 1, ascending; 0 is a gap
	count uint64
	most  uint64 // maximum number of positions
	homes uint64 // slots that interpolation gives; the others are for overflow
	scale uint64 // of a position, to 64 bits
}

// reach is the maximum distance of a position from its interpolated slot. If an attacker
// chooses digests for a few slots, the table is full early instead of slow. Digests made by
// a hash never reach it.
const reach = 1 << 12

// newPending returns a table for the given number of positions below m.
func newPending(m, most uint64) pending {
	homes := most + most/2
	return pending{
		slots: make([]uint64, homes+most/4+16),
		most:  most,
		homes: homes,
		scale: math.MaxUint64 / m,
	}
}

// home returns the interpolated slot of a position.
func (p *pending) home(x uint64) int {
	home, _ := bits.Mul64(x*p.scale, p.homes)
	return int(home)
}

// find returns the first slot, from the interpolated slot of x on, that is a gap or contains
// at least x.
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

// add adds an absent position and reports whether there was room.
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
