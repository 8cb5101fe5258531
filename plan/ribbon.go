package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Constants of ribbon filters. A shard is a separate system of equations.
const (
	// RibbonSteps is the number of steps in a column. A column is one bit of the result.
	RibbonSteps = 256
	// RibbonMaxSteps is the largest number of steps: 32 columns.
	RibbonMaxSteps = 32 * RibbonSteps
	// RibbonSpareSlots is the number of slots that a shard has in addition to its keys at first.
	RibbonSpareSlots = 4

	ribbonWidth    = 128  // coefficients of a key
	ribbonOverhang = 64   // how far outside of the shard a key's first coefficient may be drawn
	ribbonShard    = 1500 // keys in a shard, on average at most
	ribbonWord     = 64   // slots of a block
	ribbonTries    = 2    // shards for one slot that is planned for failed attempts
	ribbonMaxKeys  = 1 << 53
	ribbonEven     = 64 // shards from which on the sizes of single ones are neglected
)

// RibbonShards returns the number of shards among which n keys are divided: the fewest with at most
// 1500 keys per shard. It is at least 1.
//
// Rows of 128 coefficients that may begin up to 64 slots outside of the shard, and are moved to its
// ends, are independent in 9 of 10 shards of 1500 keys and 1504 slots, 0.3 % more than keys. With
// 10,000 keys in one shard half of the systems are solved with 0.6 % more slots, and with 1.0 % if
// rows begin inside; with 100,000 keys, with 1.9 %. Smaller shards would need a larger table: each
// takes 32 bits of it.
func RibbonShards(n uint64) uint64 { return max((n+ribbonShard-1)/ribbonShard, 1) }

// RibbonStepsFor returns the smallest number of steps, 1 to RibbonMaxSteps, at which a ribbon filter
// has a rate of at most p, for any number of keys. With s steps a key has ⌊s/256⌋ columns,
// and one more in s mod 256 of 256 cases: the rate is (1-x/2)·2^-⌊s/256⌋, x = (s mod 256)/256.
//
// It returns an error wrapping [ErrRange] if p is not inside (0, 1), or less than 2^-32.
//
// Source: a filter of r columns has the rate 2^-r, Dillinger and Walzer 2021. For rates in between,
// their implementation also gives one more column to a part of the keys.
func RibbonStepsFor(p float64) (steps int, err error) {
	if err := checkGoal(1, p); err != nil {
		return 0, err
	}
	if p < 1.0/(1<<32) {
		return 0, sentinel.Errorf(ErrRange, "plan: false-positive rate %v, want at least 2^-32 for a ribbon filter; accept a higher one", p)
	}
	found, _ := least(RibbonMaxSteps, func(s uint64) bool { return ribbonIdeal(int(s)) <= p*(1+tolerance) })
	return int(found), nil
}

// RibbonFPRate returns the false-positive rate of a ribbon filter of n distinct keys with the given
// number of steps. It depends on n only because blocks of 64 slots have the same number of columns:
// with few keys, more of them than needed have the larger number. It panics unless n is from 1 to
// 2^53 and steps are from 1 to RibbonMaxSteps.
func RibbonFPRate(n uint64, steps int) float64 {
	rate, _ := ribbon(n, steps)
	return rate
}

// RibbonSize returns the bits of a ribbon filter of n distinct keys with the given number of steps:
// about (n + 4.5·shards)·steps/256 + 32·shards, with blocks of 64 slots and words rounded up. It
// panics as RibbonFPRate does. A filter may differ from it by a few slots in a thousand, depending on
// the attempts that solving took.
func RibbonSize(n uint64, steps int) uint64 {
	_, bits := ribbon(n, steps)
	return bits
}

// RibbonBits returns the bits of a ribbon filter of n distinct keys at a rate of at most p, with its
// table of shards and without its container. It returns an error wrapping [ErrRange] if n is zero or
// above 2^53, or if RibbonStepsFor does.
func RibbonBits(n uint64, p float64) (bits uint64, err error) {
	if err := checkGoal(n, p); err != nil {
		return 0, err
	}
	if n > ribbonMaxKeys {
		return 0, sentinel.Errorf(ErrRange, "plan: %d keys in a ribbon filter, want at most 2^53", n)
	}
	steps, err := RibbonStepsFor(p)
	if err != nil {
		return 0, err
	}
	return RibbonSize(n, steps), nil
}

// ribbonIdeal returns the rate of a filter that is much larger than a block.
func ribbonIdeal(steps int) float64 {
	return math.Ldexp(1-float64(steps%RibbonSteps)/(2*RibbonSteps), -(steps / RibbonSteps))
}

// ribbon returns the rate and the size. If there are few shards it computes each, since a block is
// large compared with them; it assumes that they have equally many slots.
func ribbon(n uint64, steps int) (rate float64, bits uint64) {
	if n == 0 || n > ribbonMaxKeys || steps < 1 || steps > RibbonMaxSteps {
		panic(fmt.Sprintf("plan: a ribbon filter of %d keys and %d steps, want 1 to 2^53 and 1 to %d", n, steps, RibbonMaxSteps))
	}
	shards := RibbonShards(n)
	slots := n + shards*RibbonSpareSlots + shards/ribbonTries
	blocks := (slots + ribbonWord - 1) / ribbonWord
	columns, part := uint64(steps/RibbonSteps), uint64(steps%RibbonSteps)
	low := blocks - (blocks*part+RibbonSteps-1)/RibbonSteps
	rate = ribbonIdeal(steps)
	if shards < ribbonEven {
		sizes := make([]uint64, shards)
		for i := range sizes {
			sizes[i] = slots*uint64(i+1)/shards - slots*uint64(i)/shards
		}
		low = RibbonLowBlocks(sizes, steps)
		rate = math.Ldexp(1-RibbonUpperShare(sizes, low)/2, -int(columns))
	}
	table := (shards + 1) / 2
	return rate, ribbonWord * (columns*blocks + blocks - low + table)
}

// RibbonLowBlocks returns the number of blocks of 64 slots, from the first, that have ⌊steps/256⌋
// columns; the others have one more. slots are the numbers of slots of the filter's shards, in order,
// each at most 2^24. The result is the largest number with which at least the share of keys that
// steps demands has the larger number of columns.
func RibbonLowBlocks(slots []uint64, steps int) (low uint64) {
	var total uint64
	for _, m := range slots {
		total += m
	}
	blocks := (total + ribbonWord - 1) / ribbonWord
	part := uint64(steps % RibbonSteps)
	if part == 0 {
		return blocks
	}
	want := uint64(len(slots)) * part << 24
	// The last number that is possible is before the first that is not, and all blocks are not.
	tooMany, _ := least(max(blocks, 1), func(low uint64) bool { return ribbonFrom(slots, low*ribbonWord) < want })
	return tooMany - 1
}

// RibbonUpperShare returns the share of keys that begin in the blocks from low on, which have one
// column more. slots are the numbers of slots of the filter's shards.
func RibbonUpperShare(slots []uint64, low uint64) float64 {
	return float64(ribbonFrom(slots, low*ribbonWord)) / float64(uint64(len(slots))<<32)
}

// ribbonFrom returns the share of keys that begin at slot or after it, in units of 2^-32 of a shard's
// keys. A key's first coefficient is drawn from 64 slots before the shard to 64 slots after the last
// possible slot, and moved to the nearest possible slot.
func ribbonFrom(slots []uint64, slot uint64) (share uint64) {
	first := uint64(0)
	for _, m := range slots {
		places := max(m, ribbonWidth) - ribbonWidth + 1
		switch {
		case slot <= first:
			share += 1 << 32
		case slot < first+places:
			share += (m + 1 - (slot - first + ribbonOverhang)) << 32 / (m + 1)
		}
		first += m
	}
	return share
}
