package delta

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// Changes are the bits in which two states of one shape differ, in about 2 bytes for each word that has such
// bits. They lead from either state to the other. The arrays of a state are counted through all of its parts.
// The zero Changes are none. Changes are not altered after they are made, and are safe for concurrent use.
type Changes struct{ arrays []packed } // no arrays, or all of them

// leafWords is the number of words of a leaf of the hash tree.
const leafWords = hashtree.LeafBytes / 8

// Compare returns the changes from base to result, and false if they have arrays of other sizes, or other kinds
// or hashers. Parameters may differ: they are not part of the changes. If changed is not nil, only the words
// that it yields for an array are compared: their numbers ascend, and it may return nil if there are none.
// Compare panics if a word doesn't exist.
func Compare(base, result umbel.State, changed func(array int) iter.Seq[uint64]) (c Changes, ok bool) {
	if !base.SameShape(result) {
		return c, false
	}
	before, after := base.AllArrays(), result.AllArrays()
	c.arrays = make([]packed, len(after))
	for i, a := range after {
		var p packer
		if changed == nil {
			p.compare(before[i].Words, a.Words, 0, len(a.Words))
		} else if words := changed(i); words != nil {
			for w := range words {
				p.compare(before[i].Words, a.Words, int(w), int(w)+1)
			}
		}
		c.arrays[i] = p.done()
	}
	return c, true
}

// Merge returns the changes that have the effect of all given ones together, in any order: those from a state to
// one that is several steps later. All are of states with the same arrays.
func Merge(all ...Changes) Changes {
	switch len(all) {
	case 0:
		return Changes{}
	case 1:
		return all[0]
	}
	a, b := Merge(all[:len(all)/2]...), Merge(all[len(all)/2:]...)
	merged := Changes{make([]packed, max(len(a.arrays), len(b.arrays)))}
	for i := range merged.arrays {
		merged.arrays[i] = merge(a.of(i), b.of(i))
	}
	return merged
}

// of returns the changes of an array.
func (c Changes) of(array int) packed {
	if c.arrays == nil {
		return nil
	}
	return c.arrays[array]
}

// Bytes returns the memory that c takes.
func (c Changes) Bytes() (n uint64) {
	for _, p := range c.arrays {
		n += uint64(len(p))
	}
	return n
}

// Apply changes the arrays of s in place: from those of one state of c to those of the other.
func (c Changes) Apply(s umbel.State) {
	for i, a := range s.AllArrays() {
		c.of(i).apply(a.Words)
	}
}

// Leaves yields the leaves of an array that change, in ascending order and possibly several times, as
// [hashtree.Tree.UpdateLeaves] expects them. It returns nil if there are none.
func (c Changes) Leaves(array int) iter.Seq[uint64] {
	if len(c.of(array)) == 0 {
		return nil
	}
	return func(yield func(uint64) bool) {
		w := c.arrays[array].all()
		for w.next() {
			if !yield(w.word / leafWords) {
				return
			}
		}
	}
}

// Append appends the encoding of c to dst: for each array a uvarint with its length, and its changed words.
// Each of these has the number of words between it and the one before, as a uvarint, and its bits: the number
// of its only bit; or 64 + n and the numbers of n bits, from 2 to 7; or 72 and 8 bytes, little-endian. The
// zero Changes have no encoding, since they have no number of arrays.
func (c Changes) Append(dst []byte) []byte {
	for _, p := range c.arrays {
		dst = append(binary.AppendUvarint(dst, uint64(len(p))), p...)
	}
	return dst
}

// ParseChanges decodes changes of a state with the arrays of s, and returns the bytes that follow. It shares no
// memory with src. Its error wraps umbel.ErrCorrupt.
func ParseChanges(src []byte, s umbel.State) (c Changes, rest []byte, err error) {
	for i, a := range s.AllArrays() {
		n, size := uvarint(src)
		if size == 0 || n > uint64(len(src)-size) {
			return Changes{}, nil, sentinel.Errorf(umbel.ErrCorrupt, "changes of array %d in %d bytes", i, len(src))
		}
		p := append(packed(nil), src[size:][:n]...)
		if err := p.check(a); err != nil {
			return Changes{}, nil, fmt.Errorf("changes of array %d: %w", i, err)
		}
		c.arrays, src = append(c.arrays, p), src[size:][n:]
	}
	return c, src, nil
}

// check returns an error unless p can be changes of an array.
func (p packed) check(a cells.Array) error {
	words, used := uint64(len(a.Words)), a.Len*uint64(a.Width)%64 // bits of the last word, if not all
	c, after := p.all(), uint64(0)
	for c.next() {
		if c.word < after || c.word >= words || c.mask == 0 || c.after == words && used > 0 && c.mask>>used != 0 {
			return sentinel.Errorf(umbel.ErrCorrupt, "word %d of %d changes in %#x", c.word, words, c.mask)
		}
		after = c.after
	}
	if len(c.rest) > 0 {
		return sentinel.Errorf(umbel.ErrCorrupt, "a damaged word after %d", after)
	}
	return nil
}
