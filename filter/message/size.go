package message

import (
	"math"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// A container and a delta code blocks of 64 KiB. blockBytes is what a coded block takes besides an ideal code,
// on average at most: coding, length, level, and the coder's loss.
const (
	blockCells = 1 << 19
	blockBytes = 7
)

// around is the size in bits of what surrounds the cells in a message.
type around struct {
	container float64 // of kind bloom, with the note of its plan
	ribbon    float64 // of kind ribbon, with that note and the codings of its blocks
	delta     float64 // of which 64 bytes are the IDs of base and result
}

// measured returns the sizes around the cells, of the smallest messages. They don't depend on the filter.
var measured = sync.OnceValue(func() around {
	b, err := bloom.NewShape(bloom.Shape{M: 1, K: 1})
	mustNot(err)
	b.SetPlanned(umbel.Planned{Keys: 1, FPRate: 0.5})
	s := b.State()
	change, err := delta.Append(nil, s, s)
	mustNot(err)
	const coding = 1 // byte of an uncoded block
	r, err := ribbon.New(1, 0.5)
	mustNot(err)
	r.Add(umbel.Digest{})
	mustNot(r.Seal())
	sealed := r.State()
	return around{
		container: 8 * float64(wire.Size(s)-s.Bytes()-coding),
		ribbon:    8 * float64(wire.Size(sealed)-sealed.Bytes()),
		delta:     8 * float64(len(change)),
	}
})

func mustNot(err error) {
	if err != nil {
		panic(err)
	}
}

// rawBits returns the size of a container of m uncoded cells, which are whole words.
func rawBits(m uint64) float64 {
	return 64*math.Ceil(float64(m)/64) + (measured().container + 8*math.Ceil(float64(m)/blockCells))
}

// snapshotBits returns the size in bits that the container of a filter with n keys, with coded blocks,
// exceeds with probability tail: that of an ideal code, and what the coder and the container with the note of
// its plan add. A tail of 0.5 gives the mean. Blocks that don't shrink are sent uncoded, so it is never more
// than the cells themselves and the container.
func snapshotBits(f plan.Filter, n uint64, tail float64) float64 {
	blocks := math.Ceil(float64(f.M) / blockCells)
	coded := f.WireBits(n).AtMost(tail) + 8*blockBytes*blocks
	return min(coded+measured().container, rawBits(f.M))
}

// sentBits returns the size in bits that an update exceeds with probability tail: a delta if the share churn
// of the keys is replaced, or the whole filter if it is 0.
func sentBits(f plan.Filter, n uint64, churn, tail float64) float64 {
	if churn > 0 {
		return updateOf(f, n, churn).message(tail)
	}
	return snapshotBits(f, n, tail)
}

// A delta with less than the share sparseChange of changed cells contains positions, since that is below
// the odds of the coder. Their code takes sparseCost times an ideal one.
const (
	sparseChange = 1.0 / (1 << 17)
	sparseCost   = 1.02
)

// deltaRun is the number of blocks with similar changes that a delta codes as one, at least. Then
// blockBytes doesn't include all that a block may cost because its fill ratio is between two of
// the coder's levels p_j = j²/2^16: up to levelBits, 2^19/(2^17·ln 2), a third of it on average.
const (
	deltaRun  = 16
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
	around := measured().delta + 8*blockBytes*math.Ceil(u.blocks/deltaRun)
	bits := plan.Bits{Mean: around + u.Mean, Deviation: u.Deviation}.AtMost(tail)
	if tail < 0.5 {
		bits += u.levels
	}
	return bits
}
