package message

import (
	"math"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// A container and a delta code blocks of 64 KiB. Besides an ideal code a block takes codedBytes on average at most, for
// its coding, its level and the coder's loss, and the length of its payload.
const (
	blockCells = 1 << 19
	codedBytes = 3
)

// lengthBytes returns the average number of bytes that the length of a payload takes: one up to 127, two up to 16,383. The payload
// has payload bytes on average.
func lengthBytes(payload float64) float64 {
	beyond := func(log float64) float64 { return min(max(math.Log2(payload)-log+0.5, 0), 1) }
	return 1 + beyond(7) + beyond(14)
}

// inBlocks returns the bits that blocks take: those of all their payloads, and each more bytes per block.
func inBlocks(bits, blocks, each float64) float64 {
	return bits + 8*blocks*(each+lengthBytes(bits/8/blocks))
}

// If few cells of an array are not zero, its blocks are coded in runs of about runCells such cells, and of at most runBlocks
// blocks. Besides an ideal code a run takes codedRun bytes, and one of counters countedRun.
const (
	runCells   = 7500
	runBlocks  = 1 << 12
	codedRun   = 10
	countedRun = 15
)

// inRuns returns the bits that an array takes if its blocks are coded in runs: those of its cells, and each more bytes per
// run. A single block is no run: the result is infinite.
func inRuns(bits, cells, blocks, each float64) float64 {
	if blocks < 2 {
		return math.Inf(1)
	}
	return bits + 8*each*max(1, cells/runCells+blocks/runBlocks)
}

// head returns the size in bits of a packed container without its blocks, with the note of a plan for n keys. Its rate has many
// digits, as that of a shape; one with few digits, as people choose it, takes up to 8 bytes less.
func head(kind string, params umbel.Params, n uint64, arrays ...cells.Array) float64 {
	s := umbel.State{Kind: kind, Params: params, Arrays: arrays}
	s.Planned = umbel.Planned{Keys: n, FPRate: 1.0 / 3}
	return 8 * float64(wire.HeadBytes(s))
}

// shapeParams returns the parameters of kind bloom and, with more names, of similar ones.
func shapeParams(k int, more ...string) umbel.Params {
	ps := umbel.Params{{Name: "k", Value: umbel.Uint(uint64(k))}, {Name: "group", Value: umbel.Uint(0)}}
	for _, name := range more {
		ps = append(ps, umbel.Param{Name: name, Value: umbel.Uint(0)})
	}
	return ps
}

// around is the size in bits of what surrounds the cells in a message.
type around struct {
	container float64 // of kind bloom, uncoded, with the note of its plan
	counting  float64 // of kind counting, likewise
	ribbon    float64 // of kind ribbon, likewise, with the codings of its blocks
	delta     float64 // of which 12 bytes name base and result
}

// measured returns the sizes around the cells, of the smallest messages. They don't depend on the filter.
var measured = sync.OnceValue(func() around {
	const coding = 1 // byte of an uncoded block
	note := umbel.Planned{Keys: 1, FPRate: 0.5}
	b, err := bloom.NewShape(bloom.Shape{M: 1, K: 1})
	mustNot(err)
	b.SetPlanned(note)
	c, err := counting.NewShape(counting.Shape{M: 1, K: 1})
	mustNot(err)
	c.SetPlanned(note)
	r, err := ribbon.New(1, 0.5)
	mustNot(err)
	r.Add(umbel.Digest{})
	mustNot(r.Seal())
	change, err := delta.Append(nil, b.State(), b.State())
	mustNot(err)
	without := func(s umbel.State, codings uint64) float64 { return 8 * float64(wire.Size(s)-s.Bytes()-codings) }
	return around{
		container: without(b.State(), coding),
		counting:  without(c.State(), coding),
		ribbon:    without(r.State(), 0),
		delta:     8 * float64(len(change)),
	}
})

func mustNot(err error) {
	if err != nil {
		panic(err)
	}
}

// sent is the size in bits of a message with coded blocks. Blocks that don't shrink are sent uncoded, so it
// is never more than raw.
type sent struct {
	plan.Bits
	raw float64
}

// atMost returns the size that the message exceeds with probability tail. A tail of 0.5 gives the mean.
func (s sent) atMost(tail float64) float64 {
	return min(s.Bits.AtMost(tail), s.raw)
}

// size returns the distribution for a probability tail.
func (s sent) size(tail float64) Size {
	return Size{Bits: plan.Bits{Mean: s.atMost(0.5), Deviation: s.Deviation}, Most: s.atMost(tail)}
}

// rawBits returns the size of a container of m uncoded cells, which are whole words.
func rawBits(m uint64) float64 { return measured().container + uncoded(m) }

// uncoded returns the size of m uncoded cells: whole words, and the codings of blocks.
func uncoded(m uint64) float64 {
	return 64*math.Ceil(float64(m)/64) + 8*math.Ceil(float64(m)/blockCells)
}

// cellsOf returns the size of the container of the cells of a filter with n keys: that of an ideal code, and what
// the coder and the container with the note of its plan add. Blocks with few ones list them, or are coded in runs.
func cellsOf(f plan.Filter, n uint64) sent {
	m := float64(f.M)
	blocks := math.Ceil(m / blockCells)
	coded := f.WireBits(n)
	ideal := coded
	coded.Mean = inBlocks(ideal.Mean, blocks, codedBytes)
	if each := listed(m*f.Fill(n)/blocks, m/blocks); blocks*each.Mean < coded.Mean {
		coded.Mean = blocks * each.Mean
		coded.Deviation = math.Hypot(ideal.Deviation, math.Sqrt(blocks)*each.Deviation)
	}
	if runs := inRuns(ideal.Mean, m*f.Fill(n), blocks, codedRun); runs < coded.Mean {
		coded.Mean, coded.Deviation = runs, ideal.Deviation
	}
	// A packer does not code a block of which about half of the cells are ones, although its words may have spare bits.
	around := head(bloom.Name, shapeParams(f.K), n, cells.Array{Len: f.M, Width: 1})
	coded.Mean += around
	if math.Abs(2*f.Fill(n)-1)*m <= 4*math.Sqrt(m*blocks)+10*math.Sqrt(occupancy.Variance(m, float64(f.K)*float64(n))) {
		coded.Mean = math.Inf(1)
	}
	return sent{coded, around + uncoded(f.M)}
}

// fewOnes is the number of ones per block, on average, from which on blocks are coded.
const fewOnes = 64

// listed returns the size of a block in which ones of the cells are ones, on average, if it lists their positions: its
// coding, and if it has ones the length of the list, the number of ones, the parameter of the code of Golomb 1966, and
// the gaps in whole bytes. The deviation is that for a given number of ones in all blocks together. The mean
// is infinite from fewOnes on.
func listed(ones, cells float64) plan.Bits {
	if ones >= fewOnes {
		return plan.Bits{Mean: math.Inf(1)}
	}
	const coding, head, rounding = 8, 3 * 8, 3.5
	p := math.Exp(-ones) // of j ones in a block: Poisson
	mean, square, product := p*coding, p*coding*coding, 0.0
	for j := 1.0; j < ones || p > 1e-12; j++ {
		p *= ones / j
		bits := coding + head + rounding + j*gapBits((cells-j)/(j+1))
		mean, square, product = mean+p*bits, square+p*bits*bits, product+p*bits*j
	}
	variance := square - mean*mean
	if ones > 0 {
		variance -= (product - mean*ones) * (product - mean*ones) / ones
	}
	return plan.Bits{Mean: mean, Deviation: math.Sqrt(max(variance, 0))}
}

// gapBits returns the bits of a gap in the code of Golomb 1966 with the best power of two, for gaps with a
// geometric distribution of the given mean: k + 1/(1-q^(2^k)), where q = mean/(mean+1).
func gapBits(mean float64) float64 {
	if mean <= 0 {
		return 1
	}
	k := math.Max(0, math.Floor(math.Log2(mean*math.Ln2)))
	bits := func(k float64) float64 { return k - 1/math.Expm1(-math.Exp2(k)*math.Log1p(1/mean)) + 1 }
	return min(bits(k), bits(k+1))
}

// listOf returns the size of the packed container of kind sparse: n keys in cells that are stored as the list of
// their positions. The low bits of a position are random; the unary code of the others is coded.
func listOf(f plan.Filter, n uint64) sent {
	m := float64(f.M)
	fill := f.Fill(n)
	ones := uint64(math.Round(m * fill))
	low, high := eliasfano.LowBits(ones, f.M), float64(eliasfano.HighBits(ones, f.M))
	words := func(bits float64) float64 { return 64*math.Ceil(bits/64) + 8*math.Ceil(bits/blockCells) }
	params := umbel.Params{{Name: "m", Value: umbel.Uint(f.M)}, {Name: "group", Value: umbel.Uint(0)}}
	around := words(float64(low)) + head(sparse.Name, params, n, cells.Array{Len: uint64(low), Width: 1}, cells.Array{Len: uint64(high), Width: 1})
	return sent{
		plan.Bits{
			Mean:      around + inBlocks(high*entropy(float64(ones)/high), math.Ceil(high/blockCells), codedBytes),
			Deviation: math.Sqrt(occupancy.Variance(m, float64(n))) * (float64(eliasfano.Low(ones, f.M)) + 2),
		},
		around + words(high),
	}
}

// entropy returns the bits per cell for cells that are one with probability p.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log1p(-p)/math.Ln2
}
