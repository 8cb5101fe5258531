package store

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// The shape of a state is all of it but its cells:
//
//	shape  kind: length, bytes | hasher | number of params | params | number of planes | planes
//	       | number of parts | parts, each a shape
//	hasher algorithm 1, with the highest bit if a seed of 16 follows
//	param  name: length, bytes | type 1: 0 whole, 1 float | value 8
//	plane  width 1 | cells
//
// Numbers are unsigned LEB128, values and seeds little-endian.

const seeded = 0x80

func appendShape(dst []byte, s *umbel.State) []byte {
	dst = appendText(dst, s.Kind)
	if s.Hasher.Seed == (umbel.Seed{}) {
		dst = append(dst, byte(s.Hasher.Alg))
	} else {
		dst = append(dst, byte(s.Hasher.Alg)|seeded)
		dst = binary.LittleEndian.AppendUint64(dst, s.Hasher.Seed.Lo)
		dst = binary.LittleEndian.AppendUint64(dst, s.Hasher.Seed.Hi)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Params)))
	for _, p := range s.Params {
		dst = appendText(dst, p.Name)
		dst = append(dst, kindOf(p.Value))
		dst = binary.LittleEndian.AppendUint64(dst, p.Value.Bits())
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Arrays)))
	for _, p := range s.Arrays {
		dst = append(dst, byte(max(p.Width, 1)))
		dst = binary.AppendUvarint(dst, p.Len)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Parts)))
	for i := range s.Parts {
		dst = appendShape(dst, &s.Parts[i])
	}
	return dst
}

func kindOf(n umbel.Number) byte {
	if n.IsFloat() {
		return 1
	}
	return 0
}

// readShape reads a shape. Its planes have no words: nothing is allocated for them.
// What goes beyond the limits wraps umbel.ErrLimit.
func readShape(c *cursor, l wire.Limits) (umbel.State, error) {
	s := readPart(c, &l, umbel.MaxDepth)
	return s, c.err
}

func readPart(c *cursor, l *wire.Limits, depth int) (s umbel.State) {
	if depth == 0 {
		c.fail("parts nest deeper than %d", umbel.MaxDepth)
		return s
	}
	if l.States == 0 {
		c.refuse("more parts than are allowed")
		return s
	}
	l.States--
	s.Kind = c.text()
	alg := c.byte()
	s.Hasher.Alg = umbel.Alg(alg &^ seeded)
	if alg&seeded != 0 {
		s.Hasher.Seed.Lo, s.Hasher.Seed.Hi = c.uint64(), c.uint64()
	}
	for range c.small("params", math.MaxUint8) {
		p := umbel.Param{Name: c.text()}
		switch kind := c.byte(); kind {
		case 0:
			p.Value = umbel.Uint(c.uint64())
		case 1:
			p.Value = umbel.Float(math.Float64frombits(c.uint64()))
		default:
			c.fail("parameter %q is of type %d", p.Name, kind)
		}
		if c.err != nil {
			return s
		}
		s.Params = append(s.Params, p)
	}
	for range c.small("planes", math.MaxUint8) {
		p := cells.Array{Width: uint(c.byte()), Len: c.uvarint()}
		words, err := cells.WordsFor(p.Len, p.Width)
		if err != nil {
			c.fail("%v", err)
		} else if words*8 > l.Bytes {
			c.refuse(fmt.Sprintf("a plane of %d bytes where %d are allowed", words*8, l.Bytes))
		}
		if c.err != nil {
			return s
		}
		l.Bytes -= words * 8
		s.Arrays = append(s.Arrays, p)
	}
	for range c.small("parts", math.MaxUint16) {
		part := readPart(c, l, depth-1)
		if c.err != nil {
			return s
		}
		s.Parts = append(s.Parts, part)
	}
	return s
}

// refuse is fail for what may be well-formed and is too large.
func (c *cursor) refuse(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("store: %s: %w", what, umbel.ErrLimit)
	}
	c.b = nil
}

// planes yields the planes of a state and then those of its parts, depth first, with the
// numbers that engine.Segment gives them.
func planes(s *umbel.State) iter.Seq2[int, *cells.Array] {
	return func(yield func(int, *cells.Array) bool) {
		n := 0
		var walk func(s *umbel.State) bool
		walk = func(s *umbel.State) bool {
			for i := range s.Arrays {
				if !yield(n, &s.Arrays[i]) {
					return false
				}
				n++
			}
			for i := range s.Parts {
				if !walk(&s.Parts[i]) {
					return false
				}
			}
			return true
		}
		walk(s)
	}
}

// planeBytes returns what the words of a plane take, whether they are there or not.
func planeBytes(p *cells.Array) uint64 {
	words, _ := cells.WordsFor(p.Len, max(p.Width, 1))
	return words * 8
}

// shapeBytes returns what the words of all planes take, whether they are there or not.
func shapeBytes(s *umbel.State) (n uint64) {
	for _, p := range planes(s) {
		n += planeBytes(p)
	}
	return n
}

// materialise gives all planes their words, which are zero.
func materialise(s *umbel.State) error {
	for _, p := range planes(s) {
		full, err := cells.New(p.Len, max(p.Width, 1))
		if err != nil {
			return fmt.Errorf("store: %w: %w", err, umbel.ErrLimit)
		}
		*p = full
	}
	return nil
}

// putWords writes words to dst, which has room for them, little-endian.
func putWords(dst []byte, words []uint64) {
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[8*i:], w)
	}
}

// getWords reads words from src, which has as many.
func getWords(words []uint64, src []byte) {
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
}
