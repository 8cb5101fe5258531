// Package hashtree identifies states of filters: it computes the hash tree over the arrays of a state, and from
// its roots the ID (spec/container.md, "ID"). It is apart from package wire, so that a program which only reads and
// writes containers links no SHA-256.
package hashtree

import (
	"fmt"
	"iter"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/merkle"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/roots"
)

// Identify returns the ID of s, in the time of hashing all its words; [Tree] computes the ID
// of a changed state in less. It panics if s can't be written, which is never true of the state
// of a filter: see [wire.Append].
func Identify(s umbel.State) wire.ID {
	mustCheck("identify", s)
	return roots.Identify(s, 1)
}

// mustCheck panics unless s can be written.
func mustCheck(what string, s umbel.State) {
	if err := s.Check(); err != nil {
		panic(fmt.Sprintf("hashtree: %s: %v", what, err))
	}
}

// LeafBytes is the number of bytes of an array in a leaf of the hash tree; a block has 64
// leaves. The last leaf of an array may have fewer.
const LeafBytes = roots.LeafBytes

// Tree is the hash tree of a state, kept to identify the state again after changes. It takes a
// sixteenth of the memory of the arrays, and doesn't keep the state. ID, Bytes and Clone may be
// called concurrently with each other.
type Tree struct {
	arrays []*merkle.Tree // of the state and its parts, in the order of the container
	id     wire.ID
}

// New returns the tree of s. With at most one worker the caller's goroutine does all work;
// otherwise up to that many goroutines do it, at most twice GOMAXPROCS. New panics if s
// can't be written, like [Identify].
func New(s umbel.State, workers int) *Tree {
	t := new(Tree)
	t.Update(umbel.State{}, s, workers)
	return t
}

// ID returns the ID of the state, as [Identify] does.
func (t *Tree) ID() wire.ID { return t.id }

// Bytes returns the memory of the hashes.
func (t *Tree) Bytes() uint64 {
	n := uint64(0)
	for _, a := range t.arrays {
		n += a.Bytes()
	}
	return n
}

// Clone returns a copy of t that shares no memory with it.
func (t *Tree) Clone() *Tree {
	c := &Tree{make([]*merkle.Tree, len(t.arrays)), t.id}
	for i, a := range t.arrays {
		c.arrays[i] = a.Clone()
	}
	return c
}

// Update makes t the tree of s. It compares the arrays of s with those of old, the state of
// which t is the tree, and hashes the leaves that differ. That takes the time of reading both
// states. An array that has another length in old is hashed completely. Workers are those of
// [New]. Update panics if s can't be written, or if the arrays of old don't have the
// lengths of those from which t was made.
func (t *Tree) Update(old, s umbel.State, workers int) {
	mustCheck("tree", s)
	before, after := old.AllArrays(), s.AllArrays()
	t.checkShape(before)
	trees := make([]*merkle.Tree, len(after))
	h := merkle.NewHasher()
	for i, a := range after {
		leaves := roots.Leaves(a.Words)
		if i < len(before) && len(before[i].Words) == len(a.Words) {
			trees[i] = t.arrays[i]
			trees[i].Update(h, workers, roots.Changed(before[i].Words, a.Words), leaves)
		} else {
			trees[i] = merkle.NewTree(h, roots.NumLeaves(len(a.Words)), workers, leaves)
		}
	}
	t.arrays = trees
	t.identify(s)
}

// UpdateLeaves is Update for a caller who knows which leaves changed: it takes time in
// proportion to their number. For each array, numbered as in
// [umbel.State.AllArrays], changed returns the numbers of the changed leaves, ascending, or nil if
// there are none. A leaf that is missing in the list leaves t with a wrong ID. UpdateLeaves
// panics if s can't be written, if an array has another length than before, or if it has no
// leaf of a given number.
func (t *Tree) UpdateLeaves(s umbel.State, changed func(array int) iter.Seq[uint64]) {
	mustCheck("tree", s)
	arrays := s.AllArrays()
	t.checkShape(arrays)
	h := merkle.NewHasher()
	for i, a := range arrays {
		if leaves := changed(i); leaves != nil {
			t.arrays[i].UpdateLeaves(h, leaves, roots.Leaves(a.Words))
		}
	}
	t.identify(s)
}

// identify computes the ID of s, whose arrays t has.
func (t *Tree) identify(s umbel.State) {
	next := 0
	t.id = roots.Sum(s, func(cells.Array) merkle.Hash {
		next++
		return t.arrays[next-1].Root()
	})
}

// checkShape panics unless t can be the tree of a state with these arrays.
func (t *Tree) checkShape(arrays []cells.Array) {
	if len(arrays) != len(t.arrays) {
		panic(fmt.Sprintf("hashtree: a tree of %d arrays for a state of %d", len(t.arrays), len(arrays)))
	}
	for i, a := range arrays {
		if n, want := roots.NumLeaves(len(a.Words)), t.arrays[i].Len(); n != want {
			panic(fmt.Sprintf("hashtree: array %d has %d leaves, in the tree %d", i, n, want))
		}
	}
}
