package plan

import (
	"fmt"
	"math"
)

// What is sent besides the bits of an ideal code. Package filter has the test that
// holds plans against containers.
const (
	ContainerBytes = 74      // of a container without its blocks, of kind bloom
	DeltaBytes     = 96      // of a delta without its blocks, of which 64 name the versions it goes from and to
	BlockCells     = 1 << 19 // cells of a block, 64 KiB; each is coded by itself
	BlockBytes     = 7       // of a block, in the mean at most: coding, length, level, and what the coder misses the ideal by
)

// DefaultTail is the chance with which a message may be larger than it should, if
// nothing else is said.
const DefaultTail = 1e-6

// SnapshotBits returns the size in bits that the container of a filter, its blocks
// coded, exceeds with chance tail: the mean, [WireBits], so many times its
// [WireDeviation] as a normal distribution asks for ([Sigmas]), and what the coder and
// the container add. A tail of 0.5 gives the mean. Blocks that don't shrink are sent
// as they are, so it is never more than the cells themselves and the container.
//
// It panics if m or k is zero, k is negative, or tail isn't inside (0, 1).
func SnapshotBits(m uint64, k int, n uint64, tail float64) float64 {
	blocks := math.Ceil(float64(m) / BlockCells)
	coded := WireBits(m, k, n) + NormalQuantile(tail)*WireDeviation(m, k, n) + 8*BlockBytes*blocks
	return min(coded+8*ContainerBytes, rawBits(m))
}

// UpdateBits returns the size in bits that a delta message exceeds with chance tail,
// as [SnapshotBits] has it for containers: that of [DeltaBits] and what is added. Where
// fewer than one cell in 131072 changes, which is below the odds of the coder, positions of
// those that do are sent, and take what [XORDeltaBits] says and up to 2 % more. It panics
// as SnapshotBits does.
func UpdateBits(m uint64, k int, n uint64, churn, tail float64) float64 {
	return updateOf(m, k, n, churn).message(tail)
}

// quiet is the share of cells that change below which a delta sends positions, and
// quietCost what their code takes, in those of an ideal one.
const (
	quiet     = 1.0 / (1 << 17)
	quietCost = 1.02
)

// deltaRun is how many blocks that change alike a delta codes as one, or more. Then
// [BlockBytes] don't hold all that a block may take because the fill is between two of
// the coder's levels p_j = j²/2^16: up to levelBits, 2^19/(2^17·ln 2), a third of it in
// the mean.
const (
	deltaRun  = 16
	levelBits = 5.8
)

// delta is the size in bits of what a delta says of cells, without its message.
type delta struct {
	mean, deviation float64
	blocks          float64 // of the filter
	levels          float64 // what the coder's levels add at most
}

// updateOf returns the delta of a filter of which a share of the keys is replaced.
func updateOf(m uint64, k int, n uint64, churn float64) delta {
	c := newChange(m, k, n, churn)
	blocks := c.m / BlockCells
	if 2*c.p*c.a < quiet {
		return delta{quietCost * XORDeltaBits(m, k, n, churn), quietCost * XORDeltaDeviation(m, k, n, churn), blocks, 0}
	}
	return delta{DeltaBits(m, k, n, churn), DeltaDeviation(m, k, n, churn), blocks, levelBits * blocks}
}

// message returns the size that the message exceeds with chance tail, whatever the
// levels; with a tail of 0.5 or more it leaves them out.
func (d delta) message(tail float64) float64 {
	bits := 8*(DeltaBytes+BlockBytes*math.Ceil(d.blocks/deltaRun)) + d.mean + NormalQuantile(tail)*d.deviation
	if tail < 0.5 {
		bits += d.levels
	}
	return bits
}

// Sigmas returns how many standard deviations above the mean a normal distribution has
// left only the chance tail: 4.75 for 1e-6, 0 for 0.5. It panics if tail isn't inside
// (0, 1).
func NormalQuantile(tail float64) float64 {
	if !(tail > 0 && tail < 1) {
		panic(fmt.Sprintf("plan: chance %v, want more than 0 and less than 1", tail))
	}
	if tail > 0.5 {
		return -NormalQuantile(1 - tail)
	}
	if tail == 0.5 {
		return 0
	}
	// By bisection, as the inverse in package math has no digits left for small tails.
	low, high := 0.0, 40.0
	for range 60 {
		if mid := (low + high) / 2; math.Erfc(mid/math.Sqrt2)/2 >= tail {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
