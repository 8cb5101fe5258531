package format

import (
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Unit is a decoded block or run of an indexed array. It does not change. What queries of a run read is in its first bytes.
type Unit struct {
	First, End uint64 // its first cell, and the first one after it
	coding     byte
	width      uint8
	shift      uint8
	placed     bool     // the words are those of the array
	before     []uint16 // for each number up to a cell's >> shift, how many cells of at have a smaller one
	at         []uint32 // the cells of a run that are not zero, counted from First
	values     []uint64 // their values, in an array of counters
	words      cells.Array
	Block      uint64 // the first one
}

// Contains reports whether a cell of the array is in the unit.
func (u *Unit) Contains(cell uint64) bool { return cell-u.First < u.End-u.First }

// Coded reports whether the cells of u are stored in some form: they are neither all zero nor all full.
func (u *Unit) Coded() bool { return u.coding != block.Empty && u.coding != block.Full }

// HasWords reports whether the cells of u are in words.
func (u *Unit) HasWords() bool { return u.words.Words != nil }

// Placed reports whether the words of u are those of the array.
func (u *Unit) Placed() bool { return u.placed }

// Clone returns a copy of u with memory of its own.
func (u *Unit) Clone() *Unit {
	c := *u
	c.words.Words, c.at, c.values, c.before = slices.Clone(u.words.Words), slices.Clone(u.at), slices.Clone(u.values), slices.Clone(u.before)
	return &c
}

// In returns a copy of u, which has words, that has them in those of the array.
func (u *Unit) In(words []uint64) *Unit {
	c := *u
	c.words.Words = words[u.Block*block.Words:][:len(u.words.Words)]
	copy(c.words.Words, u.words.Words)
	c.placed = true
	return &c
}

// Get returns a cell of the array, which is in the unit.
func (u *Unit) Get(cell uint64) uint64 {
	at := cell - u.First
	switch u.coding {
	case block.Empty:
		return 0
	case block.Full:
		return 1<<u.width - 1
	case block.Rare:
		bucket := at >> (u.shift & 63)
		for i := u.before[bucket]; i < u.before[bucket+1]; i++ {
			if uint64(u.at[i]) == at {
				return u.value(int(i))
			}
		}
		return 0
	}
	return u.words.Get(at)
}

// value returns the value of a cell of a run that is not zero.
func (u *Unit) value(i int) uint64 {
	if u.width > 1 {
		return u.values[i]
	}
	return 1
}

// CopyTo sets the cells of u, which has no words, in the array a, where they are zero.
func (u *Unit) CopyTo(a cells.Array) {
	switch u.coding {
	case block.Full:
		block.Fill(block.At(a, u.Block))
	case block.Rare:
		for i, at := range u.at {
			a.Put(u.First+uint64(at), u.value(i))
		}
	}
}

// Bytes returns the memory of a copy of u.
func (u *Unit) Bytes() int {
	return 192 + 8*len(u.words.Words) + 4*len(u.at) + 8*len(u.values) + 2*len(u.before)
}

// setRare sets the cells of a run that are not zero, in about as many buckets of equal size. It shares the memory of r.
func (u *Unit) setRare(r model.Rare) {
	n := u.End - u.First
	u.at = r.At
	if u.width > 1 {
		u.values = r.Values
	}
	u.shift = uint8(bits.Len64(n / uint64(len(u.at)+1)))
	u.before = make([]uint16, (n-1)>>u.shift+2)
	for _, x := range u.at {
		u.before[x>>u.shift+1]++
	}
	for i := range u.before[1:] {
		u.before[i+1] += u.before[i]
	}
}
