package wire

import (
	"io"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Packer writes smaller containers than [Append] and [Write]: each block in the coding that
// takes the fewest bytes, and never more than [Size] in all. Hashed bits take less than ten
// bytes more than their entropy per 64 KiB (TestPackedToTheEntropy).
//
// The zero value is ready. A Packer is safe for concurrent use.
type Packer struct {
	// Workers is the number of goroutines that encode blocks of an array, at most twice
	// GOMAXPROCS. With 0 or 1 the caller's goroutine does all work. The bytes are the same.
	Workers int
}

// Append appends the container of s to dst. Errors are those of [Append].
func (p Packer) Append(dst []byte, s umbel.State) ([]byte, error) {
	out := format.Appender(dst)
	if err := p.Write(&out, s); err != nil {
		return dst, err
	}
	return out, nil
}

// Write writes the container of s to w. It takes memory for some blocks per worker, regardless of
// the size of s. Errors are those of [Write].
func (p Packer) Write(w io.Writer, s umbel.State) error {
	return p.pack(w, s, func(*block.EncodeJob) {})
}

// pack writes the container of s, and calls done for each job, in order.
func (p Packer) pack(w io.Writer, s umbel.State, done func(*block.EncodeJob)) error {
	return writeContainer(w, s, format.Packed(p.Workers, format.InMemory, done))
}

// PackStats describes the blocks of a packed container, including those of parts.
type PackStats struct {
	Raw, Empty, Full, Arithmetic, Positions BlockStats
	// Bytes is the length of the container.
	Bytes uint64
	// Entropy is the sum of m·H over all blocks, in bits, where m is the number of cells of
	// a block and H the empirical entropy of their values; for bits of which x are one,
	// H = -x/m·log2(x/m) - (1-x/m)·log2(1-x/m). A code that treats cells as independent
	// takes at least this, plus the description of the frequencies. It is an estimate in
	// floating point.
	Entropy float64
}

// BlockStats is the number of blocks in a coding, and their bytes in the container.
type BlockStats struct{ Blocks, Bytes uint64 }

// Stats packs s and describes the result. Errors are those of [Packer.Append].
func (p Packer) Stats(s umbel.State) (PackStats, error) { return p.WriteStats(io.Discard, s) }

// WriteStats is [Packer.Write], and describes what it wrote, which is part of a container
// if there is an error. Errors are those of Write.
func (p Packer) WriteStats(w io.Writer, s umbel.State) (PackStats, error) {
	var stats PackStats
	n := counter{w: w}
	err := p.pack(&n, s, func(j *block.EncodeJob) {
		for i, b := range j.Blocks {
			e := &j.Encoded[i]
			t := stats.of(e.Coding)
			t.Blocks++
			t.Bytes += uint64(e.Bytes(b))
			stats.Entropy += entropyOf(b)
		}
	})
	stats.Bytes = n.bytes
	return stats, err
}

// of returns the statistics of a coding.
func (p *PackStats) of(coding byte) *BlockStats {
	return []*BlockStats{&p.Raw, &p.Empty, &p.Full, &p.Arithmetic, &p.Positions}[coding]
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
