package weighted

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/plan"
)

// keyed is what Filter and Counting have in common: an array, and the classes of keys.
type keyed struct {
	array       arrays.Array // with the k of class 0
	classes     []Class
	hot         hotTable
	prefixes    prefixTable
	least, most int // the classes with the fewest cells per key, and with the most
}

// newKeyed returns an array with classes and tables that have been checked.
func newKeyed(a arrays.Array, classes []Class, hot hotTable, prefixes prefixTable) keyed {
	f := keyed{array: a, classes: inBillionths(classes), hot: hot, prefixes: prefixes}
	for i, c := range f.classes {
		if c.K < f.classes[f.least].K {
			f.least = i
		}
		if c.K > f.classes[f.most].K {
			f.most = i
		}
	}
	return f
}

// front returns what the generated methods need.
func (f *keyed) front() kinds.Core {
	return kinds.Core{Hasher: f.array.Shape.Hasher, Planned: &f.array.Planned, Zero: f.array.Shape.M == 0}
}

// Class returns the class of a key by its prefix, and false if the filter has no
// prefixes: see [umbel.Classifier].
func (f *keyed) Class(key []byte) (class int, ok bool) {
	if f.prefixes.isEmpty() {
		return 0, false
	}
	return f.prefixes.class(key), true
}

// isKnown reports whether a class that the caller names exists and is to be used.
func (f *keyed) isKnown(class int) bool {
	return class >= 0 && class < len(f.classes) && f.hot.isEmpty()
}

// digest returns the digest of a key, and its class, which is -1 if the key does not determine it.
func (f *keyed) digest(key []byte) (d umbel.Digest, class int) {
	d = f.array.Shape.Hasher.HashBytes(key)
	class, ok := f.Class(key)
	if !ok {
		class = -1
	}
	return d, class
}

// bytes returns key without a copy; nobody writes to it.
func bytes(key string) []byte { return unsafe.Slice(unsafe.StringData(key), len(key)) }

// Shape returns the shape of the filter: NewShape, or NewCountingShape, makes an empty filter of it. A digest in
// Hot has only the bits that matter, the upper 56 of H1.
func (f *keyed) Shape() Shape {
	a := f.array.Shape
	s := Shape{M: a.M, Classes: slices.Clone(f.classes), Group: a.Group, Hasher: a.Hasher, Prefixes: slices.Clone(f.prefixes.list)}
	if f.array.Kind.Counters {
		s.Width = f.array.Cells.Width
	}
	for _, w := range f.hot.words {
		s.Hot = append(s.Hot, Hot{umbel.Digest{H1: w >> classBits << classBits}, int(w & classMask)})
	}
	return s
}

// describe describes a filter by its type, its classes and the lengths of its tables. It prints neither digests nor
// prefixes.
func (f *keyed) describe(filter string) string {
	s := f.array.Shape
	width := ""
	if f.array.Kind.Counters {
		width = fmt.Sprintf(" Width:%d", f.array.Cells.Width)
	}
	return fmt.Sprintf("weighted.%s{M:%d Classes:%+v%s Group:%d Hasher:%v Hot:%d Prefixes:%d}",
		filter, s.M, f.classes, width, s.Group, s.Hasher, len(f.hot.words), len(f.prefixes.list))
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. Keys and K assume
// the classes' shares of the keys, FPRate their shares of the queries. Fill and Cells
// describe the cells; Bytes includes the table. The stats of the zero filter are zero.
func (f *keyed) Stats() umbel.Stats {
	a := f.array.Cells
	if a.Len == 0 {
		return umbel.Stats{}
	}
	ones, k := a.Nonzero(), meanK(f.classes)
	n := f.array.Keys(func(m, ones uint64) plan.Estimate { return plan.Filter{M: m, K: 1}.Keys(ones) })
	s := umbel.Stats{
		Keys: n.Value / k, Low: n.Low / k, High: n.High / k,
		Fill: float64(ones) / float64(a.Len), Cells: a.Len, K: k,
		Bytes: f.state(f.array.Kind).Bytes(),
	}
	for _, c := range f.classes {
		s.FPRate += c.Queries * plan.FPRateAtFill(s.Fill, c.K)
	}
	return s
}

// sameClasses returns an error, which wraps no sentinel, if the classes or tables of f and
// g differ.
func (f *keyed) sameClasses(g *keyed) error {
	if a, b := len(f.classes), len(g.classes); a != b {
		return fmt.Errorf("weighted: one filter has %d classes, the other %d", a, b)
	}
	for i, c := range f.classes {
		if d := g.classes[i]; c.K != d.K {
			return fmt.Errorf("weighted: class %d sets %d cells per key in one filter and %d in the other", i, c.K, d.K)
		}
	}
	if !slices.Equal(f.hot.words, g.hot.words) {
		return fmt.Errorf("weighted: the filters have different tables, of %d and of %d digests", len(f.hot.words), len(g.hot.words))
	}
	if !slices.Equal(f.prefixes.list, g.prefixes.list) {
		return fmt.Errorf("weighted: the filters have different tables, of %d and of %d prefixes", len(f.prefixes.list), len(g.prefixes.list))
	}
	return nil
}
