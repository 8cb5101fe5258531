// Package cpucache has the size of the processor's cache, on which it depends from which size of a filter on
// prefetching pays.
package cpucache

import "github.com/klauspost/cpuid/v2"

// L2 is the size in bytes of the second-level cache of a core: what the processor reports, between 256 KiB
// and 4 MiB, since in a virtual machine it may report anything, and 1 MiB if it reports nothing.
var L2 = bounded(cpuid.CPU.Cache.L2)

func bounded(reported int) uint64 {
	if reported <= 0 {
		return 1 << 20
	}
	return min(max(uint64(reported), 256<<10), 4<<20)
}
