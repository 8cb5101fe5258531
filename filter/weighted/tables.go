package weighted

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Hot assigns a digest to a class other than 0.
type Hot struct {
	Digest umbel.Digest
	Class  int // at least 1
}

// hotTable maps digests to classes. A word of it has the upper 56 bits of a digest's H1
// and, below them, its class; words ascend. A digest that shares these 56 bits with one
// in the table shares its class, which changes its cells only. With 70 million digests in
// the table this happens to one key in 10^9.
type hotTable struct {
	words []uint64
	// starts[i] is the number of words whose upper bits are below i. There are about as
	// many values of i as words, so a search covers one or two words.
	starts []uint32
	shift  uint8 // of H1, to its upper bits
	// front has a bit for each value of the upper bits and frontBits more bits, which is
	// set if a word has it. It recognizes 15 of 16 digests that are not in the table.
	front []uint64
}

const frontBits = 4

// The lowest bits of a word contain a class.
const (
	classBits = 8
	classMask = 1<<classBits - 1
)

func (t *hotTable) isEmpty() bool { return t.words == nil }

// isCold reports whether front shows that d is not in the table.
func (t *hotTable) isCold(d umbel.Digest) bool {
	at := d.H1 >> ((t.shift - frontBits) & 63)
	return len(t.front) == 0 || t.front[at>>6]>>(at&63)&1 == 0
}

// class returns the class of d, 0 if d is not in the table.
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

// hotWords returns the words of hot digests. If two digests share 56 bits, the class with
// more cells applies. One digest in two classes is an error.
func hotWords(hot []Hot, classes []Class) ([]uint64, error) {
	hot = slices.Clone(hot)
	for _, h := range hot {
		if h.Class < 1 || h.Class >= len(classes) {
			return nil, fmt.Errorf("weighted: digest %v has class %d, want 1 to %d: class 0 is that of all digests not listed", h.Digest, h.Class, len(classes)-1)
		}
	}
	slices.SortFunc(hot, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(a.Digest.H1, b.Digest.H1), cmp.Compare(a.Digest.H2, b.Digest.H2))
	})
	var words []uint64
	for i, h := range hot {
		if i > 0 && h.Digest == hot[i-1].Digest && h.Class != hot[i-1].Class {
			return nil, fmt.Errorf("weighted: digest %v has class %d and class %d: classes overlap", h.Digest, hot[i-1].Class, h.Class)
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

// newHotTable returns the table of words, whose memory it shares. The words must ascend,
// their upper 56 bits must differ, and their classes must exist.
func newHotTable(words []uint64, classes int) (hotTable, error) {
	if uint64(len(words)) >= 1<<32 {
		return hotTable{}, fmt.Errorf("weighted: %d digests in the table, want fewer than 2^32", len(words))
	}
	for i, w := range words {
		if class := int(w & classMask); class < 1 || class >= classes {
			return hotTable{}, fmt.Errorf("weighted: digest %d of the table has class %d, want 1 to %d", i, class, classes-1)
		}
		if i > 0 && words[i-1]>>classBits >= w>>classBits {
			return hotTable{}, fmt.Errorf("weighted: digest %d of the table does not follow digest %d in order", i, i-1)
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

// maxPrefix is the length of the longest prefix, in bytes.
const maxPrefix = 255

// Prefix assigns the keys that begin with it to a class, unless a longer prefix assigns
// them. A key with no prefix has class 0.
type Prefix struct {
	Prefix string // 1 to maxPrefix bytes
	Class  int    // at least 0
}

// prefixTable maps keys to classes.
type prefixTable struct {
	classes map[string]int
	lengths []int // of the prefixes, the longest first
	list    []Prefix
	array   cells.Array // the list, as in a state
}

func (t *prefixTable) isEmpty() bool { return t.classes == nil }

// class returns the class of the longest prefix of key, 0 if it has none.
func (t *prefixTable) class(key []byte) int {
	for _, n := range t.lengths {
		if n <= len(key) {
			if class, ok := t.classes[string(key[:n])]; ok { // the compiler makes no copy
				return class
			}
		}
	}
	return 0
}

// newPrefixTable returns the table of prefixes that ascend.
func newPrefixTable(prefixes []Prefix, classes int) (prefixTable, error) {
	t := prefixTable{classes: make(map[string]int, len(prefixes)), list: prefixes}
	for i, p := range prefixes {
		switch {
		case len(p.Prefix) < 1 || len(p.Prefix) > maxPrefix:
			return t, fmt.Errorf("weighted: a prefix of %d bytes, want 1 to %d: keys without a prefix have class 0", len(p.Prefix), maxPrefix)
		case p.Class < 0 || p.Class >= classes:
			return t, fmt.Errorf("weighted: prefix %.40q has class %d, want 0 to %d", p.Prefix, p.Class, classes-1)
		case i > 0 && prefixes[i-1].Prefix == p.Prefix:
			return t, fmt.Errorf("weighted: prefix %.40q appears twice, with class %d and class %d", p.Prefix, prefixes[i-1].Class, p.Class)
		case i > 0 && prefixes[i-1].Prefix > p.Prefix:
			return t, fmt.Errorf("weighted: prefix %.40q follows %.40q, want ascending order", p.Prefix, prefixes[i-1].Prefix)
		}
		t.classes[p.Prefix] = p.Class
		if !slices.Contains(t.lengths, len(p.Prefix)) {
			t.lengths = append(t.lengths, len(p.Prefix))
		}
	}
	slices.SortFunc(t.lengths, func(a, b int) int { return b - a })
	var err error
	t.array, err = prefixArray(prefixes)
	return t, err
}

// sortedPrefixes returns a copy of prefixes that ascends.
func sortedPrefixes(prefixes []Prefix) []Prefix {
	sorted := slices.Clone(prefixes)
	slices.SortFunc(sorted, func(a, b Prefix) int {
		return cmp.Or(strings.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Class, b.Class))
	})
	return sorted
}

// prefixArray encodes prefixes as bytes: the class, the length and the bytes of each.
func prefixArray(prefixes []Prefix) (cells.Array, error) {
	var b []byte
	for _, p := range prefixes {
		b = append(b, byte(p.Class), byte(len(p.Prefix)))
		b = append(b, p.Prefix...)
	}
	a, err := cells.New(uint64(len(b)), 8)
	if err != nil {
		return a, err
	}
	for i, c := range b {
		a.Put(uint64(i), uint64(c))
	}
	return a, nil
}

// readPrefixes decodes what prefixArray encodes.
func readPrefixes(a cells.Array) ([]Prefix, error) {
	var prefixes []Prefix
	for i := uint64(0); i < a.Len; {
		if a.Len-i < 2 {
			return nil, fmt.Errorf("weighted: the last of %d bytes of prefixes has no length", a.Len)
		}
		class, n := a.Get(i), a.Get(i+1)
		i += 2
		if n == 0 {
			return nil, fmt.Errorf("weighted: prefix %d has no bytes: keys without a prefix have class 0", len(prefixes))
		}
		if a.Len-i < n {
			return nil, fmt.Errorf("weighted: a prefix of %d bytes, but %d bytes remain", n, a.Len-i)
		}
		p := make([]byte, n)
		for j := range p {
			p[j] = byte(a.Get(i + uint64(j)))
		}
		prefixes = append(prefixes, Prefix{string(p), int(class)})
		i += n
	}
	return prefixes, nil
}
