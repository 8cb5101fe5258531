package sparse

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/eliasfano"
)

// shareLog says what waits at most: 2^-shareLog of the list, so that a key is copied
// from list to list 2^shareLog times as often as keys are added.
const shareLog = 5

// Add adds d and reports whether the filter changed. Now and then it makes a new list,
// while which both are in memory; so on average it takes some 20 times as long as Has,
// and AddAll is for many keys at once.
func (f *Filter) Add(d umbel.Digest) bool {
	f.mustBeMade()
	x := f.position(d)
	if f.has(x) {
		return false
	}
	f.wait(x, max(8, f.list.Len()>>shareLog))
	return true
}

// AddAll adds ds in order: see [umbel.BatchAdder]. For a large batch it makes a
// new list once or twice, with 14 bytes a key in memory while it does.
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
		panic("umbel: add to a zero filter: make it with New")
	}
}

// wait adds a position that isn't there, in a table with room for so many.
func (f *Filter) wait(x, room uint64) {
	if f.added.most < room || !f.added.add(x) {
		f.Compact()
		f.added = newPending(f.shape.M, room)
		f.added.add(x)
	}
}

// Settle makes one list of all positions, as Add does now and then, and frees all
// memory but the list's. It changes no answer and no state. What was made by many calls
// of Add, and is now only asked, is a little smaller and faster to ask afterwards.
func (f *Filter) Compact() {
	f.list, f.added = f.all(), pending{}
}

// all returns the list of all positions, the filter's own unless some wait.
func (f *Filter) all() eliasfano.List {
	if f.added.count == 0 {
		return f.list
	}
	return must(eliasfano.Build(f.shape.M, f.ones(), union(&f.list, f.added.all)))
}

// ones returns the number of cells that are set.
func (f *Filter) ones() uint64 { return f.list.Len() + f.added.count }

// must returns a list of numbers that are in memory already in another form: there is
// memory for it.
func must(l eliasfano.List, err error) eliasfano.List {
	if err != nil {
		panic(err)
	}
	return l
}

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
