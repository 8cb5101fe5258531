// Measurements of umbel and other libraries. A separate module, so that umbel does not
// depend on them.
module github.com/umbel-filters/umbel/research/bench

go 1.26.0

require (
	github.com/FastFilter/xorfilter v0.4.2-0.20260120015552-4e5a4d9df65a
	github.com/bits-and-blooms/bloom/v3 v3.7.1
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/dgraph-io/ristretto/v2 v2.4.2
	github.com/greatroar/blobloom v0.8.1
	github.com/holiman/bloomfilter/v2 v2.0.3
	github.com/klauspost/compress v1.18.6
	github.com/klauspost/cpuid/v2 v2.4.2
	github.com/parquet-go/parquet-go v0.32.0
	github.com/tylertreat/BoomFilters v0.0.0-20251001182300-5b3723cc64ae
	github.com/umbel-filters/umbel v0.0.0
	github.com/umbel-filters/umbel/inpacket/multicast v0.0.0
	github.com/umbel-filters/umbel/share v0.0.0
	github.com/zeebo/xxh3 v1.1.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.2 // indirect
	github.com/d4l3k/messagediff v1.2.1 // indirect
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/umbel-filters/umbel => ../../

replace github.com/umbel-filters/umbel/inpacket/multicast => ../../inpacket/multicast

replace github.com/umbel-filters/umbel/share => ../../share
