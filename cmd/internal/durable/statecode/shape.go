package statecode

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// A shape:
//
//	shape  kind: length, bytes | hasher | number of params | params | number of arrays | arrays
//	       | number of parts | parts, each a shape
//	hasher algorithm 1, with the highest bit if a seed of 16 follows, with the second highest if what
//	       the filter was planned for follows: keys 8, rate 8; with the third highest if the length of a
//	       tick follows: nanoseconds 8
//	param  name: length, bytes | type 1: 0 whole, 1 float | value 8
//	array  width 1 | cells
//
// Numbers are unsigned LEB128, values and seeds little-endian.

const (
	seeded  = 0x80
	planned = 0x40
	ticking = 0x20
)

// Append appends the shape of a state.
func Append(dst []byte, s *umbel.State) []byte {
	dst = AppendText(dst, s.Kind)
	dst = append(dst, byte(s.Hasher.Alg))
	head := len(dst) - 1
	if s.Hasher.Seed != (umbel.Seed{}) {
		dst[head] |= seeded
		seed := s.Hasher.Seed.Bytes()
		dst = append(dst, seed[:]...)
	}
	if s.Planned != (umbel.Planned{}) {
		dst[head] |= planned
		dst = binary.LittleEndian.AppendUint64(dst, s.Planned.Keys)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.Planned.FPRate))
	}
	if s.Tick != 0 {
		dst[head] |= ticking
		dst = binary.LittleEndian.AppendUint64(dst, s.Tick)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Params)))
	for _, p := range s.Params {
		dst = AppendText(dst, p.Name)
		dst = append(dst, kindOf(p.Value))
		dst = binary.LittleEndian.AppendUint64(dst, p.Value.Bits())
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Arrays)))
	for _, p := range s.Arrays {
		dst = append(dst, byte(p.Width))
		dst = binary.AppendUvarint(dst, p.Len)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Parts)))
	for i := range s.Parts {
		dst = Append(dst, &s.Parts[i])
	}
	return dst
}

func kindOf(n umbel.Number) byte {
	if n.IsFloat() {
		return 1
	}
	return 0
}

// Read reads a shape. Its arrays have no words: nothing is allocated for them. The error
// wraps umbel.ErrLimit if the state exceeds the limits, or umbel.ErrCorrupt.
func Read(c *Cursor, l wire.Limits) (umbel.State, error) {
	states := 0
	s := readPart(c, &l, &states, umbel.MaxDepth)
	return s, c.Err
}

func readPart(c *Cursor, l *wire.Limits, states *int, depth int) (s umbel.State) {
	if depth == 0 {
		c.Fail("parts nest deeper than %d", umbel.MaxDepth)
		return s
	}
	if *states++; *states > umbel.MaxStates {
		c.Fail("more than %d states with all parts", umbel.MaxStates)
		return s
	}
	s.Kind = c.Text()
	alg := c.Byte()
	s.Hasher.Alg = umbel.Alg(alg &^ (seeded | planned | ticking))
	if alg&seeded != 0 {
		var seed [16]byte
		copy(seed[:], c.Bytes(uint64(len(seed))))
		s.Hasher.Seed = umbel.SeedFrom(seed)
	}
	if alg&planned != 0 {
		s.Planned.Keys, s.Planned.FPRate = c.Uint64(), math.Float64frombits(c.Uint64())
		if err := s.Planned.Check(); err != nil {
			c.Fail("%v", err)
		}
	}
	if alg&ticking != 0 {
		if s.Tick = c.Uint64(); s.Tick == 0 || s.Tick > math.MaxInt64 {
			c.Fail("a tick of %d nanoseconds", s.Tick)
		}
	}
	for range c.Small("params", math.MaxUint8) {
		p := umbel.Param{Name: c.Text()}
		switch kind := c.Byte(); kind {
		case 0:
			p.Value = umbel.Uint(c.Uint64())
		case 1:
			p.Value = umbel.Float(math.Float64frombits(c.Uint64()))
		default:
			c.Fail("parameter %q is of type %d", p.Name, kind)
		}
		if c.Err != nil {
			return s
		}
		s.Params = append(s.Params, p)
	}
	for range c.Small("arrays", math.MaxUint8) {
		p := cells.Array{Width: uint(c.Byte()), Len: c.Uvarint()}
		words, err := cells.WordsFor(p.Len, p.Width)
		if err != nil {
			c.Fail("%v", err)
		} else if words*8 > l.Bytes {
			c.refuse(fmt.Sprintf("an array of %d bytes where %d are allowed", words*8, l.Bytes))
		}
		if c.Err != nil {
			return s
		}
		l.Bytes -= words * 8
		s.Arrays = append(s.Arrays, p)
	}
	for range c.Small("parts", umbel.MaxStates) {
		part := readPart(c, l, states, depth-1)
		if c.Err != nil {
			return s
		}
		s.Parts = append(s.Parts, part)
	}
	return s
}

// refuse is Fail for what may be well-formed but is too large.
func (c *Cursor) refuse(what string) {
	if c.Err == nil {
		c.Err = sentinel.Errorf(umbel.ErrLimit, "%s", what)
	}
	c.Rest = nil
}

// ArrayBytes returns the size of the words of an array, whether it has them or not.
func ArrayBytes(a cells.Array) uint64 {
	words, _ := cells.WordsFor(a.Len, a.Width)
	return words * 8
}

// Size returns the size of the words of all arrays, whether they have them or not.
func Size(s *umbel.State) (n uint64) {
	for _, a := range s.AllArrays() {
		n += ArrayBytes(a)
	}
	return n
}

// Materialise gives all arrays their words, which are zero.
func Materialise(s *umbel.State) error {
	arrays := s.AllArrays()
	for i, a := range arrays {
		var err error
		if arrays[i], err = cells.New(a.Len, a.Width); err != nil {
			return sentinel.Wrap(umbel.ErrLimit, err)
		}
	}
	*s = s.WithArrays(arrays)
	return nil
}
