package plan

import (
	"fmt"
	"math"
	"strings"
)

// plainK is the most cells per key of a plain filter, those of kind bloom.
const plainK = 256

// plain is the Bloom filter that is best in memory.
func (q Message) plain() MessageOption {
	var m uint64
	var err error
	k := 0
	if q.FPRate > 0 {
		m, k, err = Size(q.Keys, q.FPRate)
		m = words(m, true)
		if err == nil && k > plainK {
			err = fmt.Errorf("plan: it is best with %d cells per key, %d are the most: %w", k, plainK, ErrRange)
		}
	} else if m = q.plainWithin(); m > 0 {
		k = BestK(m, q.Keys)
	} else {
		err = fmt.Errorf("plan: %.0f bits are too few for any filter: %w", q.Bits, ErrRange)
	}
	if err != nil {
		return MessageOption{Kind: "bloom", Why: plainly(err)}
	}
	o := q.option("bloom", Found{M: m, K: k})
	o.Coded, o.Snapshot = false, Spread{Mean: rawBits(m), Most: rawBits(m)}
	return o
}

// plainWithin returns the size of the largest plain filter that is sent, or of which the
// updates are sent, with so many bits, and that is half full.
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

// rawBits returns the size of a container of cells as they are.
func rawBits(m uint64) float64 {
	return float64(m) + 8*(ContainerBytes+math.Ceil(float64(m)/BlockCells))
}

// coded is the compressed Bloom filter, kept as cells.
func (q Message) coded() MessageOption { return q.search("bloom", DefaultMaxK, q.cells()) }

// sparse is the compressed Bloom filter with k=1, kept as positions.
func (q Message) sparse() MessageOption {
	cells := uint64(sparseMost)
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

// search finds a compressed filter of at most so many cells, and k of them per key.
func (q Message) search(kind string, k int, cells uint64) MessageOption {
	s := Search{Keys: q.Keys, Cells: cells, MaxK: k, Churn: q.Churn}
	var f Found
	var err error
	if q.FPRate > 0 {
		s.Tail = 0.5
		f, err = s.MinBits(q.FPRate)
	} else {
		s.Tail = q.tail()
		f, err = s.LeastRate(q.Bits)
	}
	if err != nil {
		return MessageOption{Kind: kind, Coded: true, Why: plainly(err)}
	}
	f.M = words(f.M, q.FPRate > 0)
	return q.option(kind, f)
}

// option returns a compressed filter as an option.
func (q Message) option(kind string, f Found) MessageOption {
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

// ribbon is the ribbon filter.
func (q Message) ribbon() MessageOption {
	o := MessageOption{Kind: "ribbon"}
	steps, err := q.ribbonSteps()
	if err != nil {
		o.Why = plainly(err)
		return o
	}
	o.FPRate, o.Memory = RibbonFPRate(q.Keys, steps), RibbonSize(q.Keys, steps)/8
	o.Snapshot = ribbonMessage(q.Keys, steps, q.tail())
	return o
}

// ribbonSteps returns the steps for the rate, or the most that fit.
func (q Message) ribbonSteps() (int, error) {
	if _, err := RibbonBits(q.Keys, 0.5); err != nil {
		return 0, err
	}
	if q.FPRate > 0 {
		return RibbonFor(q.FPRate)
	}
	over, some := least(RibbonMaxSteps, func(s uint64) bool { return ribbonMessage(q.Keys, int(s), q.tail()).Most > q.Bits })
	switch {
	case !some:
		return RibbonMaxSteps, nil
	case over == 1:
		return 0, fmt.Errorf("plan: %.0f bits are too few for a ribbon filter of %d keys: %w", q.Bits, q.Keys, ErrRange)
	}
	return int(over) - 1, nil
}

// ribbonContainerBytes is the container of a ribbon filter without its planes.
const ribbonContainerBytes = 118

// ribbonMessage returns the size of a ribbon filter as a message, in bits, with what it
// exceeds with the chance tail.
//
// Slots are in blocks, so a second try of any shard may take one block more, with all its
// columns. Beyond that the size deviates by the tries that shards take, of which most take
// one and each other costs two slots: by less than one slot a shard. And where a share x
// of the blocks has a column more, those are so many shards whole, whatever the number of
// their keys, which deviates as a binomial does: by √(n·x·(1-x)). Source: simulated; with
// 300,000 keys 260 bits at a rate of 0.8, where this has 268, and 240 at 0.01, where it
// has 280.
func ribbonMessage(n uint64, steps int, tail float64) Spread {
	bits := float64(RibbonSize(n, steps)) + 8*ribbonContainerBytes
	block := float64(ribbonWord * ((steps + RibbonSteps - 1) / RibbonSteps))
	deviation := 0.0
	if shards := RibbonShards(n); shards > 1 {
		columns, x := float64(steps)/RibbonSteps, float64(steps%RibbonSteps)/RibbonSteps
		deviation = math.Sqrt(float64(n)*x*(1-x) + float64(shards)*columns*columns)
	}
	return Spread{bits, deviation, bits + NormalQuantile(tail)*deviation + block}
}

// RibbonFrom returns the churn from which on it takes fewer bits to send a ribbon
// filter of n distinct keys with a rate of at most p anew than a delta of the Bloom
// filter of m cells, k per key, as messages: 1 if it never does, 0 if it always does.
//
// The error wraps [ErrRange] if n or p is outside the range of ribbon filters. It
// panics if m or k is zero or k is negative.
func RibbonFrom(n uint64, p float64, m uint64, k int) (churn float64, err error) {
	if _, err := RibbonBits(n, p); err != nil {
		return 0, err
	}
	steps, err := RibbonFor(p)
	if err != nil {
		return 0, err
	}
	ribbon := ribbonMessage(n, steps, 0.5).Mean
	return largestShare(func(churn float64) bool { return UpdateBits(m, k, n, churn, 0.5) <= ribbon }), nil
}

// cells returns how many cells a receiver has memory for.
func (q Message) cells() uint64 {
	if q.Memory == 0 {
		return maxCells
	}
	return max(min(bitsOf(q.Memory)/64*64, maxCells), 1)
}

// bitsOf returns so many bytes in bits, 2^63 at most.
func bitsOf(bytes uint64) uint64 { return min(bytes, maxCells/8) * 8 }

// words returns a size of whole words, the next above or below, unless it is small.
func words(m uint64, up bool) uint64 {
	if m < 4096 {
		return m
	}
	if up {
		m += 63
	}
	return m / 64 * 64
}

// plainly returns the text of an error of this package as the end of a sentence.
func plainly(err error) string {
	return strings.TrimSuffix(strings.TrimPrefix(err.Error(), "plan: "), ": "+ErrRange.Error())
}
