package plan

import (
	"fmt"
	"math"
)

// What is fixed of ribbon filters. A shard is a system of equations of its own.
const (
	// RibbonSteps is the number of steps in a column, a bit of the answer.
	RibbonSteps = 256
	// RibbonMaxSteps is the largest number of steps: 32 columns.
	RibbonMaxSteps = 32 * RibbonSteps
	// RibbonSpare is how many slots more than keys a shard has at first.
	RibbonSpare = 4

	ribbonWidth    = 128  // coefficients of a key
	ribbonOverhang = 64   // how far a key's first coefficient may be drawn outside of the shard
	ribbonShard    = 1500 // keys in a shard, at most in the mean
	ribbonWord     = 64   // slots of a block
	ribbonTries    = 2    // shards for one slot that is planned for the tries that fail
	ribbonMaxKeys  = 1 << 53
	ribbonEven     = 64 // shards from which on the sizes of single ones are left out
)

// RibbonShards returns the number of shards among which n keys are split: as few as
// make 1500 keys a shard, or less. It is at least 1.
//
// Rows of 128 coefficients that may begin up to 64 slots outside of the shard, where
// they are moved to its ends, are independent in 9 of 10 shards of 1500 keys and 1504
// slots, 0.3 % more than keys. Of 10,000 keys at once half of the systems are solved with
// 0.6 % more slots, and with 1.0 % if rows begin inside; of 100,000 with 1.9 %. Were shards
// smaller their table would be larger: it takes 32 bits for each.
func RibbonShards(n uint64) uint64 { return max((n+ribbonShard-1)/ribbonShard, 1) }

// RibbonFor returns the least number of steps, 1 to RibbonMaxSteps, at which a ribbon
// filter has a rate of at most p, whatever the number of its keys. With s steps a key
// has ⌊s/256⌋ columns, or one more in s mod 256 of 256 cases: the rate is
// (1-x/2)·2^-⌊s/256⌋, x = (s mod 256)/256.
//
// The error wraps [ErrRange] if p is not inside (0, 1), or less than 2^-32.
//
// Source: a filter of r columns has the rate 2^-r, Dillinger and Walzer 2021; a part of the
// keys with one more column is how their implementation gets the rates between.
func RibbonFor(p float64) (steps int, err error) {
	if err := checkGoal(1, p); err != nil {
		return 0, err
	}
	if p < 1.0/(1<<32) {
		return 0, fmt.Errorf("plan: a ribbon filter has a rate of 2^-32 or more, want %v; accept a higher one: %w", p, ErrRange)
	}
	found, _ := least(RibbonMaxSteps, func(s uint64) bool { return ribbonIdeal(int(s)) <= p*(1+tolerance) })
	return int(found), nil
}

// RibbonFPRate returns the probability that a ribbon filter with so many steps answers
// yes for a key it does not hold, if it is made of n distinct keys. It doesn't depend on
// n, but that blocks of 64 slots have one number of columns: of few keys so many more
// have the larger number. It panics unless n is from 1 to 2^53 and steps are from 1 to
// RibbonMaxSteps.
func RibbonFPRate(n uint64, steps int) float64 {
	rate, _ := ribbon(n, steps)
	return rate
}

// RibbonSize returns the bits that a ribbon filter with so many steps takes for n
// distinct keys: about (n + 4.5·shards)·steps/256 + 32·shards, blocks of 64 slots and words
// rounded up. It panics as RibbonFPRate does. What a filter then takes may differ by what
// the tries cost that solving took, a few slots in a thousand.
func RibbonSize(n uint64, steps int) uint64 {
	_, bits := ribbon(n, steps)
	return bits
}

// RibbonBits returns the bits that a ribbon filter takes for n distinct keys at a rate
// of at most p, with its table of shards, without what a container adds. The error wraps
// [ErrRange] if n is zero or above 2^53, or as that of RibbonFor does.
func RibbonBits(n uint64, p float64) (bits uint64, err error) {
	if err := checkGoal(n, p); err != nil {
		return 0, err
	}
	if n > ribbonMaxKeys {
		return 0, fmt.Errorf("plan: a ribbon filter of %d keys, want at most 2^53: %w", n, ErrRange)
	}
	steps, err := RibbonFor(p)
	if err != nil {
		return 0, err
	}
	return RibbonSize(n, steps), nil
}

// ribbonIdeal is the rate where blocks are small beside the filter.
func ribbonIdeal(steps int) float64 {
	return math.Ldexp(1-float64(steps%RibbonSteps)/(2*RibbonSteps), -(steps / RibbonSteps))
}

// ribbon returns the rate and the size. Of few shards it looks at each, as blocks are
// large beside them; their slots are taken to be equal.
func ribbon(n uint64, steps int) (rate float64, bits uint64) {
	if n == 0 || n > ribbonMaxKeys || steps < 1 || steps > RibbonMaxSteps {
		panic(fmt.Sprintf("plan: a ribbon filter of %d keys and %d steps, want 1 to 2^53 and 1 to %d", n, steps, RibbonMaxSteps))
	}
	shards := RibbonShards(n)
	slots := n + shards*RibbonSpare + shards/ribbonTries
	blocks := (slots + ribbonWord - 1) / ribbonWord
	columns, part := uint64(steps/RibbonSteps), uint64(steps%RibbonSteps)
	low := blocks - (blocks*part+RibbonSteps-1)/RibbonSteps
	rate = ribbonIdeal(steps)
	if shards < ribbonEven {
		sizes := make([]uint64, shards)
		for i := range sizes {
			sizes[i] = slots*uint64(i+1)/shards - slots*uint64(i)/shards
		}
		low = RibbonLow(sizes, steps)
		rate = math.Ldexp(1-RibbonUpper(sizes, low)/2, -int(columns))
	}
	table := (shards + 1) / 2
	return rate, ribbonWord * (columns*blocks + blocks - low + table)
}

// RibbonLow returns the number of blocks of 64 slots, from the first, that have
// ⌊steps/256⌋ columns; the others have one more. The shards of the filter have so many
// slots each, 2^24 at most, one behind the other. It is the largest number with which as
// many keys have the larger number of columns as the steps say, or more.
func RibbonLow(slots []uint64, steps int) (low uint64) {
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
	// The last number that will do is before the first that won't, and all blocks won't.
	tooMany, _ := least(max(blocks, 1), func(low uint64) bool { return ribbonFrom(slots, low*ribbonWord) < want })
	return tooMany - 1
}

// RibbonUpper returns the share of keys that begin in the blocks from low on, of a
// filter whose shards have so many slots each: those that have one column more.
func RibbonUpper(slots []uint64, low uint64) float64 {
	return float64(ribbonFrom(slots, low*ribbonWord)) / float64(uint64(len(slots))<<32)
}

// ribbonFrom returns the share of keys that begin at a slot or behind it, in units of
// 2^-32 of a shard's keys. A key's first coefficient is drawn from 64 slots before the
// shard to 64 slots behind the last place for it, and moved to the nearest place.
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
