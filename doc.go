// Package umbel holds the words that all of umbel shares: what a key's digest is,
// how it is made, what a filter can do, and what a filter's state consists of.
//
// A filter answers whether a key may be in a set. It never says no to a key that
// was added; it says yes to others at a small, planned rate. The filters
// themselves are kinds, one package each below filter: bloom, partitioned,
// blocked, splitblock. A program that wants one filter imports its kind:
//
//	shape, err := bloom.Plan(umbel.Goal{Keys: 1e6, FPRate: 0.01})
//	f, err := bloom.New(shape)
//	f.AddString("alice")
//	ok := f.HasString("bob")
//
// A program that handles filters of any kind works with [Filter], the one-method
// interfaces beside it, and a list of [Kinds], of which filter.All is one.
//
// # From key to answer
//
// A key is hashed once, to a [Digest] of 128 bits, by a [Hasher] that is part of
// the filter. The digest alone gives the stream of values from which each kind
// takes its positions; the size of the filter enters last (package probe). So one
// digest asks many filters, and a filter folded to a divisor of its size is bit
// for bit the filter built at that size.
//
// # State
//
// [State] is all there is of a filter: its kind, its hasher, some named numbers
// and packed arrays of cells. Containers, inspection and exchange know State and
// no kind.
//
// # Concurrency
//
// Filters may be asked by any number of goroutines while nobody changes them, as
// maps may. Kinds with AddAtomic take additions alongside questions.
package umbel
