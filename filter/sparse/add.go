package sparse

import (
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
