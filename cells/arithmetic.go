package cells

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Nonzero returns the number of cells that are not zero.
func (a Array) Nonzero() uint64 {
	l := newLanes(a.width())
	var n uint64
	for _, w := range a.Words {
		n += uint64(bits.OnesCount64(l.nonzero(w)))
	}
	return n
}

// Histogram returns the number of cells with each value from 0 to last-1, and in element last the
// number of cells with a value of at least last. It panics if last is negative.
func (a Array) Histogram(last int) []uint64 {
	h := make([]uint64, last+1)
	if a.width() == 1 && last > 0 {
		h[1] = a.Nonzero()
		h[0] = a.Len - h[1]
		return h
	}
	width, mask := a.width(), a.Limit()
	left := a.Len
	for _, w := range a.Words {
		for range min(left, 64/uint64(width)) {
			h[min(w&mask, uint64(last))]++
			w >>= width
			left--
		}
	}
	return h
}

// checkSame returns an error wrapping ErrShape unless a and b have the same length and width.
func (a Array) checkSame(b Array) error {
	if !a.SameShape(b) {
		return sentinel.Errorf(ErrShape, "%d cells of %d bits and %d cells of %d bits, want equal arrays", a.Len, a.width(), b.Len, b.width())
	}
	return nil
}

// Sum adds each cell of b to that of a, up to the maximum; for bits this is the OR. It returns an
// error wrapping [ErrShape] unless the arrays have the same length and width; on error a is
// unchanged.
func (a Array) Sum(b Array) error {
	if err := a.checkSame(b); err != nil {
		return err
	}
	newLanes(a.width()).add(a.Words, b.Words)
	return nil
}

// Max sets each cell of a to the larger of it and that of b; for bits this is the OR. It returns
// the same errors as Sum.
func (a Array) Max(b Array) error { return a.selectLanes(b, 0) }

// Min sets each cell of a to the smaller of it and that of b; for bits this is the AND. It returns
// the same errors as Sum.
func (a Array) Min(b Array) error { return a.selectLanes(b, ^uint64(0)) }

// selectLanes keeps the larger of two cells, or the smaller if flip is all ones.
func (a Array) selectLanes(b Array, flip uint64) error {
	if err := a.checkSame(b); err != nil {
		return err
	}
	l := newLanes(a.width())
	y := b.Words[:len(a.Words)]
	for i, x := range a.Words {
		keep := l.atLeast(x, y[i]) ^ flip
		a.Words[i] = x&keep | y[i]&^keep
	}
	return nil
}

// ErrLess is wrapped by the error of [Array.Subtract].
var ErrLess = errors.New("smaller than the number to subtract")

// Subtract subtracts each cell of b from that of a. A cell of a at its maximum, and therefore of
// unknown value, keeps it. Subtract returns an error wrapping [ErrLess], with the first such cell,
// if a cell of b is larger than that of a, and an error wrapping [ErrShape] if the arrays differ in
// length or width. On error a is unchanged.
func (a Array) Subtract(b Array) error {
	if err := a.checkSame(b); err != nil {
		return err
	}
	l := newLanes(a.width())
	y := b.Words[:len(a.Words)]
	for i, x := range a.Words {
		if l.atLeast(x, y[i]) != ^uint64(0) {
			return a.less(b, uint64(i)*64/uint64(a.width()))
		}
	}
	for i, x := range a.Words {
		full := ^l.nonzero(^x)
		a.Words[i] = x - y[i] | l.spread(full) // no lane borrows from the next
	}
	return nil
}

// less returns the error for the first cell from i on that is smaller than b's.
func (a Array) less(b Array, i uint64) error {
	for a.Get(i) >= b.Get(i) {
		i++
	}
	return fmt.Errorf("cell %d is %d, want at least %d: %w", i, a.Get(i), b.Get(i), ErrLess)
}

// lanes does arithmetic on all cells of a word at once: Warren, Hacker's Delight, section 2-18. It
// computes the highest bit of each lane separately so that nothing carries into the next lane.
type lanes struct {
	high  uint64 // highest bit of each lane
	shift uint   // from a lane's highest bit to its lowest
}

func newLanes(width uint) lanes {
	low := ^uint64(0) / (^uint64(0) >> (64 - width)) // lowest bit of each lane
	return lanes{low << (width - 1), width - 1}
}

// spread returns a lane of ones for each highest bit that is set in h.
func (l lanes) spread(h uint64) uint64 {
	h &= l.high
	return h<<1 - h>>(l.shift&63)
}

// nonzero returns a word in which the highest bit of a lane is set if that lane of x is not zero.
func (l lanes) nonzero(x uint64) uint64 {
	return (x&^l.high + ^l.high | x) & l.high
}

// sum adds lane by lane; a lane that overflows becomes all ones.
func (l lanes) sum(x, y uint64) uint64 {
	low := x&^l.high + y&^l.high // its highest bits are the carries into x's and y's
	over := x&y | (x|y)&low
	return low ^ (x^y)&l.high | l.spread(over)
}

// atLeast returns a lane of ones for each lane with x >= y.
func (l lanes) atLeast(x, y uint64) uint64 {
	d := (x | l.high) - y&^l.high
	return l.spread(x&^y | ^(x^y)&d)
}

// bits reports whether the lanes are single bits, whose sum is the OR.
func (l lanes) bits() bool { return l.shift == 0 }

// add adds src to dst lane by lane. The slices have equal length.
func (l lanes) add(dst, src []uint64) {
	src = src[:len(dst)]
	if l.bits() {
		for i := range dst {
			dst[i] |= src[i]
		}
		return
	}
	for i := range dst {
		dst[i] = l.sum(dst[i], src[i])
	}
}
