package wire

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
)

// segment is a job of a delta: blocks that follow each other in a plane, and those
// before them that are kept. Blocks in which about as many bits differ from what is
// expected are coded together: what it takes to begin a code, a few bytes, is then
// spent once. Between those with few changes there may be some with none.
type segment struct {
	kept     uint64 // blocks before it that are as expected
	n        uint64 // blocks of it; 0 where the plane ends
	cells    cells.Array
	expected cells.Array
	flips    uint64 // bits that differ
	bytes    []byte // what is written of it
	codec    codec
	payload  []byte
	diff     []uint64
}

// The most blocks of a segment, 1 MiB of them; of one in which few bits differ anywhere
// 4 MiB, where its code would otherwise be mostly its beginning.
const (
	mostBlocks = 16
	mostQuiet  = 64
	quietFlips = 16 // of a block
)

// quietFactor is how many bits there are for each that differs where positions take
// less than arithmetic coding, whose odds end at 2^-16. Of counters a payload of fewBytes
// isn't worth looking for a shorter one.
const (
	quietFactor = 1 << 17
	fewBytes    = 32
)

// segments returns a step that finds the next segment of a plane, in which so many
// blocks may go together.
func segments(a, expected cells.Array, most uint64) func(*segment) bool {
	total, next := numBlocks(a), uint64(0)
	return func(g *segment) bool {
		g.kept, g.n, g.flips = 0, 0, 0
		for next < total && slices.Equal(blockOf(a, next).Words, blockOf(expected, next).Words) {
			next++
			g.kept++
		}
		if next == total {
			return g.kept > 0
		}
		g.n, g.flips = 1, flips(blockOf(a, next), blockOf(expected, next))
		if plain(blockOf(a, next)) == raw {
			g.extend(a, expected, next, min(most, total-next))
		}
		g.cells, g.expected = blocksOf(a, next, g.n), blocksOf(expected, next, g.n)
		next += g.n
		return true
	}
}

// extend adds blocks to a segment that begins with block i, up to most.
func (g *segment) extend(a, expected cells.Array, i, most uint64) {
	low, high, all := g.flips, g.flips, g.flips
	for n := uint64(1); n < most; n++ {
		b := blockOf(a, i+n)
		d := flips(b, blockOf(expected, i+n))
		low, high, all = min(low, d), max(high, d), all+d
		if high > 2*low+quietFlips || high > quietFlips && n >= mostBlocks || d > 0 && plain(b) != raw {
			return
		}
		if d > 0 {
			g.n, g.flips = n+1, all
		}
	}
}

// flips returns in how many bits two arrays differ.
func flips(a, b cells.Array) (n uint64) {
	y := b.Words[:len(a.Words)]
	for i, w := range a.Words {
		n += uint64(bits.OnesCount64(w ^ y[i]))
	}
	return n
}

// blocksOf returns n blocks of an array from block i on; it shares the memory of a.
func blocksOf(a cells.Array, i, n uint64) cells.Array {
	per := blockCells(a)
	b := cells.Array{Len: min(n*per, a.Len-i*per), Width: max(a.Width, 1)}
	b.Words = a.Words[i*blockWords:][:wordsOf(b)]
	return b
}

// code codes the segment in as few bytes as it takes: few flips by their positions, others
// by what is expected.
func (g *segment) code() {
	g.bytes = g.bytes[:0]
	switch {
	case g.n == 0:
	case g.n == 1 && plain(g.cells) != raw:
		g.bytes, _ = g.codec.append(g.bytes, g.cells)
	case g.flips*quietFactor < g.bits():
		g.payload = entropy.AppendRice(g.payload[:0], g.difference())
		g.append(flipped)
		if g.cells.Width > 1 && len(g.payload) > fewBytes {
			g.try()
		}
	default:
		g.payload = g.codec.model.AppendDelta(g.payload[:0], g.expected, g.cells)
		if !g.doubtful() || !g.shorter() {
			g.append(given)
		}
	}
}

// try codes the segment by what is expected, if that is shorter. One counter that
// changes flips several bits.
func (g *segment) try() {
	before := len(g.payload)
	g.payload = g.codec.model.AppendDelta(g.payload[:0], g.expected, g.cells)
	if len(g.payload) < before {
		g.bytes = g.bytes[:0]
		g.append(given)
	}
}

// bits returns how many bits the words of the segment have.
func (g *segment) bits() uint64 { return g.cells.Bytes() * 8 }

// doubtful reports whether the segment may be shorter without what is expected. Bits are
// never longer by it but for a byte or two; counters may be, by how far they fell.
func (g *segment) doubtful() bool {
	return 32*uint64(len(g.payload)) > g.bits() || g.cells.Width > 1 && 32*g.flips > g.bits()
}

// shorter codes the segment as a container has it, and reports whether that is shorter;
// otherwise it takes it back.
func (g *segment) shorter() bool {
	for b := range blocks(g.cells) {
		g.bytes, _ = g.codec.append(g.bytes, b)
	}
	if len(g.bytes) <= 2+payloadBytes(len(g.payload)) {
		return true
	}
	g.bytes = g.bytes[:0]
	return false
}

// append appends the payload, with what comes before it.
func (g *segment) append(coding byte) {
	if g.n == 1 {
		g.bytes = append(g.bytes, coding)
	} else {
		g.bytes = binary.AppendUvarint(append(g.bytes, coding+1), g.n)
	}
	g.bytes = appendPayload(g.bytes, g.payload)
}

// difference returns the bits in which the segment isn't as expected.
func (g *segment) difference() entropy.Bits {
	g.diff = slices.Grow(g.diff[:0], len(g.cells.Words))[:len(g.cells.Words)]
	for i, w := range g.cells.Words {
		g.diff[i] = w ^ g.expected.Words[i]
	}
	return entropy.Bits{Words: g.diff, Len: g.cells.Len * uint64(g.cells.Width)}
}

// revise writes the blocks of a plane of which another is expected.
func (d *differ) revise(s source, a, expected cells.Array) {
	d.line.read = segments(a, expected, s.together())
	d.line.write = func(g *segment) error {
		d.keep(s, g.kept)
		d.buf = append(d.buf, g.bytes...)
		d.flush()
		return d.err
	}
	_ = d.line.run() // an error of the writer, which d keeps
}

// keep writes that n blocks are as expected.
func (d *differ) keep(s source, n uint64) {
	if n > 1 && s.together() > 1 {
		d.buf = binary.AppendUvarint(append(d.buf, keptRun), n)
		return
	}
	for range n {
		d.buf = append(d.buf, kept)
	}
}
