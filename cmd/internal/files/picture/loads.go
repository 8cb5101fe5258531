package picture

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/cells"
)

// blockBits is the size of a block, a cache line.
const blockBits = 512

// loads are the numbers of nonzero cells in the blocks of a view.
type loads struct {
	size      uint64   // cells per block
	blocks    uint64   // number of blocks
	counts    []uint64 // counts[i] is the number of blocks with i nonzero cells
	mean      float64  // nonzero cells per block
	deviation float64  // standard deviation of the nonzero cells of a block
}

// loads counts the nonzero cells of each complete block of 512 bits in the view. Blocks begin at
// multiples of their size in the array.
func (v View) loads() loads {
	width := v.Array.Width
	l := loads{size: blockBits / uint64(width)}
	l.counts = make([]uint64, l.size+1)
	const words = blockBits / 64
	var sum, squares float64
	for b := (v.From + l.size - 1) / l.size; (b+1)*l.size <= v.From+v.Cells; b++ {
		n := cells.Array{Len: l.size, Width: width, Words: v.Array.Words[b*words:][:words]}.Nonzero()
		l.counts[n]++
		l.blocks++
		sum += float64(n)
		squares += float64(n * n)
	}
	if l.blocks > 0 {
		l.mean = sum / float64(l.blocks)
		l.deviation = math.Sqrt(max(0, squares/float64(l.blocks)-l.mean*l.mean))
	}
	return l
}

// binomialDeviation returns the standard deviation if each cell were nonzero independently of
// the others.
func (l loads) binomialDeviation() float64 {
	return math.Sqrt(l.mean * (1 - l.mean/float64(l.size)))
}

// binomial returns the expected number of blocks with n nonzero cells if each cell were nonzero
// independently of the others, with the probability that the mean gives.
func (l loads) binomial(n uint64) float64 {
	size, k, p := float64(l.size), float64(n), l.mean/float64(l.size)
	if p == 0 || p == 1 {
		if k == size*p {
			return float64(l.blocks)
		}
		return 0
	}
	all, _ := math.Lgamma(size + 1)
	with, _ := math.Lgamma(k + 1)
	without, _ := math.Lgamma(size - k + 1)
	return float64(l.blocks) * math.Exp(all-with-without+k*math.Log(p)+(size-k)*math.Log1p(-p))
}

// bin is a range of loads, both ends included.
type bin struct {
	first, last uint64
	blocks      uint64  // with such a load
	expected    float64 // of them, if cells were independent
}

// name returns the range of the bin in words.
func (b bin) name() string {
	if b.first == b.last {
		return fmt.Sprint(b.first)
	}
	return fmt.Sprintf("%d-%d", b.first, b.last)
}

// bins divides the loads that occur or are to be expected into at most limit ranges of equal
// length. The last one may be shorter.
func (l loads) bins(limit int) []bin {
	if l.blocks == 0 {
		return nil
	}
	reach := 4 * l.binomialDeviation()
	first := uint64(max(0, math.Floor(l.mean-reach)))
	last := uint64(min(float64(l.size), math.Ceil(l.mean+reach)))
	for n, blocks := range l.counts {
		if blocks > 0 {
			first, last = min(first, uint64(n)), max(last, uint64(n))
		}
	}
	step := (last - first + uint64(limit)) / uint64(limit)
	var bins []bin
	for from := first; from <= last; from += step {
		b := bin{first: from, last: min(from+step-1, last)}
		for n := b.first; n <= b.last; n++ {
			b.blocks += l.counts[n]
			b.expected += l.binomial(n)
		}
		bins = append(bins, b)
	}
	return bins
}

// highest returns the largest number of blocks in a bin, found or expected.
func highest(bins []bin) float64 {
	most := 0.0
	for _, b := range bins {
		most = max(most, float64(b.blocks), b.expected)
	}
	return most
}

// deviations compares the standard deviation with that of independent cells, in words.
func (l loads) deviations() string {
	return fmt.Sprintf("standard deviation %.1f cells; if each cell were set independently, %.1f", l.deviation, l.binomialDeviation())
}
