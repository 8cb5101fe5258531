package umbel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The limits of a state. Filters stay within them when they grow or merge, so that each can be written, and
// everything that is written can be read.
const (
	// MaxDepth is the maximum depth of nested states. A state without parts has depth 1.
	MaxDepth = 4
	// MaxStates is the maximum number of states of a filter: its own, its parts, and theirs. A query visits all parts.
	MaxStates = 4096
	// maxCount is the maximum number of parameters, and of arrays, of one state.
	maxCount = 255
)

// State is the complete contents of a filter as plain data. Containers, deltas, inspection
// and storage work with it for every kind.
type State struct {
	Kind   string // fixes stream, mapping, layout and the meaning of Params
	Hasher Hasher
	Params Params        // in the order of the kind's specification
	Arrays []cells.Array // of bits or counters
	Parts  []State       // of a composed filter
	Notes                // of a whole filter; those of parts are not written

	wordless bool // the first array has no words
}

// WithoutWords returns s without the words of its first array, for [Kind].Locator. Check accepts it.
func (s State) WithoutWords() State {
	s.wordless = true
	if s.Arrays = slices.Clone(s.Arrays); len(s.Arrays) > 0 {
		s.Arrays[0].Words = nil
	}
	return s
}

// Notes describe a filter and are not part of its contents: Equal and IDs ignore them.
type Notes struct {
	// Planned is what the filter was made for.
	Planned Planned
	// Tick is the length of a tick of the filter's time (see [Advancer]), in nanoseconds up to 2^63-1, if ticks
	// are counted from 1970-01-01T00:00:00Z. It is 0 if the program chose their unit and origin itself.
	Tick uint64
}

// MarshalJSON returns an error that wraps errors.ErrUnsupported: JSON would not contain the hasher's seed, without which
// the arrays answer nothing. A field of type []byte with the container of package wire holds a whole state.
func (s State) MarshalJSON() ([]byte, error) {
	return nil, sentinel.Errorf(errors.ErrUnsupported, "a State has no JSON: use a field of type []byte with its container (wire.Append)")
}

// Clone returns a copy of s that shares no memory with it.
func (s State) Clone() State {
	s.Params = slices.Clone(s.Params)
	s.Arrays = slices.Clone(s.Arrays)
	for i, p := range s.Arrays {
		s.Arrays[i] = p.Clone()
	}
	s.Parts = slices.Clone(s.Parts)
	for i, p := range s.Parts {
		s.Parts[i] = p.Clone()
	}
	return s
}

// Equal reports whether s and t have the same kind, hasher, parameters, arrays and parts,
// each in the same order. It ignores the notes.
func (s State) Equal(t State) bool {
	return s.Kind == t.Kind && s.Hasher == t.Hasher && slices.Equal(s.Params, t.Params) &&
		slices.EqualFunc(s.Arrays, t.Arrays, cells.Array.Equal) && slices.EqualFunc(s.Parts, t.Parts, State.Equal)
}

// Check returns an error wrapping [ErrCorrupt] if s cannot be the state of a filter of any
// kind: if it has an invalid name or hasher, a float that is not finite, a malformed array,
// more than 255 parameters or arrays, parts nested deeper than [MaxDepth], more than [MaxStates] states, a [Planned]
// out of range, or a Tick above 2^63-1.
func (s State) Check() error {
	if n := s.States(); n > MaxStates {
		return sentinel.Errorf(ErrCorrupt, "%d states with all parts, want at most %d", n, MaxStates)
	}
	return s.check(MaxDepth)
}

func (s State) check(depth int) error {
	if depth == 0 {
		return sentinel.Errorf(ErrCorrupt, "parts nest deeper than %d", MaxDepth)
	}
	if len(s.Params) > maxCount || len(s.Arrays) > maxCount {
		return sentinel.Errorf(ErrCorrupt, "%d parameters and %d arrays, want at most %d of each", len(s.Params), len(s.Arrays), maxCount)
	}
	if err := CheckName(s.Kind); err != nil {
		return err
	}
	if err := s.Hasher.Check(); err != nil {
		return sentinel.Wrap(ErrCorrupt, err)
	}
	for i, p := range s.Params {
		if err := CheckName(p.Name); err != nil {
			return err
		}
		if _, twice := s.Params[:i].Get(p.Name); twice {
			return sentinel.Errorf(ErrCorrupt, "parameter %q appears twice", p.Name)
		}
		if f := p.Value.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return sentinel.Errorf(ErrCorrupt, "parameter %q is %v, want a finite number", p.Name, f)
		}
	}
	for i, p := range s.Arrays {
		err := p.Check()
		if i == 0 && s.wordless {
			_, err = cells.WordsFor(p.Len, p.Width)
		}
		if err != nil {
			return sentinel.Errorf(ErrCorrupt, "array %d: %w", i, err)
		}
	}
	for i, p := range s.Parts {
		if err := p.check(depth - 1); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	if s.Tick > math.MaxInt64 {
		return sentinel.Errorf(ErrCorrupt, "a tick of %d nanoseconds, want at most 2^63-1", s.Tick)
	}
	return s.Planned.Check()
}

// CheckMatch returns nil if s and t have the same kind and hasher. Otherwise the error wraps
// [ErrMismatch] and contains the first difference, but no seed. CheckMatch does not compare
// sizes, because some kinds merge filters of different sizes.
func (s State) CheckMatch(t State) error {
	switch {
	case s.Kind != t.Kind:
		return sentinel.Errorf(ErrMismatch, "one filter is %s, the other %s", s.Kind, clip(t.Kind))
	case s.Hasher.Alg != t.Hasher.Alg:
		return sentinel.Errorf(ErrMismatch, "one filter hashes with %s, the other with %s", s.Hasher, t.Hasher)
	case s.Hasher != t.Hasher:
		return sentinel.Errorf(ErrMismatch, "both filters hash with %s, but their seeds differ", s.Hasher.Alg)
	}
	return nil
}

// CheckName returns an error wrapping [ErrCorrupt] unless name is a valid name of a kind or
// a parameter: 1 to 64 of a-z, 0-9, '-', '.' and '/'. The last two are for kinds of other
// modules, whose names begin with the domain of their maker.
func CheckName(name string) error {
	valid := 0
	for valid < len(name) && isNameByte(name[valid]) {
		valid++
	}
	if len(name) == 0 || len(name) > 64 || valid < len(name) {
		// What follows in a damaged container may be a seed.
		return sentinel.Errorf(ErrCorrupt, "name of %d bytes begins with %q: want 1 to 64 of a-z, 0-9, '-', '.', '/'", len(name), clip(name[:valid]))
	}
	return nil
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '/'
}

// Param is a named number of a state. Names consist of lower-case letters, digits and
// hyphens.
type Param struct {
	Name  string
	Value Number
}

// Number is an unsigned integer or a finite float. Its zero value is the integer 0. Numbers
// are comparable with ==.
type Number struct {
	bits  uint64
	float bool
}

// Uint returns the integer u.
func Uint(u uint64) Number { return Number{bits: u} }

// Float returns the float f. Floats record what was planned; no position depends on one.
func Float(f float64) Number { return Number{bits: math.Float64bits(f), float: true} }

// IsFloat reports whether n is a float.
func (n Number) IsFloat() bool { return n.float }

// Bits returns an integer itself, and the IEEE 754 bits of a float.
func (n Number) Bits() uint64 { return n.bits }

// Float returns n as a float, rounded if it is an integer above 2^53.
func (n Number) Float() float64 {
	if n.float {
		return math.Float64frombits(n.bits)
	}
	return float64(n.bits)
}

// String returns n in decimal.
func (n Number) String() string {
	if n.float {
		return fmt.Sprint(n.Float())
	}
	return fmt.Sprint(n.bits)
}

// MarshalText returns String, so that JSON of parameters contains their values.
func (n Number) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// Params are the named numbers of a state, in the order of the kind's specification. The
// Params of Kind.New may have any order.
type Params []Param

// Get returns the number with the given name, and whether it is present.
func (ps Params) Get(name string) (Number, bool) {
	for _, p := range ps {
		if p.Name == name {
			return p.Value, true
		}
	}
	return Number{}, false
}

// Uint returns the integer with the given name, and 0 if it is absent or a float.
func (ps Params) Uint(name string) uint64 {
	n, _ := ps.Get(name)
	if n.float {
		return 0
	}
	return n.bits
}

// Uints sets *dst[i] to the integer named names[i]. The error wraps [ErrCorrupt] unless ps
// consists of integers with exactly these names, in this order.
func (ps Params) Uints(names []string, dst ...*uint64) error {
	if len(ps) != len(names) {
		return sentinel.Errorf(ErrCorrupt, "%d parameters, want %d %v", len(ps), len(names), names)
	}
	for i, p := range ps {
		if p.Name != names[i] || p.Value.float {
			return sentinel.Errorf(ErrCorrupt, "parameter %d is %q = %v, want a whole number %q",
				i, clip(p.Name), p.Value, names[i])
		}
		*dst[i] = p.Value.bits
	}
	return nil
}
