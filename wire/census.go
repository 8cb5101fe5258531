package wire

import (
	"io"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// PackStats tells what becomes of the blocks of a state, those of its parts included,
// when it is packed.
type PackStats struct {
	Raw, Empty, Full, Arithmetic, Positions BlockStats
	// Bytes is the length of the packed container.
	Bytes uint64
	// Entropy is the sum over all blocks of m·H bits, where m is the number of cells
	// and H the empirical entropy of their values: for bits of which x are one,
	// H = -x/m·log2(x/m) - (1-x/m)·log2(1-x/m). No code that takes the cells of a
	// block for independent of each other does better, but for the bits that tell the
	// frequencies. It is an estimate in floating point.
	Entropy float64
}

// Tally counts blocks of one coding, and their bytes in the container.
type BlockStats struct{ Blocks, Bytes uint64 }

// PackStats packs s and tells what becomes of its blocks. Errors are those of
// [Packer.Append].
func (p Packer) Stats(s umbel.State) (PackStats, error) { return p.WriteStats(io.Discard, s) }

// WriteCensus is [Packer.Write], and tells what became of the blocks. Errors are those
// of Write; the census is then of what was written before.
func (p Packer) WriteStats(w io.Writer, s umbel.State) (PackStats, error) {
	var c PackStats
	n := counter{w: w}
	err := p.pack(&n, s, func(b *batch) {
		for i, a := range b.blocks {
			f := &b.forms[i]
			t := c.tally(f.coding)
			t.Blocks++
			t.Bytes += uint64(f.bytes(a))
			c.Entropy += entropyOf(a)
		}
	})
	c.Bytes = n.bytes
	return c, err
}

// counter counts the bytes that are written to w.
type counter struct {
	w     io.Writer
	bytes uint64
}

func (n *counter) Write(b []byte) (int, error) {
	k, err := n.w.Write(b)
	n.bytes += uint64(k)
	return k, err
}

func (c *PackStats) tally(coding byte) *BlockStats {
	return []*BlockStats{&c.Raw, &c.Empty, &c.Full, &c.Arithmetic, &c.Positions}[coding]
}

// entropyOf returns the empirical entropy of all cells of a block together, in bits.
func entropyOf(b cells.Array) float64 {
	m := float64(b.Len)
	sum := 0.0
	add := func(n uint64) {
		if n > 0 {
			sum += float64(n) * math.Log2(m/float64(n))
		}
	}
	if b.Width == 1 {
		ones := b.Nonzero()
		add(ones)
		add(b.Len - ones)
		return sum
	}
	values := make([]uint64, b.Len)
	for i := range values {
		values[i] = b.Get(uint64(i))
	}
	slices.Sort(values)
	for i, run := 0, uint64(0); i < len(values); i++ {
		run++
		if i+1 == len(values) || values[i+1] != values[i] {
			add(run)
			run = 0
		}
	}
	return sum
}
