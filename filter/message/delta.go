package message

import (
	"math"

	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/plan"
)

// A delta with less than the share sparseChange of changed cells contains positions, since that is below
// the odds of the coder. Their code takes sparseCost times an ideal one.
const (
	sparseChange = 1.0 / (1 << 17)
	sparseCost   = 1.02
)

// deltaRun is the number of blocks with similar changes that a delta codes as one, at least, and runBytes what a run
// takes besides an ideal code, on average at most. That doesn't include all that a block may cost because its fill ratio
// is between two of the coder's levels p_j = j²/2^16: up to levelBits, 2^19/(2^17·ln 2), a third of it on average.
const (
	deltaRun  = 16
	runBytes  = 7
	levelBits = 5.8
)

// update is the size in bits of the changes in a delta, without its message.
type update struct {
	plan.Bits
	blocks float64 // of the filter
	levels float64 // what the coder's levels add at most
}

// updateOf returns the update of a filter after the share churn of its n keys was replaced. If few cells
// change it contains their positions, and takes XORDeltaBits and up to 2 % more.
func updateOf(f plan.Filter, n uint64, churn float64) update {
	blocks := float64(f.M) / blockCells
	m := float64(f.M)
	comes := occupancy.Fill(m, churn*float64(f.K)*float64(n)) // the probability that the new keys hit a cell
	if 2*(1-f.Fill(n))*comes < sparseChange {
		b := f.XORDeltaBits(n, churn)
		return update{plan.Bits{Mean: sparseCost * b.Mean, Deviation: sparseCost * b.Deviation}, blocks, 0}
	}
	return update{f.DeltaBits(n, churn), blocks, levelBits * blocks}
}

// message returns the size that the message exceeds with probability tail, for all levels;
// with a tail of 0.5 or more it omits them.
func (u update) message(tail float64) float64 {
	around := measured().delta + 8*runBytes*math.Ceil(u.blocks/deltaRun)
	bits := plan.Bits{Mean: around + u.Mean, Deviation: u.Deviation}.AtMost(tail)
	if tail < 0.5 {
		bits += u.levels
	}
	return bits
}

// size returns the distribution of the message for a probability tail.
func (u update) size(tail float64) Size {
	return Size{Bits: plan.Bits{Mean: u.message(0.5), Deviation: u.Deviation}, Most: u.message(tail)}
}
