package wire

import (
	"math"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// PackStats describes the blocks of a packed container, including those of parts.
type PackStats struct {
	Raw, Empty, Full, Arithmetic, Positions BlockStats
	// Rare has the blocks of all runs, which have few cells that aren't zero.
	Rare BlockStats
	// Bytes is the length of the container.
	Bytes uint64
	// Entropy is the sum of m·H over all blocks, in bits, where m is the number of cells of
	// a block and H the empirical entropy of their values; for bits with x ones,
	// H = -x/m·log2(x/m) - (1-x/m)·log2(1-x/m). A code that treats cells as independent
	// takes at least this, plus the description of the frequencies. It is an estimate in
	// floating point.
	Entropy float64
}

// BlockStats is the number of blocks in a coding, and their bytes in the container.
type BlockStats struct{ Blocks, Bytes uint64 }

// measurer measures what is written.
type measurer struct{ *PackStats }

// Encoded adds the entropy of the blocks of a job.
func (p measurer) Encoded(j *block.EncodeJob) {
	for _, b := range j.Blocks {
		p.Entropy += entropyOf(b)
	}
}

// Wrote counts blocks.
func (p measurer) Wrote(b block.Written) {
	t := p.of(b.Coding)
	t.Blocks += b.Blocks
	t.Bytes += b.Bytes
}

// of returns the statistics of a coding.
func (p *PackStats) of(coding byte) *BlockStats {
	return map[byte]*BlockStats{
		block.Raw: &p.Raw, block.Empty: &p.Empty, block.Full: &p.Full,
		block.Arithmetic: &p.Arithmetic, block.Positions: &p.Positions, block.Rare: &p.Rare,
	}[coding]
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
