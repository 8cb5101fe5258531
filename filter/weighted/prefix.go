package weighted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cells"
)

// MaxPrefix is the length of the longest prefix, in bytes.
const MaxPrefix = 255

// Prefix says that keys that begin with it are of a class, unless a longer prefix
// says otherwise. A key with no prefix is of class 0.
type Prefix struct {
	Prefix string // 1 to MaxPrefix bytes
	Class  int    // from 0
}

// prefixTable tells the class of a key.
type prefixTable struct {
	classes map[string]int
	lengths []int // of the prefixes, the longest first
	list    []Prefix
	plane   cells.Array // the list, as a state has it
}

func (t *prefixTable) empty() bool { return t.classes == nil }

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
		case len(p.Prefix) < 1 || len(p.Prefix) > MaxPrefix:
			return t, fmt.Errorf("weighted: a prefix of %d bytes, want 1 to %d: keys without a prefix are of class 0", len(p.Prefix), MaxPrefix)
		case p.Class < 0 || p.Class >= classes:
			return t, fmt.Errorf("weighted: prefix %.40q is of class %d, want 0 to %d", p.Prefix, p.Class, classes-1)
		case i > 0 && prefixes[i-1].Prefix == p.Prefix:
			return t, fmt.Errorf("weighted: prefix %.40q is there twice, of class %d and of class %d", p.Prefix, prefixes[i-1].Class, p.Class)
		case i > 0 && prefixes[i-1].Prefix > p.Prefix:
			return t, fmt.Errorf("weighted: prefix %.40q stands behind %.40q", p.Prefix, prefixes[i-1].Prefix)
		}
		t.classes[p.Prefix] = p.Class
		if !slices.Contains(t.lengths, len(p.Prefix)) {
			t.lengths = append(t.lengths, len(p.Prefix))
		}
	}
	slices.SortFunc(t.lengths, func(a, b int) int { return b - a })
	var err error
	t.plane, err = prefixPlane(prefixes)
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

// prefixPlane writes prefixes as bytes: of each its class, its length, and itself.
func prefixPlane(prefixes []Prefix) (cells.Array, error) {
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

// readPrefixes reads what prefixPlane writes.
func readPrefixes(a cells.Array) ([]Prefix, error) {
	var prefixes []Prefix
	for i := uint64(0); i < a.Len; {
		if a.Len-i < 2 {
			return nil, fmt.Errorf("weighted: %d bytes of prefixes, of which the last has no length", a.Len)
		}
		class, n := a.Get(i), a.Get(i+1)
		i += 2
		if n == 0 {
			return nil, fmt.Errorf("weighted: prefix %d has no bytes: keys without a prefix are of class 0", len(prefixes))
		}
		if a.Len-i < n {
			return nil, fmt.Errorf("weighted: a prefix of %d bytes where %d are left", n, a.Len-i)
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
