// Package part divides the making of a filter into parts: what each of them reads, and the file that it writes. A part is a
// state of kind "part" in a container (spec/part.md): the filter of the part, which parts it has, and of which inputs. Package
// merging joins parts.
package part

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Kind is the kind of the state of a part. It is no kind of filter: a part lacks keys, or cells.
const Kind = "part"

// MaxParts is the largest number of parts of a filter.
const MaxParts = 1 << 19

// Number is one of several parts, as a user writes it: 3/8.
type Number struct{ Part, Of uint64 }

// Set implements pflag.Value.
func (n *Number) Set(s string) error {
	first, second, ok := strings.Cut(s, "/")
	i, err1 := strconv.ParseUint(first, 10, 64)
	of, err2 := strconv.ParseUint(second, 10, 64)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > of || of > MaxParts {
		return fmt.Errorf("part %.40q: want I/N, as 3/8: I from 1 to N, and N at most %d", s, MaxParts)
	}
	*n = Number{i, of}
	return nil
}

// String returns n as a user writes it.
func (n Number) String() string {
	if n.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", n.Part, n.Of)
}

// Type is the name in the usage line.
func (n *Number) Type() string { return "part" }

// Manifest describes a part, or several parts that were joined.
type Manifest struct {
	Numbers cells.Array // a bit for each part of the filter: whether this file has it
	Inputs  uint64      // identity of all inputs and of the way in which they are divided: see [Inputs.Identity]
	Cells   bool        // parts have different cells of all keys, not different keys
	Keys    uint64      // keys read, including repetitions
}

// ManifestOf returns the manifest of a single part.
func ManifestOf(n Number, inputs uint64, cellRange bool, keys uint64) Manifest {
	m := Manifest{Numbers: numbers(n.Of), Inputs: inputs, Cells: cellRange, Keys: keys}
	m.Numbers.SetBit(n.Part - 1)
	return m
}

func numbers(of uint64) cells.Array {
	a, err := cells.New(of, 1)
	if err != nil {
		panic(err) // of is at most MaxParts
	}
	return a
}

// Of returns the number of parts of the filter.
func (m Manifest) Of() uint64 { return m.Numbers.Len }

// Complete reports whether m has all parts.
func (m Manifest) Complete() bool { return m.Numbers.Nonzero() == m.Of() }

// Each yields the numbers of the parts, from 1 on, that m has, or that it lacks.
func (m Manifest) Each(has bool) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range m.Of() {
			if m.Numbers.Bit(i) == has && !yield(i+1) {
				return
			}
		}
	}
}

// Shares returns a part that m and other have both, and false if there is none.
func (m Manifest) Shares(other Manifest) (number uint64, ok bool) {
	for i := range other.Each(true) {
		if m.Numbers.Bit(i - 1) {
			return i, true
		}
	}
	return 0, false
}

// Covers reports whether m has all parts of other.
func (m Manifest) Covers(other Manifest) bool {
	for i := range other.Each(true) {
		if !m.Numbers.Bit(i - 1) {
			return false
		}
	}
	return true
}

// ErrForeign is wrapped by the error of parts that do not belong together.
var ErrForeign = errors.New("part of another filter")

// Join returns the manifest of both. The error wraps ErrForeign if they are parts of different filters, as far as manifests
// state it.
func (m Manifest) Join(other Manifest) (Manifest, error) {
	switch {
	case m.Of() != other.Of():
		return m, sentinel.Errorf(ErrForeign, "it is one of %d parts, not of %d", other.Of(), m.Of())
	case m.Cells != other.Cells:
		return m, sentinel.Errorf(ErrForeign, "the keys of one are divided, and the cells of the other (--divide)")
	case m.Inputs != other.Inputs:
		return m, sentinel.Errorf(ErrForeign, "it was made of other inputs, or in another division of them: their names, order, sizes and --job "+
			"must be the same for all parts")
	case m.Cells && m.Keys != other.Keys:
		return m, sentinel.Errorf(ErrForeign, "each part by cells reads all keys, and it has read %d, others %d: the inputs have changed", other.Keys, m.Keys)
	}
	joined := m
	joined.Numbers = m.Numbers.Clone()
	if err := joined.Numbers.Sum(other.Numbers); err != nil {
		return m, err
	}
	if !m.Cells {
		joined.Keys += other.Keys
	}
	return joined, nil
}

// paramNames are the parameters of the state of a part.
var paramNames = []string{"inputs", "cells", "keys"}

// State returns the state of a part with filter f.
func (m Manifest) State(f umbel.State) umbel.State {
	values := []uint64{m.Inputs, 0, m.Keys}
	if m.Cells {
		values[1] = 1
	}
	s := umbel.State{Kind: Kind, Hasher: f.Hasher, Notes: f.Notes, Arrays: []cells.Array{m.Numbers}, Parts: []umbel.State{f}}
	for i, name := range paramNames {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(values[i])})
	}
	s.Parts[0].Notes = umbel.Notes{}
	return s
}

// Open returns the manifest in the state of a part, and the state of its filter, whose arrays may be without words. The error wraps
// umbel.ErrCorrupt.
func Open(s umbel.State) (m Manifest, f umbel.State, err error) {
	var byCells uint64
	if err := s.Params.Uints(paramNames, &m.Inputs, &byCells, &m.Keys); err != nil {
		return m, f, err
	}
	if len(s.Arrays) != 1 || len(s.Parts) != 1 || s.Arrays[0].Width != 1 || s.Arrays[0].Len > MaxParts || byCells > 1 {
		return m, f, sentinel.Errorf(umbel.ErrCorrupt, "a part with %d arrays and %d filters, want one of each", len(s.Arrays), len(s.Parts))
	}
	m.Numbers, m.Cells = s.Arrays[0], byCells == 1
	if err := m.Numbers.Check(); err != nil {
		return m, f, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	if m.Numbers.Nonzero() == 0 {
		return m, f, sentinel.Errorf(umbel.ErrCorrupt, "a part without a number")
	}
	f = s.Parts[0]
	f.Notes = s.Notes
	if f.Hasher != s.Hasher {
		return m, f, sentinel.Errorf(umbel.ErrCorrupt, "the part and its filter have different hashers")
	}
	return m, f, nil
}
