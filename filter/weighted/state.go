package weighted

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/filter/internal/plane"
	"github.com/umbel-filters/umbel/plan"
)

// Kind is the name of this kind of filter.
const Name = "weighted"

// paramNames returns the parameters of a state with so many classes, in order.
func paramNames(classes int) []string {
	names := []string{"k", "group"}
	for i := 1; i < classes; i++ {
		names = append(names, fmt.Sprintf("k%d", i), fmt.Sprintf("members%d", i), fmt.Sprintf("queries%d", i))
	}
	return names
}

// classesOf returns how many classes a state with so many parameters may have.
func classesOf(params int) int { return min(max(params-2, 0)/3, MaxClasses-1) + 1 }

// State returns all there is of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	values := []uint64{0, uint64(f.shape.Group)}
	for i, c := range f.shape.Classes {
		if i == 0 {
			values[0] = uint64(c.K)
			continue
		}
		values = append(values, uint64(c.K), uint64(math.Round(c.Members*billion)), uint64(math.Round(c.Queries*billion)))
	}
	s := umbel.State{Kind: Name, Hasher: f.shape.Hasher, Arrays: []cells.Array{f.cells}}
	for i, name := range paramNames(len(f.shape.Classes)) {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(values[i])})
	}
	switch {
	case !f.hot.empty():
		s.Arrays = append(s.Arrays, cells.Array{Len: uint64(len(f.hot.words)), Width: 64, Words: f.hot.words})
	case !f.prefixes.empty():
		s.Arrays = append(s.Arrays, f.prefixes.plane)
	}
	return s
}

// Open makes the filter that s describes and takes over its memory. For a table of
// digests it makes an index of 6 to 12 bytes for each. The error wraps umbel.ErrKind or
// umbel.ErrCorrupt.
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
		if err := s.Check(); err != nil { // of both planes
			return nil, err
		}
		s.Arrays = s.Arrays[:1]
		if table.Len == 0 || table.Width != 64 && table.Width != 8 {
			return nil, fmt.Errorf("weighted: a table of %d cells of %d bits, want one of 64 bits for each digest or of 8 for each byte of prefixes: %w", table.Len, table.Width, umbel.ErrCorrupt)
		}
	}
	bits, err := plane.Open(Name, s, names, dst...)
	if err != nil {
		return nil, err
	}
	f, err := open(bits, table, values)
	if err != nil {
		return nil, design.Wrap(err, umbel.ErrCorrupt)
	}
	f.shape.Hasher = s.Hasher
	return f, nil
}

// open makes the filter of a plane, of a table, if there is one, and of the values of
// paramNames.
func open(bits, table cells.Array, values []uint64) (*Filter, error) {
	k := func(v uint64) int { return int(min(v, MaxK+1)) }
	share := func(v uint64) float64 { return float64(min(v, 2*billion)) / billion }
	s := Shape{M: bits.Len, Group: uint8(min(values[1], 64)), Classes: []Class{{K: k(values[0])}}}
	var members, queries float64
	for v := values[2:]; len(v) > 0; v = v[3:] {
		s.Classes = append(s.Classes, Class{k(v[0]), share(v[1]), share(v[2])})
		members += float64(min(v[1], 2*billion))
		queries += float64(min(v[2], 2*billion))
	}
	if members > billion || queries > billion {
		return nil, fmt.Errorf("weighted: classes of %.0f and %.0f parts in 10^9 of keys and questions, want at most 10^9", members, queries)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Classes = inBillionths(s.Classes)
	f := &Filter{shape: s}
	var err error
	switch table.Width {
	case 64:
		f.hot, err = newHotTable(table.Words, len(s.Classes))
	case 8:
		var list []Prefix
		if list, err = readPrefixes(table); err == nil {
			f.prefixes, err = newPrefixTable(list, len(s.Classes))
		}
	}
	if err != nil {
		return nil, err
	}
	f.hold(bits)
	return f, nil
}

// Stats measures the filter: see [umbel.Filter]. It counts the bits. Keys and K take
// it that keys are of the classes' shares, FPRate that questions are; Fill and Cells
// are of the bits, Bytes of the table too. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.cells.Len == 0 {
		return umbel.Stats{}
	}
	ones, k := f.cells.Nonzero(), f.shape.meanK()
	n := plan.KeysInterval(f.cells.Len, 1, ones)
	s := umbel.Stats{
		Keys: n.Value / k, Low: n.Low / k, High: n.High / k,
		Fill: float64(ones) / float64(f.cells.Len), Cells: f.cells.Len, K: k,
		Bytes: f.State().Bytes(),
	}
	for _, c := range f.shape.Classes {
		s.FPRate += c.Queries * plan.FPRateAtFill(s.Fill, c.K)
	}
	return s
}

// AppendBinary appends the filter's container to dst: see package wire. On error,
// which the zero Filter is, dst comes back as it was.
func (f *Filter) AppendBinary(dst []byte) ([]byte, error) { return plane.Append(dst, f.State()) }

// MarshalBinary is AppendBinary(nil).
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// UnmarshalBinary makes f the filter in a container, within the zero wire.Limits; for
// a larger one there are wire.Parse and Open. On error f is as it was.
func (f *Filter) UnmarshalBinary(b []byte) error { return plane.Unmarshal(f, b, Open) }
