// Package plan holds the formulas and designers for Bloom filters: how often a
// filter answers yes for a key it does not hold, how large it has to be, how
// many keys are in it. Everything here is a pure function of numbers; no type of
// another package of this module appears.
//
// The letters are those of the literature: m is the number of cells of a filter,
// k the number of cells set per key (the choice of a block is not counted), n the
// number of distinct keys, p a false-positive rate. Rates and fills are fractions
// in [0, 1], never percent. Sizes are in cells; a cell is one bit in a plain
// filter.
//
//	question                    plain                k slices             blocks           some words of a block  Parquet's blocks
//	how often is it wrong       FPRate               PartitionedFPRate    BlockedFPRate    SectorFPRate           SplitBlockFPRate
//	how large must it be        Size                 PartitionedSize      BlockedSize      SectorSize             SplitBlockSize
//	how large, with k given     SizeForK             PartitionedSizeForK  BlockedSizeForK  SectorSizeFor
//	what is best at a size      BestK                                                      SectorDesign
//	how many keys may it hold   Capacity             PartitionedCapacity
//	how many keys does it hold  Keys, KeysInterval                                         SectorKeys             SplitBlockKeys
//	of two filters              Union, Intersection
//	which sizes are right       Interval
//	which folds well            Base, Foldable
//	what does it fold to        Ladder, FoldTarget, Granularity
//	do its counters overflow    CounterOverflow and the bounds of it
//	how far does it compress    WireBits, CounterBits, SnapshotBits
//	its updates                 DeltaBits, XORDeltaBits, AdditionBits, UpdateBits, RefineBits
//	what fits a packet          SizeWithin, CapacityWithin
//	what is best sent           Search, Curve; of all kinds Message
//
// Filters that are solved from all keys have RibbonFPRate, RibbonBits and RibbonFor.
//
// Filters that forget have WindowFPRate and WindowSize, those made of
// planes that open one by one Incremental.
//
// Of a filter whose keys are of classes with a k each, WeightedFPRate tells how
// often it is wrong, and WeightedKs which k are best; WeightedK has the formula.
//
// The formulas take positions to be independent and uniform, drawn with
// repetition. A filter whose positions are not, for example one with plain double
// hashing and few cells, is wrong more often than they say.
//
// A function panics if m, k or a block length is zero or k is negative, since no
// filter is like that; limits on what strangers send belong to the packages that
// read it. The functions that find a size return an error that wraps ErrRange
// instead, because their arguments are what a user wished for.
//
// All results are floating point, and a compiler may fuse a multiplication and an
// addition, so a size can differ by a cell or two between two platforms. Plan
// once, and send the size; do not let the other side plan it again.
//
// All functions may be called from many goroutines at once.
package plan
