package delta

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Flip is a word of an array that differs between two states: Mask, which is not zero, is the exclusive or
// of its values.
type Flip struct{ Word, Mask uint64 }

// Ones has the numbers of ones of a state, so that a [Series] finds how many precede a bit without reading
// all of an array. It takes 0.4 % of the memory of the arrays of bits. It is not safe for concurrent
// use.
type Ones struct{ arrays []arrayOnes }

// arrayOnes are the numbers of ones of an array; those of an array of counters are not known.
type arrayOnes struct {
	groups []uint16 // of onesGroup words each
	blocks []uint32 // of blocks
}

const (
	onesGroup   = 64
	blockGroups = block.Words / onesGroup
)

// NewOnes counts the ones of s, which takes the time of reading it.
func NewOnes(s umbel.State) *Ones {
	o := new(Ones)
	for _, a := range s.AllArrays() {
		o.arrays = append(o.arrays, countArray(a))
	}
	return o
}

// countArray returns the numbers of ones of an array.
func countArray(a cells.Array) (n arrayOnes) {
	if a.Width > 1 {
		return n
	}
	n.groups = make([]uint16, (len(a.Words)+onesGroup-1)/onesGroup)
	n.blocks = make([]uint32, block.Count(a))
	for i, words := range a.Blocks(onesGroup) {
		n.add(i, countOnes(words))
	}
	return n
}

// Update makes o the numbers of s, which has the arrays of before and differs from it by flips: those of
// each array, counted through all states.
func (o *Ones) Update(s umbel.State, flips [][]Flip) {
	for i, a := range s.AllArrays() {
		if a.Width > 1 {
			continue
		}
		for _, f := range flips[i] {
			w := a.Words[f.Word]
			o.arrays[i].add(int(f.Word/onesGroup), bits.OnesCount64(w)-bits.OnesCount64(w^f.Mask))
		}
	}
}

// add adds d to the number of ones of a group.
func (n *arrayOnes) add(group, d int) {
	n.groups[group] += uint16(d)
	n.blocks[group/blockGroups] += uint32(d)
}

// ranker computes the number of ones of a block before a word. It takes little time if the words ascend.
type ranker struct {
	words []uint64
	arrayOnes
	group  int // of before
	before int // ones of the block before the group
	at, n  int // ones of the block before word at
}

// rank returns the number of ones of its block before a word.
func (r *ranker) rank(word int) uint32 {
	group := word / onesGroup
	if r.group/blockGroups != group/blockGroups {
		r.group, r.before = group/blockGroups*blockGroups, 0
		r.at, r.n = r.group*onesGroup, 0
	}
	if group > r.group {
		for _, n := range r.groups[r.group:group] {
			r.before += int(n)
		}
		r.group, r.at, r.n = group, group*onesGroup, r.before
	}
	r.n += countOnes(r.words[r.at:word])
	r.at = word
	return uint32(r.n)
}

func countOnes(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}
