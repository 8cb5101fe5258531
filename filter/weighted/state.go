package weighted

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// paramNames returns the parameters of a state of kind k with that many classes, in order.
func paramNames(k arrays.Kind, classes int) []string {
	names := []string{"k", "group"}
	if k.Counters {
		names = append(names, "copied")
	}
	for i := 1; i < classes; i++ {
		names = append(names, fmt.Sprintf("k%d", i), fmt.Sprintf("members%d", i), fmt.Sprintf("queries%d", i))
	}
	return names
}

// classesOf returns the number of classes that a state of kind k with that many parameters may
// have.
func classesOf(k arrays.Kind, params int) int {
	return min(max(params-len(paramNames(k, 1)), 0)/3, maxClasses-1) + 1
}

// state returns the complete contents, of kind k even if f is zero.
func (f *keyed) state(k arrays.Kind) umbel.State {
	s := f.array.State(k) // with the parameters of class 0
	names := paramNames(k, len(f.classes))
	for _, c := range f.classes[min(1, len(f.classes)):] {
		for _, v := range [...]float64{float64(c.K), c.Members * billion, c.Queries * billion} {
			s.Params = append(s.Params, umbel.Param{Name: names[len(s.Params)], Value: umbel.Uint(uint64(math.Round(v)))})
		}
	}
	switch {
	case !f.hot.isEmpty():
		s.Arrays = append(s.Arrays, cells.Array{Len: uint64(len(f.hot.words)), Width: 64, Words: f.hot.words})
	case !f.prefixes.isEmpty():
		s.Arrays = append(s.Arrays, f.prefixes.array)
	}
	return s
}

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State { return f.state(kind) }

// Open returns the filter with state s and takes over its memory. A table of digests takes an
// index of 6 to 12 bytes per digest. The error wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) { return withProbes(openKeyed(kind, s)) }

// openKeyed opens a state of kind k.
func openKeyed(k arrays.Kind, s umbel.State) (keyed, error) {
	names := paramNames(k, classesOf(k, len(s.Params)))
	values := make([]uint64, len(names))
	dst := make([]*uint64, len(names))
	for i := range values {
		dst[i] = &values[i]
	}
	var table cells.Array
	if s.Kind == k.Name && len(s.Arrays) == 2 {
		table = s.Arrays[1]
		if err := s.Check(); err != nil { // of both arrays
			return keyed{}, err
		}
		s.Arrays = s.Arrays[:1]
		if table.Len == 0 || table.Width != 64 && table.Width != 8 {
			return keyed{}, sentinel.Errorf(umbel.ErrCorrupt,
				"weighted: a table of %d cells of %d bits, want 64 bits per digest or 8 bits per byte of the prefixes", table.Len, table.Width)
		}
	}
	a, err := k.OpenCells(s, names, dst...)
	if err != nil {
		return keyed{}, err
	}
	f, err := open(arrays.Array{Kind: k, Cells: a, Planned: s.Planned}, table, values, s.Hasher)
	return f, sentinel.Wrap(umbel.ErrCorrupt, err)
}

// open returns an array whose shape follows from its cells and the values of paramNames, and a table, which may
// be empty.
func open(a arrays.Array, table cells.Array, values []uint64, h umbel.Hasher) (keyed, error) {
	k := func(v uint64) int { return int(min(v, maxK+1)) }
	share := func(v uint64) float64 { return float64(min(v, 2*billion)) / billion }
	s := Shape{M: a.Cells.Len, Group: uint8(min(values[1], 64)), Classes: []Class{{K: k(values[0])}}, Hasher: h}
	values = values[2:]
	if a.Kind.Counters {
		if values[0] > 1 {
			return keyed{}, fmt.Errorf("weighted: copied is %d, want 0 or 1", values[0])
		}
		s.Width, a.Copied, values = a.Cells.Width, values[0] == 1, values[1:]
	}
	var members, queries float64
	for v := values; len(v) > 0; v = v[3:] {
		s.Classes = append(s.Classes, Class{k(v[0]), share(v[1]), share(v[2])})
		members += float64(min(v[1], 2*billion))
		queries += float64(min(v[2], 2*billion))
	}
	if members > billion || queries > billion {
		return keyed{}, fmt.Errorf("weighted: the classes from 1 on have %.0f·10^-9 of the keys and %.0f·10^-9 of the queries, want at most 10^9", members, queries)
	}
	if err := s.check(); err != nil {
		return keyed{}, err
	}
	var hot hotTable
	var prefixes prefixTable
	var err error
	switch table.Width {
	case 64:
		hot, err = newHotTable(table.Words, len(s.Classes))
	case 8:
		var list []Prefix
		if list, err = readPrefixes(table); err == nil {
			prefixes, err = newPrefixTable(list, len(s.Classes))
		}
	}
	if err != nil {
		return keyed{}, err
	}
	a.Shape = s.core()
	return newKeyed(a, s.Classes, hot, prefixes), nil
}

// Merge adds the keys of another weighted filter with the same hasher, group, k of each
// class, and table of digests or prefixes. The classes' shares may differ; f keeps its
// own. Filters of different sizes are merged as in bloom.Filter.Merge. The error wraps
// umbel.ErrMismatch and names the first difference; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	g, err := f.other(kind, s)
	if err != nil {
		return err
	}
	return f.set(f.array.Merge(g))
}

// other returns the array of a filter of kind k that is to be merged into f: see [arrays.Other]. The error also wraps
// umbel.ErrMismatch if its classes or tables differ.
func (f *keyed) other(k arrays.Kind, s umbel.State) (arrays.Array, error) {
	g, err := arrays.Other(f.state(k), s, func(s umbel.State) (keyed, error) { return openKeyed(k, s) })
	if err == nil {
		err = sentinel.Wrap(umbel.ErrMismatch, f.sameClasses(&g))
	}
	return g.array, err
}
