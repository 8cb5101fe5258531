package ribbon

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Constants of ribbon filters. A shard is a separate system of equations.
const (
	// columnSteps is the number of steps in a column. A column is one bit of the result.
	columnSteps = 256
	// maxSteps is the largest number of steps: 32 columns.
	maxSteps = 32 * columnSteps
	// spareSlots is the number of slots that a shard has in addition to its keys at first.
	spareSlots = 4

	shardKeys  = 1500 // keys in a shard, on average at most
	shardTries = 2    // shards for one slot that is planned for failed attempts
	evenShards = 64   // shards from which on the sizes of single ones are neglected
)

// shardsFor returns the number of shards among which n keys are divided: the fewest with at most
// 1500 keys per shard. It is at least 1.
//
// Rows of 128 coefficients that may begin up to 64 slots outside of the shard, and are moved to its
// ends, are independent in 9 of 10 shards of 1500 keys and 1504 slots, 0.3 % more than keys. With
// 10,000 keys in one shard half of the systems are solved with 0.6 % more slots, and with 1.0 % if
// rows begin inside; with 100,000 keys, with 1.9 %. Smaller shards would need a larger table: each
// takes 32 bits of it.
func shardsFor(n uint64) uint64 { return max((n+shardKeys-1)/shardKeys, 1) }

// Slots returns the number of slots of a filter that is sealed with n keys, at most 2^53, and of the shards
// among which they are divided. A filter may differ from it by a few slots in a thousand, depending on the
// attempts that solving took.
func Slots(n uint64) (slots, shards uint64) {
	shards = shardsFor(n)
	return n + shards*spareSlots + shards/shardTries, shards
}

// stepsFor returns the smallest number of steps, 1 to maxSteps, at which a ribbon filter
// has a rate of at most p, for any number of keys. With s steps a key has ⌊s/256⌋ columns,
// and one more in s mod 256 of 256 cases: the rate is (1-x/2)·2^-⌊s/256⌋, x = (s mod 256)/256.
//
// It returns an error wrapping [plan.ErrRange] if p is not inside (0, 1), or less than 2^-32.
//
// Source: a filter of r columns has the rate 2^-r, Dillinger and Walzer 2021. For rates in between,
// their implementation also gives one more column to a part of the keys.
func stepsFor(p float64) (steps int, err error) {
	if err := planning.CheckGoal(1, p); err != nil {
		return 0, err
	}
	if p < 1.0/(1<<32) {
		return 0, sentinel.Errorf(plan.ErrRange, "false-positive rate %v, want at least 2^-32 for a ribbon filter; accept a higher one", p)
	}
	found, _ := planning.Least(maxSteps, func(s uint64) bool { return idealRate(int(s)) <= p*(1+1e-12) })
	return int(found), nil
}

// fpRate returns the false-positive rate of a ribbon filter of n distinct keys with the given
// number of steps. It depends on n only because blocks of 64 slots have the same number of columns:
// with few keys, more of them than needed have the larger number. It panics unless n is from 1 to
// 2^53 and steps are from 1 to maxSteps.
func fpRate(n uint64, steps int) float64 {
	rate, _ := measures(n, steps)
	return rate
}

// sizeOf returns the bits of a ribbon filter of n distinct keys with the given number of steps:
// about (n + 4.5·shards)·steps/256 + 32·shards, with blocks of 64 slots and words rounded up. It
// panics as fpRate does. A filter may differ from it by a few slots in a thousand, depending on
// the attempts that solving took.
func sizeOf(n uint64, steps int) uint64 {
	_, bits := measures(n, steps)
	return bits
}

// idealRate returns the rate of a filter that is much larger than a block.
func idealRate(steps int) float64 {
	return math.Ldexp(1-float64(steps%columnSteps)/(2*columnSteps), -(steps / columnSteps))
}

// measures returns the rate and the size. If there are few shards it computes each, since a block is
// large compared with them; it assumes that they have equally many slots.
func measures(n uint64, steps int) (rate float64, bits uint64) {
	if n == 0 || n > maxKeys || steps < 1 || steps > maxSteps {
		panic(fmt.Sprintf("a ribbon filter of %d keys and %d steps, want 1 to 2^53 and 1 to %d", n, steps, maxSteps))
	}
	slots, shards := Slots(n)
	blocks := (slots + word - 1) / word
	columns, part := uint64(steps/columnSteps), uint64(steps%columnSteps)
	low := blocks - (blocks*part+columnSteps-1)/columnSteps
	rate = idealRate(steps)
	if shards < evenShards {
		sizes := make([]uint64, shards)
		for i := range sizes {
			sizes[i] = slots*uint64(i+1)/shards - slots*uint64(i)/shards
		}
		low = lowBlocks(sizes, steps)
		rate = math.Ldexp(1-upperShare(sizes, low)/2, -int(columns))
	}
	table := (shards + 1) / 2
	return rate, word * (columns*blocks + blocks - low + table)
}

// lowBlocks returns the number of blocks of 64 slots, from the first, that have ⌊steps/256⌋
// columns; the others have one more. slots are the numbers of slots of the filter's shards, in order,
// each at most 2^24. The result is the largest number with which at least the share of keys that
// steps demands has the larger number of columns.
func lowBlocks(slots []uint64, steps int) (low uint64) {
	var total uint64
	for _, m := range slots {
		total += m
	}
	blocks := (total + word - 1) / word
	part := uint64(steps % columnSteps)
	if part == 0 {
		return blocks
	}
	want := uint64(len(slots)) * part << 24
	// The last number that is possible is before the first that is not, and all blocks are not.
	tooMany, _ := planning.Least(max(blocks, 1), func(low uint64) bool { return shareFrom(slots, low*word) < want })
	return tooMany - 1
}

// upperShare returns the share of keys that begin in the blocks from low on, which have one
// column more. slots are the numbers of slots of the filter's shards.
func upperShare(slots []uint64, low uint64) float64 {
	return float64(shareFrom(slots, low*word)) / float64(uint64(len(slots))<<32)
}

// shareFrom returns the share of keys that begin at slot or after it, in units of 2^-32 of a shard's
// keys. A key's first coefficient is drawn from 64 slots before the shard to 64 slots after the last
// possible slot, and moved to the nearest possible slot.
func shareFrom(slots []uint64, slot uint64) (share uint64) {
	first := uint64(0)
	for _, m := range slots {
		places := max(m, width) - width + 1
		switch {
		case slot <= first:
			share += 1 << 32
		case slot < first+places:
			share += (m + 1 - (slot - first + overhang)) << 32 / (m + 1)
		}
		first += m
	}
	return share
}
