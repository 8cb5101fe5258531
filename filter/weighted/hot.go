package weighted

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
)

// Hot says that a digest is one of a key of a class other than 0.
type Hot struct {
	Digest umbel.Digest
	Class  int // from 1
}

// hotTable tells the class of a digest. A word of it is the upper 56 bits of a
// digest's H1 and, below them, its class; words ascend. A digest that shares these 56
// bits with one in the table shares its class, which only means other cells: one in
// 10^9 keys does if there are 70 million in the table.
type hotTable struct {
	words []uint64
	// starts[i] is the number of words before those whose upper bits are i, there
	// being about as many i as words: a search is among one or two of them.
	starts []uint32
	shift  uint8 // of H1, to its upper bits
	// front has a bit for each value of the upper bits and frontBits more, set if a
	// word has it: of the digests that aren't in the table it tells 15 of 16.
	front []uint64
}

const frontBits = 4

// A class is in the lowest bits of a word.
const (
	classBits = 8
	classMask = 1<<classBits - 1
)

func (t *hotTable) empty() bool { return t.words == nil }

// cold reports whether a glance tells that d isn't there.
func (t *hotTable) cold(d umbel.Digest) bool {
	at := d.H1 >> ((t.shift - frontBits) & 63)
	return len(t.front) == 0 || t.front[at>>6]>>(at&63)&1 == 0
}

// class returns the class of d, 0 if it isn't there.
func (t *hotTable) class(d umbel.Digest) int {
	i := d.H1 >> (t.shift & 63)
	low, high := t.starts[i], t.starts[i+1]
	for low < high {
		middle := low + (high-low)/2
		w := t.words[middle]
		switch {
		case w>>classBits < d.H1>>classBits:
			low = middle + 1
		case w>>classBits > d.H1>>classBits:
			high = middle
		default:
			return int(w & classMask)
		}
	}
	return 0
}

// hotWords returns the words of hot digests. Of two that share 56 bits the class with
// more cells goes; one digest of two classes is an error.
func hotWords(hot []Hot, classes []Class) ([]uint64, error) {
	hot = slices.Clone(hot)
	for _, h := range hot {
		if h.Class < 1 || h.Class >= len(classes) {
			return nil, fmt.Errorf("weighted: digest %v is of class %d, want 1 to %d: class 0 is of all that aren't listed", h.Digest, h.Class, len(classes)-1)
		}
	}
	slices.SortFunc(hot, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(a.Digest.H1, b.Digest.H1), cmp.Compare(a.Digest.H2, b.Digest.H2))
	})
	var words []uint64
	for i, h := range hot {
		if i > 0 && h.Digest == hot[i-1].Digest && h.Class != hot[i-1].Class {
			return nil, fmt.Errorf("weighted: digest %v is of class %d and of class %d: classes overlap", h.Digest, hot[i-1].Class, h.Class)
		}
		w := h.Digest.H1>>classBits<<classBits | uint64(h.Class)
		last := len(words) - 1
		switch {
		case last < 0 || words[last]>>classBits != w>>classBits:
			words = append(words, w)
		case classes[h.Class].K > classes[words[last]&classMask].K:
			words[last] = w
		}
	}
	return words, nil
}

// newHotTable returns the table of words, which it shares. They must ascend, without two of the same 56 bits, and their classes be there.
func newHotTable(words []uint64, classes int) (hotTable, error) {
	if uint64(len(words)) >= 1<<32 {
		return hotTable{}, fmt.Errorf("weighted: %d digests in the table, want less than 2^32", len(words))
	}
	for i, w := range words {
		if class := int(w & classMask); class < 1 || class >= classes {
			return hotTable{}, fmt.Errorf("weighted: digest %d of the table is of class %d, want 1 to %d", i, class, classes-1)
		}
		if i > 0 && words[i-1]>>classBits >= w>>classBits {
			return hotTable{}, fmt.Errorf("weighted: digest %d of the table isn't above the one before it", i)
		}
	}
	log := max(bits.Len(uint(len(words))), 2)
	t := hotTable{words: words, starts: make([]uint32, 1<<log+1), shift: uint8(64 - log), front: make([]uint64, 1<<(log+frontBits-6))}
	for _, w := range words {
		t.starts[w>>t.shift+1]++
		at := w >> (t.shift - frontBits)
		t.front[at>>6] |= 1 << (at & 63)
	}
	for i := range 1 << log {
		t.starts[i+1] += t.starts[i]
	}
	return t, nil
}
