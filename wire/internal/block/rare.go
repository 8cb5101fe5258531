package block

import (
	"encoding/binary"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
)

// A block of few cells that aren't zero takes some bytes more than their entropy: its coding, the length of its payload, its
// level, and the part of a byte at the end. Blocks that follow each other have them once if they are one run in coding Rare,
// until it has enough cells that the bytes don't matter. It has no more cells because a query that touches one of them
// decodes them all.
const (
	// fewCells is the most cells of a block of a run. With more, the bytes are less than 0.2 % of the block.
	fewCells = 1 << 11
	// runCells is the most cells of a run. A reader accepts [model.MaxRare].
	runCells = 1 << 13
)

// list lists the cells of the block b that aren't zero, if it may be part of a run.
func (e *Encoded) list(b cells.Array, runs bool) {
	e.Rare.Reset()
	e.IsRare = runs && (e.Coding == Empty || e.Coding != Full && e.few(b))
	if !e.IsRare || e.Coding == Empty {
		return
	}
	perWord := 64 / b.Width
	for i, w := range b.Words {
		for w != 0 {
			at := uint(bits.TrailingZeros64(w)) / b.Width
			v := w >> (at * b.Width) & b.Limit()
			w &^= v << (at * b.Width)
			e.Rare.At = append(e.Rare.At, uint32(uint(i)*perWord+at))
			if b.Width > 1 {
				e.Rare.Values = append(e.Rare.Values, v)
			}
		}
	}
}

// few reports whether few cells of the block b aren't zero.
func (e *Encoded) few(b cells.Array) bool {
	if b.Width == 1 {
		return e.ones <= fewCells
	}
	return len(e.Payload) <= 4*fewCells && b.Nonzero() <= fewCells
}

// Runner collects blocks of an array for a run. Its zero value is an empty run.
type Runner struct {
	Apart   []byte    // the encoded blocks, one after the other
	Each    []Written // what Apart has of each
	rare    model.Rare
	cells   uint64
	payload []byte
	modeler model.Modeler
}

// Written is what was written of some blocks.
type Written struct {
	Coding        byte
	Blocks, Bytes uint64
}

// Fits reports whether the encoded block b, which may be part of a run, takes fewer bytes as part of this one.
func (r *Runner) Fits(e *Encoded, b cells.Array) bool {
	x, more := uint64(len(r.rare.At)), uint64(len(e.Rare.At))
	n := len(r.Each)
	return n == 0 || n < MaxRun && x+more <= runCells &&
		rareBits(x+more, r.cells+b.Len)-rareBits(x, r.cells) < 8<<logBits*uint64(e.Bytes(b))
}

// Add adds an encoded block to the run.
func (r *Runner) Add(e *Encoded, b cells.Array) {
	r.Apart = e.Append(r.Apart, b)
	for _, at := range e.Rare.At {
		r.rare.At = append(r.rare.At, uint32(r.cells)+at)
	}
	r.rare.Values = append(r.rare.Values, e.Rare.Values...)
	r.cells += b.Len
	r.Each = append(r.Each, Written{e.Coding, 1, uint64(e.Bytes(b))})
}

// Append appends the run, of cells of the given width, if it takes fewer bytes than its blocks apart. Otherwise it returns
// false.
func (r *Runner) Append(dst []byte, width uint) (run []byte, ok bool) {
	if len(r.Each) < 2 {
		return dst, false
	}
	r.payload = r.modeler.AppendRare(r.payload[:0], r.rare, r.cells, width)
	run = AppendPayload(binary.AppendUvarint(append(dst, Rare), uint64(len(r.Each))), r.payload)
	return run, len(r.payload) < 8*Words && len(run)-len(dst) < len(r.Apart)
}

// Reset empties the run.
func (r *Runner) Reset() {
	r.rare.Reset()
	r.cells, r.Apart, r.Each = 0, r.Apart[:0], r.Each[:0]
}

// logBits is the number of bits after the point of a logarithm.
const logBits = 16

// rareBits returns the bits that the positions of x random cells of n take, about x*(log2(n/x) + 1/ln 2), times 2^16.
func rareBits(x, n uint64) uint64 {
	if x == 0 {
		return 0
	}
	const inverse = 94548 // of ln 2
	return x * (log2(n) + inverse - log2(x))
}

// log2 returns the logarithm of v > 0 in units of 2^-16, rounded down.
func log2(v uint64) uint64 {
	r := uint64(bits.Len64(v)) - 1
	v <<= 63 - r
	for range logBits {
		// v is 2^63 times a number from 1 to 2.
		square, _ := bits.Mul64(v, v)
		r <<= 1
		if square>>63 == 1 {
			r, v = r+1, square
		} else {
			v = square << 1
		}
	}
	return r
}
