// Package umbel contains the types that all filters of this module share. To make a
// filter, import the package of its kind, for example filter/bloom:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/umbel-filters/umbel/filter/bloom"
//	)
//
//	func main() {
//		f, err := bloom.New(1_000_000, 0.01) // keys, false-positive rate
//		if err != nil {
//			log.Fatal(err)
//		}
//		f.AddString("alice")
//		fmt.Println(f.HasString("alice"), f.HasString("bob")) // true false
//	}
//
// A filter reports whether a key may be in a set. Has is never false for a key that was
// added. For other keys it is true at a small rate, which is planned.
//
// # Kinds
//
// Each kind is a package in folder filter, or in filter/foreign if another program defined its format (from
// redisbloom to imported, and splitblock):
//
//   - bloom: standard Bloom filter: least memory, up to k cache misses per query (Bloom 1970)
//   - partitioned: partitioned Bloom filter: one cell in each of k slices, rate exact on average (Almeida et al. 2007)
//   - blocked: blocked Bloom filter: one cache miss per query, a few percent more memory (Putze et al. 2010)
//   - splitblock: Parquet's split-block filter, bit for bit with hash xxh64: one cache miss per query (Parquet's BloomFilter.md)
//   - counting: counting Bloom filter: removes and counts keys in 4 times the memory (Fan et al. 2000)
//   - weighted: more cells for keys that are often queried: fewest false positives for uneven queries (Bruck et al. 2006)
//   - weighted-counting: weighted filter with counters: removes and counts keys of classes in 4 times the memory (Verma 2015)
//   - scalable: scalable Bloom filter: grows with its keys and keeps its rate (Almeida et al. 2007)
//   - dynamic: dynamic Bloom filter: equal layers, keys can be removed if it has counters (Guo et al. 2006)
//   - folding: folds and unfolds by itself, so that its rate stays at or below a limit, and close to it (Sailhan and Stehr 2012)
//   - window: age-partitioned Bloom filter: keys expire after a window of time or of keys (Shtul, Baquero and Almeida 2020)
//   - sparse: Bloom filter with one cell per key, stored as a list of positions: small in messages and in memory (Mitzenmacher 2002; Elias 1974)
//   - redisbloom: RedisBloom's scalable filter, bit for bit with hash murmur64a (BF.SCANDUMP, BF.LOADCHUNK)
//   - squid: the filter of Squid's cache digests, bit for bit with hash md5: four cells per key (Squid, Cache Digest version 5)
//   - nixbloom: the filter of Nix binary caches, bit for bit with hash caller: which store paths a cache may have (NixBloom v1)
//   - imported: filters of Guava, Spark and blobloom, bit for bit
//   - ribbon: ribbon filter: least memory for receivers that only query, computed once from all keys (Dillinger and Walzer 2021)
//   - union: filters of any kinds and sizes side by side: merges without joining cells, at the sum of their rates
//
// Take bloom if in doubt. Take blocked if the filter is larger than the caches and speed
// matters, counting if keys are removed, scalable if the number of keys is unknown,
// window if only recent keys matter, ribbon if all keys are known beforehand, and
// redisbloom, splitblock or squid to exchange filters with Redis, Parquet or Squid.
// docs/choosing.md compares them with numbers.
//
// # Programs for any kind
//
// A program that handles filters of any kind works with [Filter], with the one-method
// interfaces for optional capabilities, such as [Merger], and with a list of [Kinds], for
// example filter.All. [AddKey] and [HasKey] take the keys of any filter, [AddKeys] and [HasKeys] many of them:
//
//	umbel.AddKey(f, "alice")
//
// They hash a key with the filter's [Hasher]. A [Digest] is the 128-bit hash of a key. The positions of a key follow from the digest
// alone, and the size of the filter is applied last. So one digest works
// with all filters of the same hasher, and a folded filter equals, bit for bit, the filter
// that was made with the smaller size.
//
// A [State] is the complete contents of a filter as plain data. Package wire encodes it
// as a container.
//
// # Concurrency
//
// Any number of goroutines may query a filter while none changes it, as with maps. Kinds
// with AddAtomic also accept additions concurrently with queries.
//
// # Compatibility
//
// The API is at v0: a minor version may change it, and CHANGELOG.md lists each change. From
// v1 on it follows the Go 1 compatibility promise. The formats are stable already: every
// container and delta that a released version wrote can be read by all later versions. The
// name of a kind stands for its format; another format gets another name.
package umbel

import "errors"

// The errors of filters, containers and deltas wrap one of these sentinels, for errors.Is. If
// a kind does not have a capability, the error wraps errors.ErrUnsupported instead. Errors of package plan
// wrap plan.ErrRange; those of kinds that plan wrap ErrGoal as well. Package share has more sentinels. The errors of
// packages share, share/web, siblings and multicast for wrong options, keys, URLs and trees wrap ErrGoal. [Hasher.Check] wraps none.
var (
	// ErrGoal: the requirements are contradictory or out of range.
	ErrGoal = errors.New("invalid goal")
	// ErrMismatch: two filters, or a filter and a factor, do not fit together.
	ErrMismatch = errors.New("mismatch")
	// ErrKind: the kind is not in the list of kinds.
	ErrKind = errors.New("unknown kind")
	// ErrCorrupt: the bytes or the state were not written by this module.
	ErrCorrupt = errors.New("corrupt")
	// ErrLimit: the input is well-formed, but larger than the limit of the caller.
	ErrLimit = errors.New("limit exceeded")
)
