// Package plan contains the formulas of the papers on Bloom filters: rates, sizes, numbers of keys, folds,
// and sizes of messages. It is the place to begin for a reader who knows the papers: each name states its
// source, and both formulas if a printed one is wrong.
//
// Letters are those of the literature: m is the number of cells of a filter, k the number of cells
// set per key, n the number of distinct keys, p a false-positive rate. Rates and fill ratios are fractions
// in [0, 1], never percent. Sizes are in cells; a cell is one bit in a plain filter.
//
// # The plain filter
//
// [Filter] is a Bloom filter of m cells, k per key (Bloom 1970). Its methods return what n keys make of it:
// [Filter.Fill] the fill ratio, [Filter.FPRate] the rate, [Filter.FPRateExact] the same with more digits.
// [Size] is the way back, from a goal to the smallest filter; [SizeForK] and [BestK] are for a given k or
// size, and [Filter.Capacity] returns the most keys for a rate.
//
// An existing filter is measured by its cells that are set: [FPRateAtFill] is its rate, and [Filter.Keys]
// estimates its keys. [Filter.CommonKeys] estimates those that are in both of two filters, and
// [CompoundFPRate] is the rate of several filters that are queried together.
//
// # The folded filter
//
// A filter whose m cells are folded by a divisor of m is the filter of the smaller size, bit for bit
// (Sailhan and Stehr 2012). [Interval] is the rate that a folded filter keeps: [Interval.Base] is the size
// to fold from, [FoldSizes] the sizes it folds to, and [Interval.Target] the one to choose for n keys.
// [RoundFoldable] and [MeanOvershoot] are about numbers with many divisors.
//
// # The compressed filter
//
// A sparse filter is compressed before it is sent (Mitzenmacher 2002). [Filter.WireBits] is its size then,
// and [Filter.DeltaBits] that of an update. A larger array with a smaller k is better:
// [CompressedSearch] finds the best filter to send, and [CompressionCurve] shows what is possible.
//
// # Other filters
//
// Formulas of other kinds are in the packages of these kinds: the method Forecast of a Shape returns rate
// and memory. Package filter/message compares the kinds of filters, with the sizes of their messages.
//
// # Assumptions
//
// Formulas assume that positions are independent and uniform, drawn with repetition. Other filters,
// for example one with plain double hashing and few cells, have a higher rate.
//
// A method panics if m or k is zero or k is negative, since no filter has such a shape. Packages that read
// untrusted input check it first. Functions that find a size return an error wrapping [ErrRange] instead,
// because their arguments are a user's requirements.
//
// Results are floating point, and a compiler may fuse a multiplication and an addition, so a size can
// differ by a cell or two between platforms. Plan once and send the size; don't plan it again on the
// other side.
//
// All functions may be called concurrently.
package plan

import "github.com/umbel-filters/umbel/internal/planning"

// ErrRange is wrapped by the errors of this package: a requirement is outside the range for
// which there is a filter. The text before it says which number it is, and what to change.
var ErrRange = planning.ErrRange
