package model

import (
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Changes that are rare in all of an array are listed (spec/codings.md, "Lists of changes"): the gaps between
// them take about log2(m/f) + 1.44 bits each, where f of m bits change, and nothing is repeated for each
// block. If a key sets several cells of a block of 512 bits, as in blocked filters, the list has the blocks
// that change, and their cells follow: that takes log2(m/512/f) + 1.44 bits per key, and for each of its
// changes about log2(512) bits.

const (
	// MaxGroup is the most words of a group.
	MaxGroup = 64
	// MaxListed is the most words of all groups or counters that change: 4 MiB.
	MaxListed = 1 << 19
)

// AppendListedBits appends the code of an array of bits if few of them change: gone are the changes of the base's
// ones, as a string of as many bits as the base has ones, and come those of its zeros.
func AppendListedBits(dst []byte, gone, come entropy.Sparse) []byte {
	return entropy.AppendRiceSparse(entropy.AppendRiceSparse(append(dst, 0), gone), come)
}

// AppendListed appends the code of an array in which few groups of the given number of words change, or few
// counters if words is 0. At are the numbers of these groups or counters; base and block have their cells, one
// after the other, before and after the change.
func (c *Modeler) AppendListed(dst []byte, words uint64, at entropy.Sparse, base, block cells.Array) []byte {
	return c.AppendDelta(entropy.AppendRiceSparse(append(dst, byte(words)), at), base, block)
}

// DecodeListed changes an array, which is the base, as src states. Its error wraps [ErrCorrupt]. It takes memory
// in proportion to src, and at most as much as an array of MaxListed words and its code do.
func (c *Modeler) DecodeListed(src []byte, a cells.Array) error {
	if len(src) == 0 || src[0] > MaxGroup {
		return sentinel.Errorf(ErrCorrupt, "% x, want the words of a group, at most %d", src[:min(len(src), 1)], MaxGroup)
	}
	words := int(src[0])
	if words == 0 && a.Width == 1 {
		return decodeListedBits(src[1:], a)
	}
	g := groupsOf(a, words)
	list, err := entropy.ReadPositions(src[1:], g.number)
	if err != nil {
		return corrupt(err)
	}
	n := list.Left()
	if n == 0 || n > MaxListed*64/g.bits {
		return sentinel.Errorf(ErrCorrupt, "%d groups of %d bits change, want at least one and at most %d words", n, g.bits, MaxListed)
	}
	c.listed = c.listed[:0]
	for at := list.Next(); at != entropy.None; at = list.Next() {
		c.listed = append(c.listed, at)
	}
	if src, err = list.End(); err != nil {
		return corrupt(err)
	}
	part := g.gather(c.part, c.listed)
	c.part = part.Words
	if err := c.DecodeDelta(src, part, part); err != nil {
		return err
	}
	g.scatter(part, c.listed)
	return nil
}

// groups are the groups of an array.
type groups struct {
	a      cells.Array
	words  int    // of a group; 0 if each cell is one
	bits   uint64 // of a group
	number uint64
}

func groupsOf(a cells.Array, words int) groups {
	if words == 0 {
		return groups{a, 0, uint64(a.Width), a.Len}
	}
	return groups{a, words, 64 * uint64(words), uint64((len(a.Words) + words - 1) / words)}
}

// gather returns an array of the cells of the groups at the given numbers. It uses the memory if it suffices.
func (g groups) gather(memory, at []uint64) cells.Array {
	part := cells.Array{Words: memory[:0], Width: g.a.Width}
	if g.words == 0 {
		part.Len = uint64(len(at))
		n := wordsFor(part.Len * g.bits)
		part.Words = slices.Grow(part.Words, n)[:n]
		clear(part.Words)
		for i, cell := range at {
			part.Put(uint64(i), g.a.Get(cell))
		}
		return part
	}
	for _, i := range at {
		part.Words = append(part.Words, g.of(i)...)
	}
	part.Len = uint64(len(part.Words)) * 64 / uint64(g.a.Width)
	if at[len(at)-1] == g.number-1 {
		part.Len -= uint64(len(g.a.Words))*64/uint64(g.a.Width) - g.a.Len
	}
	return part
}

// scatter sets the groups at the given numbers to the cells of part.
func (g groups) scatter(part cells.Array, at []uint64) {
	words := part.Words
	for i, n := range at {
		if g.words == 0 {
			g.a.Put(n, part.Get(uint64(i)))
			continue
		}
		words = words[copy(g.of(n), words):]
	}
}

// of returns the words of group i. The last group may have fewer.
func (g groups) of(i uint64) []uint64 {
	begin := int(i) * g.words
	return g.a.Words[begin:min(begin+g.words, len(g.a.Words))]
}

// decodeListedBits is DecodeListed for the changes of bits.
func decodeListedBits(src []byte, a cells.Array) error {
	gone, err := entropy.ReadPositions(src, a.Len)
	if err != nil {
		return corrupt(err)
	}
	end := gone // the second list begins at the end of the first one
	if src, err = end.End(); err != nil {
		return corrupt(err)
	}
	come, err := entropy.ReadPositions(src, a.Len)
	if err != nil {
		return corrupt(err)
	}
	end = come
	if src, err = end.End(); err != nil {
		return corrupt(err)
	}
	if changes := gone.Left() + come.Left(); changes == 0 || len(src) > 0 {
		return sentinel.Errorf(ErrCorrupt, "%d changes, and %d bytes after them", changes, len(src))
	}
	if !flipListed(a, &gone, &come) {
		return sentinel.Errorf(ErrCorrupt, "a change beyond the last one or zero")
	}
	return nil
}

// skipWords is the number of words that flipListed counts at once.
const skipWords = 8

// flipListed flips the ones and zeros of an array at positions among its ones and among its zeros. It
// reports whether all of them exist.
func flipListed[L interface{ Next() uint64 }](a cells.Array, gone, come L) bool {
	nextGone, nextCome := gone.Next(), come.Next()
	ones := uint64(0)
	for i := 0; i < len(a.Words) && nextGone&nextCome != entropy.None; {
		zeros := uint64(i)*64 - ones
		if i+skipWords <= len(a.Words) {
			w := a.Words[i : i+skipWords]
			n := uint64(bits.OnesCount64(w[0]) + bits.OnesCount64(w[1]) + bits.OnesCount64(w[2]) + bits.OnesCount64(w[3]) +
				bits.OnesCount64(w[4]) + bits.OnesCount64(w[5]) + bits.OnesCount64(w[6]) + bits.OnesCount64(w[7]))
			if nextGone >= ones+n && nextCome >= zeros+64*skipWords-n {
				ones, i = ones+n, i+skipWords
				continue
			}
		}
		w := a.Words[i]
		n := uint64(bits.OnesCount64(w))
		absent := ^w
		if i == len(a.Words)-1 {
			absent &= ^uint64(0) >> (-a.Len & 63)
		}
		flips := uint64(0)
		for ; nextGone < ones+n; nextGone = gone.Next() {
			flips |= nth(w, int(nextGone-ones))
		}
		for ; nextCome < zeros+uint64(bits.OnesCount64(absent)); nextCome = come.Next() {
			flips |= nth(absent, int(nextCome-zeros))
		}
		a.Words[i] = w ^ flips
		ones, i = ones+n, i+1
	}
	return nextGone&nextCome == entropy.None
}
