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
// [FPRate] returns the rate, [FPRateExact] the rate without the usual approximation,
// [FPRateAtFill] the rate of an existing filter, and [Fill] its expected fill ratio. [Size] and
// [SizeForK] return the smallest size for a rate, [BestK] the best k for a size, and [Capacity] the
// most keys for both.
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
// [ScalableLayerAt] and [ScalableFirstRate] plan scalable filters, [DynamicFPRate] dynamic ones,
// [IncrementalLayers] incremental ones, and [WindowSize] and [WindowFPRate] those that expire keys.
// [CompoundFPRate] joins the rates of layers.
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
// with many divisors, and [MeanOvershoot] the quality of fold sizes.
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
