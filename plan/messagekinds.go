package plan

import (
	"math"
	"strings"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// plainK is the largest number of cells per key of kind bloom.
const plainK = 256

// plain returns the Bloom filter that is best in memory.
func (q Message) plain() MessageOption {
	var m uint64
	var err error
	k := 0
	if q.FPRate > 0 {
		m, k, err = Size(q.Keys, q.FPRate)
		m = words(m, true)
		if err == nil && k > plainK {
			err = sentinel.Errorf(ErrRange, "plan: it would set %d cells per key, at most %d are allowed", k, plainK)
		}
	} else if m = q.plainWithin(); m > 0 {
		k = BestK(m, q.Keys)
	} else {
		err = sentinel.Errorf(ErrRange, "plan: %.0f bits are too few for any filter", q.Bits)
	}
	if err != nil {
		return MessageOption{Kind: "bloom", Why: plainly(err)}
	}
	o := q.option("bloom", CompressedShape{M: m, K: k})
	o.Coded, o.Snapshot = false, Spread{Mean: rawBits(m), Most: rawBits(m)}
	return o
}

// plainWithin returns the size of the largest half-full filter that is sent, or whose updates are
// sent, with at most q.Bits.
func (q Message) plainWithin() uint64 {
	over, some := least(maxCells, func(m uint64) bool {
		k := BestK(m, q.Keys)
		bits := rawBits(m)
		if q.Churn > 0 {
			bits = UpdateBits(m, k, q.Keys, q.Churn, q.tail())
		}
		return k > plainK || !(bits <= q.Bits)
	})
	if !some {
		over = maxCells + 1
	}
	return words(min(over-1, q.cells()), false)
}

// coded returns the compressed Bloom filter, stored as cells.
func (q Message) coded() MessageOption { return q.search("bloom", DefaultMaxK, q.cells()) }

// sparse returns the compressed Bloom filter with k=1, stored as positions.
func (q Message) sparse() MessageOption {
	cells := uint64(maxSparse)
	if q.Memory > 0 {
		var err error
		if cells, err = SparseSize(q.Keys, bitsOf(q.Memory)); err != nil {
			return MessageOption{Kind: "sparse", Coded: true, Why: plainly(err)}
		}
	}
	o := q.search("sparse", 1, cells)
	if o.M > 0 {
		o.Memory = SparseBits(o.M, q.Keys) / 8
	}
	return o
}

// search finds a compressed filter of at most cells cells, with at most k of them per key.
func (q Message) search(kind string, k int, cells uint64) MessageOption {
	s := CompressedSearch{Keys: q.Keys, Cells: cells, MaxK: k, Churn: q.Churn}
	var f CompressedShape
	var err error
	if q.FPRate > 0 {
		s.Tail = 0.5
		f, err = s.MinBits(q.FPRate)
	} else {
		s.Tail = q.tail()
		f, err = s.MinFPRate(q.Bits)
	}
	if err != nil {
		return MessageOption{Kind: kind, Coded: true, Why: plainly(err)}
	}
	f.M = words(f.M, q.FPRate > 0)
	return q.option(kind, f)
}

// option returns the option for a compressed filter.
func (q Message) option(kind string, f CompressedShape) MessageOption {
	o := MessageOption{
		Kind: kind, Coded: true, M: f.M, K: f.K, FPRate: FPRate(f.M, f.K, q.Keys), Memory: (f.M + 63) / 64 * 8,
		Snapshot: Spread{SnapshotBits(f.M, f.K, q.Keys, 0.5), WireDeviation(f.M, f.K, q.Keys), SnapshotBits(f.M, f.K, q.Keys, q.tail())},
	}
	if q.Churn > 0 {
		d := updateOf(f.M, f.K, q.Keys, q.Churn)
		o.Delta = Spread{d.message(0.5), d.deviation, d.message(q.tail())}
	}
	return o
}

// ribbon returns the ribbon filter.
func (q Message) ribbon() MessageOption {
	o := MessageOption{Kind: "ribbon"}
	steps, err := q.ribbonSteps()
	if err != nil {
		o.Why = plainly(err)
		return o
	}
	// With few keys the rate is a little lower. A filter that is made for that rate would need more steps, and
	// more bytes than planned.
	o.FPRate, o.Memory = ribbonIdeal(steps), RibbonSize(q.Keys, steps)/8
	o.Snapshot = ribbonMessage(q.Keys, steps, q.tail())
	return o
}

// ribbonSteps returns the steps for the rate, or the most steps that fit.
func (q Message) ribbonSteps() (int, error) {
	if _, err := RibbonBits(q.Keys, 0.5); err != nil {
		return 0, err
	}
	if q.FPRate > 0 {
		return RibbonStepsFor(q.FPRate)
	}
	over, some := least(RibbonMaxSteps, func(s uint64) bool { return ribbonMessage(q.Keys, int(s), q.tail()).Most > q.Bits })
	switch {
	case !some:
		return RibbonMaxSteps, nil
	case over == 1:
		return 0, sentinel.Errorf(ErrRange, "plan: %.0f bits are too few for a ribbon filter of %d keys", q.Bits, q.Keys)
	}
	return int(over) - 1, nil
}

// ribbonContainerBytes is the size of the container of a ribbon filter without its arrays and notes.
const ribbonContainerBytes = 118

// ribbonMessage returns the distribution of the size of a ribbon filter as a message, in bits.
//
// Slots come in blocks, so a second attempt of any shard may need one more block, with all its
// columns. In addition the size deviates by the attempts of the shards. Most shards need one
// attempt and each further one costs two slots, so this is less than one slot per shard. If a
// share x of the blocks has one more column, these are whole shards, for any number of their
// keys, which deviates like a binomial: by √(n·x·(1-x)). Source: simulated; with 300,000 keys 260
// bits at a rate of 0.8, where this function has 268, and 240 at 0.01, where it has 280.
func ribbonMessage(n uint64, steps int, tail float64) Spread {
	bits := float64(RibbonSize(n, steps)) + 8*(ribbonContainerBytes+PlannedBytes)
	block := float64(ribbonWord * ((steps + RibbonSteps - 1) / RibbonSteps))
	deviation := 0.0
	if shards := RibbonShards(n); shards > 1 {
		columns, x := float64(steps)/RibbonSteps, float64(steps%RibbonSteps)/RibbonSteps
		deviation = math.Sqrt(float64(n)*x*(1-x) + float64(shards)*columns*columns)
	}
	return Spread{bits, deviation, bits + NormalQuantile(tail)*deviation + block}
}

// RibbonBreakEven returns the churn from which on a new ribbon filter of n distinct keys with a
// rate of at most p takes fewer bits, as a message, than a delta of the Bloom filter of m cells, k
// per key: 1 if it never does, 0 if it always does.
//
// It returns an error wrapping [ErrRange] if n or p is outside the range of ribbon filters. It
// panics if m or k is zero or k is negative.
func RibbonBreakEven(n uint64, p float64, m uint64, k int) (churn float64, err error) {
	if _, err := RibbonBits(n, p); err != nil {
		return 0, err
	}
	steps, err := RibbonStepsFor(p)
	if err != nil {
		return 0, err
	}
	ribbon := ribbonMessage(n, steps, 0.5).Mean
	deltaIsLarger := func(churn float64) bool { return UpdateBits(m, k, n, churn, 0.5) > ribbon }
	if !deltaIsLarger(1) {
		return 1, nil
	}
	return crossing(0, 1, deltaIsLarger), nil
}

// cells returns the number of cells for which a receiver has memory.
func (q Message) cells() uint64 {
	if q.Memory == 0 {
		return maxCells
	}
	return max(min(bitsOf(q.Memory)/64*64, maxCells), 1)
}

// bitsOf returns the number of bits in bytes bytes, at most 2^63.
func bitsOf(bytes uint64) uint64 { return min(bytes, maxCells/8) * 8 }

// words rounds m up or down to whole words if it is at least 4096.
func words(m uint64, up bool) uint64 {
	if m < 4096 {
		return m
	}
	if up {
		m += 63
	}
	return m / 64 * 64
}

// plainly returns the text of an error of this package without prefix and sentinel.
func plainly(err error) string {
	return strings.TrimSuffix(strings.TrimPrefix(err.Error(), "plan: "), ": "+ErrRange.Error())
}
