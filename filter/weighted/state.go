package weighted

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// paramNames returns the parameters of a state with that many classes, in order.
func paramNames(classes int) []string {
	names := []string{"k", "group"}
	for i := 1; i < classes; i++ {
		names = append(names, fmt.Sprintf("k%d", i), fmt.Sprintf("members%d", i), fmt.Sprintf("queries%d", i))
	}
	return names
}

// classesOf returns the number of classes that a state with that many parameters may
// have.
func classesOf(params int) int { return min(max(params-2, 0)/3, maxClasses-1) + 1 }

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	values := []uint64{0, uint64(f.array.Shape.Group)}
	for i, c := range f.classes {
		if i == 0 {
			values[0] = uint64(c.K)
			continue
		}
		values = append(values, uint64(c.K), uint64(math.Round(c.Members*billion)), uint64(math.Round(c.Queries*billion)))
	}
	s := umbel.State{Kind: Name, Hasher: f.array.Shape.Hasher, Arrays: []cells.Array{f.array.Cells}, Notes: umbel.Notes{Planned: f.array.Planned}}
	for i, name := range paramNames(len(f.classes)) {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(values[i])})
	}
	switch {
	case !f.hot.isEmpty():
		s.Arrays = append(s.Arrays, cells.Array{Len: uint64(len(f.hot.words)), Width: 64, Words: f.hot.words})
	case !f.prefixes.isEmpty():
		s.Arrays = append(s.Arrays, f.prefixes.array)
	}
	return s
}

// Open returns the filter with state s and takes over its memory. A table of digests takes an
// index of 6 to 12 bytes per digest. The error wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	names := paramNames(classesOf(len(s.Params)))
	values := make([]uint64, len(names))
	dst := make([]*uint64, len(names))
	for i := range values {
		dst[i] = &values[i]
	}
	var table cells.Array
	if s.Kind == Name && len(s.Arrays) == 2 {
		table = s.Arrays[1]
		if err := s.Check(); err != nil { // of both arrays
			return nil, err
		}
		s.Arrays = s.Arrays[:1]
		if table.Len == 0 || table.Width != 64 && table.Width != 8 {
			return nil, sentinel.Errorf(umbel.ErrCorrupt,
				"weighted: a table of %d cells of %d bits, want 64 bits per digest or 8 bits per byte of the prefixes", table.Len, table.Width)
		}
	}
	bits, err := kind.OpenCells(s, names, dst...)
	if err != nil {
		return nil, err
	}
	f, err := open(bits, table, values, s.Hasher)
	if err != nil {
		return nil, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	f.array.Planned = s.Planned
	return f, nil
}

// open returns the filter of an array of bits, of a table, which may be empty, and of the
// values of paramNames.
func open(bits, table cells.Array, values []uint64, h umbel.Hasher) (*Filter, error) {
	k := func(v uint64) int { return int(min(v, MaxK+1)) }
	share := func(v uint64) float64 { return float64(min(v, 2*billion)) / billion }
	s := Shape{M: bits.Len, Group: uint8(min(values[1], 64)), Classes: []Class{{K: k(values[0])}}, Hasher: h}
	var members, queries float64
	for v := values[2:]; len(v) > 0; v = v[3:] {
		s.Classes = append(s.Classes, Class{k(v[0]), share(v[1]), share(v[2])})
		members += float64(min(v[1], 2*billion))
		queries += float64(min(v[2], 2*billion))
	}
	if members > billion || queries > billion {
		return nil, fmt.Errorf("weighted: the classes from 1 on have %.0f·10^-9 of the keys and %.0f·10^-9 of the queries, want at most 10^9", members, queries)
	}
	if err := s.check(); err != nil {
		return nil, err
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
		return nil, err
	}
	return newFilter(arrays.Array{Kind: kind, Shape: s.core(), Cells: bits}, inBillionths(s.Classes), hot, prefixes), nil
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. Keys and K assume
// the classes' shares of the keys, FPRate their shares of the queries. Fill and Cells
// describe the bits; Bytes includes the table. The stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	a := f.array.Cells
	if a.Len == 0 {
		return umbel.Stats{}
	}
	ones, k := a.Nonzero(), meanK(f.classes)
	n := f.array.Keys(func(m, ones uint64) plan.Estimate { return plan.Filter{M: m, K: 1}.Keys(ones) })
	s := umbel.Stats{
		Keys: n.Value / k, Low: n.Low / k, High: n.High / k,
		Fill: float64(ones) / float64(a.Len), Cells: a.Len, K: k,
		Bytes: f.State().Bytes(),
	}
	for _, c := range f.classes {
		s.FPRate += c.Queries * plan.FPRateAtFill(s.Fill, c.K)
	}
	return s
}

// Merge adds the keys of another weighted filter with the same hasher, group, k of each
// class, and table of digests or prefixes. The classes' shares may differ; f keeps its
// own. Filters of different sizes are merged as in bloom.Filter.Merge. The error wraps
// umbel.ErrMismatch and names the first difference; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	g, err := arrays.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if err := f.sameClasses(g); err != nil {
		return sentinel.Wrap(umbel.ErrMismatch, err)
	}
	return f.set(f.array.Merge(g.array))
}

// sameClasses returns an error, which wraps no sentinel, if the classes or tables of f and
// g differ.
func (f *Filter) sameClasses(g *Filter) error {
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
