package entropy

import (
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Positions reads the code of [AppendRice] one position after the other, for strings that are too long
// to have in memory, and for codes that other bytes follow. A copy continues on its own.
type Positions struct {
	r    bitReader
	k    uint
	left uint64
	at   uint64 // the first position that may be next
	end  uint64 // length of the string
	err  error
}

// ReadPositions returns a reader of the code of a string of length bits at the beginning of src, which it
// keeps. Its error wraps [ErrCorrupt].
func ReadPositions(src []byte, length uint64) (Positions, error) {
	ones, k, src, err := riceHead(src, length)
	if err != nil {
		return Positions{}, err
	}
	if bits := 8 * uint64(len(src)); ones > bits/uint64(k+1) {
		return Positions{}, sentinel.Errorf(ErrCorrupt, "%d bits for %d ones", bits, ones)
	}
	return Positions{r: bitReader{src: src}, k: k, left: ones, end: length}, nil
}

// Left returns the number of positions that were not read. At the beginning it is at most 8 times the length
// of the code in bytes.
func (p *Positions) Left() uint64 { return p.left }

// None is what [Positions.Next] returns at the end. No string is so long.
const None = math.MaxUint64

// Next returns the next position, in ascending order, and None after the last one or at an error, which End
// returns.
func (p *Positions) Next() uint64 {
	if p.left == 0 || p.err != nil {
		return None
	}
	g, ok := p.r.gap(p.k)
	if !ok || g >= p.end-p.at {
		p.err = sentinel.Errorf(ErrCorrupt, "a gap that is cut off, or longer than the %d bits that are left", p.end-p.at)
		return None
	}
	at := p.at + g
	p.left, p.at = p.left-1, at+1
	return at
}

// End returns the bytes after the code, after the positions that are left. Its error wraps [ErrCorrupt].
func (p *Positions) End() (rest []byte, err error) {
	for p.Next() != None {
	}
	if p.err != nil {
		return nil, p.err
	}
	n := (p.r.at + 7) / 8
	code := p.r
	code.src = code.src[:n]
	return p.r.src[n:], code.end()
}
