// Package ribbon provides ribbon filters, which are computed once from all keys and then
// sent to receivers that only query them (Dillinger and Walzer 2021). At a rate of 1 % they
// take 2 % more memory than the information-theoretic minimum; a Bloom filter takes 44 %
// more.
//
// Each key is a linear equation over bits: 128 coefficients for neighboring slots, and a
// fingerprint. In each column of the solution, the exclusive or of the slots with a
// coefficient is one bit of the fingerprint. With c columns, an absent key matches with
// probability 2^-c.
//
// The filter is split into shards of about 1500 keys. Each is solved independently, with 4
// more slots than keys, and with another seed if that fails. The filter is standard, not
// homogeneous: its equations have right sides. Bits per key for rates of 0.01 and 0.001,
// for which the minimum is 6.64 and 9.97:
//
//	shards of 1500 keys, standard     6.76   10.03
//	the same, homogeneous             6.78   10.17
//	100,000 keys at once, standard    6.85   10.16
//
// Keys cannot be removed, and filters cannot be merged or folded. Keys that are added after
// Seal are stored in a list next to the solution.
package ribbon

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Filter is a ribbon filter. Seal solves the keys that were added; later keys are stored exactly. Stats,
// State and all methods that begin with Has are safe to call concurrently with each other; no other methods
// are. A Filter must not be copied, since the copies would share memory: use Clone. The zero Filter
// contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	shape   Shape
	solved  solution
	keys    uint64 // in the solution
	list    list   // the other keys
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.shape.Hasher, Planned: &f.planned, Zero: f.shape.Steps == 0}
}

// Add adds a digest and reports whether the filter changed: see [umbel.Filter]. A new digest
// takes about 40 bytes until Seal.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.shape.Steps == 0 {
		panic(probe.AddToZero)
	}
	return !f.solved.has(d) && f.list.add(d)
}

// Has reports whether d may have been added: see [umbel.Filter].
func (f *Filter) Has(d umbel.Digest) bool { return f.solved.has(d) || f.list.has(d) }

// Clear removes all keys.
func (f *Filter) Clear() { *f = Filter{shape: f.shape, planned: f.planned} }

// list is a set of digests in the order of their addition: H1 and H2 of each.
type list struct {
	words []uint64
	// index is a table with open addressing, at most half full, of a length that is a
	// power of two. An entry is 0, or the number of a digest, from 1, in the low bits and
	// those of its hash in the others.
	index []uint64
	// secret makes the index of each list different, so that nobody can choose digests that
	// all have the same place.
	secret [2]uint64
}

const (
	tag   = 1<<64 - 1<<40 // of an entry: bits of the hash
	place = 20            // lowest bit of the hash that selects the place in the index
)

func (l *list) len() int { return len(l.words) / 2 }

func (l *list) digest(i int) umbel.Digest { return umbel.Digest{H1: l.words[2*i], H2: l.words[2*i+1]} }

func (l *list) hash(d umbel.Digest) uint64 {
	high, low := bits.Mul64(d.H1^l.secret[0], d.H2^l.secret[1])
	return high ^ low
}

// find returns the entry of d, or the empty entry for it. h is the hash of d. The index must
// not be empty.
func (l *list) find(d umbel.Digest, h uint64) *uint64 {
	mask := uint64(len(l.index)) - 1
	for i := h >> place & mask; ; i = (i + 1) & mask {
		e := &l.index[i]
		if *e == 0 || (*e^h)&tag == 0 && l.digest(int(*e&^tag)-1) == d {
			return e
		}
	}
}

func (l *list) has(d umbel.Digest) bool { return len(l.words) > 0 && *l.find(d, l.hash(d)) != 0 }

// add adds d and reports whether it was absent.
func (l *list) add(d umbel.Digest) bool {
	if len(l.words) >= len(l.index) {
		l.grow()
	}
	h := l.hash(d)
	e := l.find(d, h)
	if *e != 0 {
		return false
	}
	l.words = append(l.words, d.H1, d.H2)
	*e = h&tag | uint64(l.len())
	return true
}

// grow doubles the index.
func (l *list) grow() {
	if len(l.index) == 0 {
		l.secret = newSecret()
	}
	l.index = make([]uint64, max(2*len(l.index), 16))
	mask := uint64(len(l.index)) - 1
	for i := range l.len() {
		h := l.hash(l.digest(i))
		at := h >> place & mask
		for l.index[at] != 0 {
			at = (at + 1) & mask
		}
		l.index[at] = h&tag | uint64(i+1)
	}
}

func newSecret() [2]uint64 { return [2]uint64{rand.Uint64(), rand.Uint64()} }

// openList returns the list of the given words, whose memory it shares, and false if a
// digest occurs twice.
func openList(words []uint64) (list, bool) {
	places := 16
	for places < len(words) {
		places *= 2
	}
	l := list{words: slices.Clip(words), index: make([]uint64, places), secret: newSecret()}
	for i := range l.len() {
		d := l.digest(i)
		h := l.hash(d)
		e := l.find(d, h)
		if *e != 0 {
			return list{}, false
		}
		*e = h&tag | uint64(i+1)
	}
	return l, true
}
