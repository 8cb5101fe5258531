//go:build amd64 && !purego && !race

package xxh3

import "github.com/umbel-filters/umbel/internal/processor"

var haveKernel = processor.Have(processor.AVX2)

// accumulateAVX2 is accumulatePlain for n bytes from b, at least a stripe.
//
//go:noescape
func accumulateAVX2(sums *[8]uint64, b *byte, n int, key *[192]byte)

func accumulate(sums *[8]uint64, b []byte, key *[192]byte) {
	if haveKernel {
		accumulateAVX2(sums, &b[0], len(b), key)
		return
	}
	accumulatePlain(sums, b, key)
}
