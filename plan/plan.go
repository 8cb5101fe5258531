// Package plan provides the formulas and designers for Bloom filters: false-positive rates, sizes,
// numbers of keys, and sizes of messages. All functions are pure functions of numbers; the package
// uses no other type of this module.
//
// Letters are those of the literature: m is the number of cells of a filter, k the number of cells
// set per key (not counting the choice of a block), n the number of distinct keys, p a
// false-positive rate. Rates and fill ratios are fractions in [0, 1], never percent. Sizes are in
// cells; a cell is one bit in a plain filter.
//
// # Rates and sizes of plain filters
//
// [FPRate] returns the rate, [FPRateExact] the same with more digits, [FPRateAtFill] the rate of an
// existing filter, and [Fill] its expected fill ratio. [Size] and [SizeForK] return the smallest
// size for a rate, [BestK] the best k for a size, and [Capacity] the most keys for both.
//
// # Other layouts
//
// [PartitionedFPRate], [PartitionedSize], [PartitionedSizeForK] and [PartitionedCapacity] are for k
// slices. [BlockedFPRate], [BlockedSize], [BlockedDesign] and [BlockedDesignForRate] are for a few
// words of a block. [SplitBlockFPRate] and [SplitBlockSize] are for Parquet's blocks.
// [RibbonFPRate], [RibbonBits] and [RibbonStepsFor] are for filters that are solved from all keys.
// [WeightedFPRate], [WeightedK] and [WeightedKs] are for keys of several classes.
// [CounterOverflow] is for counters.
//
// # Filters of several layers
//
// [ScalableLayerAt] and [ScalableFirstRate] plan scalable filters, [DynamicLayers] dynamic ones, and
// [WindowSize] and [WindowFPRate] those that expire keys. [CompoundFPRate] joins the rates of layers.
//
// # Numbers of keys
//
// [Keys] and [KeysInterval] estimate the number of keys from the number of set cells, [BlockedKeys]
// and [SplitBlockKeys] in blocks, and [IntersectionKeys] those in both of two filters.
//
// # Folding
//
// [BaseSize] returns a size to fold from, [FoldSizes] the sizes it folds to, [FoldTarget] the one to
// choose, [SizeInterval] the sizes whose rate is within an interval, [RoundFoldable] a nearby size
// with many divisors, [FoldedFPRate] the rate of a filter that folds itself, and [MeanOvershoot] the
// quality of fold sizes.
//
// # Messages
//
// [WireBits] and [DeltaBits] return the sizes of filters and updates in an ideal code, [SnapshotBits]
// and [UpdateBits] those of whole messages. [SparseBits] returns the memory of a list of positions.
// [CompressedSearch] finds the best filter to send, [CompressionCurve] shows what is possible, and
// [Message] compares all kinds.
//
// # Assumptions
//
// Formulas assume that positions are independent and uniform, drawn with repetition. Other filters,
// for example one with plain double hashing and few cells, have a higher rate.
//
// A function panics if m, k or a block length is zero or k is negative, since no filter has such a
// shape. Packages that read untrusted input check it first. Functions that find a size return an
// error wrapping [ErrRange] instead, because their arguments are a user's requirements.
//
// Results are floating point, and a compiler may fuse a multiplication and an addition, so a size can
// differ by a cell or two between platforms. Plan once and send the size; don't plan it again on the
// other side.
//
// All functions may be called concurrently.
package plan

import (
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ErrRange is wrapped by the errors of this package: a requirement is outside the range for
// which there is a filter. The text before it says which number it is, and what to change.
var ErrRange = errors.New("out of range")

// checkGoal returns an error wrapping ErrRange if n is zero or p is not inside (0, 1).
func checkGoal(n uint64, p float64) error {
	if n == 0 {
		return sentinel.Errorf(ErrRange, "plan: 0 keys, want at least 1; give the number of keys the filter will hold")
	}
	if !(p > 0 && p < 1) {
		return sentinel.Errorf(ErrRange, "plan: false-positive rate %v, want more than 0 and less than 1; give a fraction, 0.01 for one percent", p)
	}
	return nil
}

// checkK returns an error wrapping ErrRange if k is less than 1.
func checkK(k int) error {
	if k < 1 {
		return sentinel.Errorf(ErrRange, "plan: %d cells per key, want at least 1", k)
	}
	return nil
}

// mustShape panics if no filter has m cells and sets k of them per key.
func mustShape(m uint64, k int) {
	if m == 0 || k < 1 {
		panic(fmt.Sprintf("plan: m=%d and k=%d, want both at least 1", m, k))
	}
}

// maxCells is the largest size that is planned, in cells.
const maxCells = 1 << 63

// tooManyCells returns the error for a size above maxCells.
func tooManyCells(n uint64, p float64) error {
	return sentinel.Errorf(ErrRange, "plan: %d keys at a false-positive rate of %v need more than 2^63 cells; "+
		"accept a higher rate, set more cells per key, or spread the keys over several filters", n, p)
}

// least returns the smallest x in [1, high] for which ok holds, and whether there is one. If
// ok holds for x it must hold for all larger numbers. Where rounding violates that, ok still
// holds for the result and, unless the result is 1, not for the number before it.
func least(high uint64, ok func(x uint64) bool) (x uint64, found bool) {
	if high == 0 || !ok(high) {
		return 0, false
	}
	return bisect(0, high, ok), true
}

// leastNear is least for a caller that can guess the result: the better the guess, the
// faster. high is at most 2^63.
func leastNear(guess float64, high uint64, ok func(x uint64) bool) (x uint64, found bool) {
	x = high
	if guess < float64(high) {
		x = max(1, uint64(guess))
	}
	below := uint64(0)
	for !ok(x) {
		if x == high {
			return 0, false
		}
		below, x = x, min(2*x, high)
	}
	if below == 0 {
		for below = x / 2; below > 0 && ok(below); below /= 2 {
			x = below
		}
	}
	return bisect(below, x, ok), true
}

// bisect returns an x in (low, high] for which ok holds and before which it doesn't. It takes
// ok(low) as false and ok(high) as true.
func bisect(low, high uint64, ok func(x uint64) bool) uint64 {
	for high-low > 1 {
		mid := low + (high-low)/2
		if ok(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// mostKeys returns the largest n for which ok holds; it takes ok(0) as true.
func mostKeys(ok func(n uint64) bool) uint64 {
	over, found := least(math.MaxUint64, func(n uint64) bool { return !ok(n) })
	if !found {
		return math.MaxUint64
	}
	return over - 1
}

// crossing returns the x in [low, high] from which ok holds, to the precision of a float64 or
// of 100 halvings. It takes ok(low) as false and ok(high) as true.
func crossing(low, high float64, ok func(x float64) bool) float64 {
	for range 100 {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			break
		}
		if ok(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
