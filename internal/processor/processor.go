// Package processor has what kernels and prefetching depend on: the instructions of this processor and the size of its
// cache. It knows no more than that, since every program with a filter links it.
package processor

// Features is a set of groups of instructions of amd64.
type Features uint16

// The groups that kernels need. Those with vectors are there only if the operating system saves the registers.
const (
	POPCNT Features = 1 << iota
	LZCNT
	BMI1
	BMI2
	AVX2
	AVX512F
	AVX512DQ
	AVX512BW
	AVX512VL
	AVX512VBMI
)

var have, reportedL2 = detect()

// Have reports whether this processor and its operating system have all of f.
func Have(f Features) bool { return have&f == f }

// L2 is the size in bytes of the second-level cache of a core, on which it depends from which size of a filter on
// prefetching pays: what the processor reports, between 256 KiB and 4 MiB, since in a virtual machine it may report
// anything, and 1 MiB if it reports nothing.
var L2 = bounded(reportedL2)

func bounded(reported int) uint64 {
	if reported <= 0 {
		return 1 << 20
	}
	return min(max(uint64(reported), 256<<10), 4<<20)
}
