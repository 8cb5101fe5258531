package node

import "testing"

// The log of a node with little space has small files: one in use and two that are kept must fit.
func TestSegmentBytes(t *testing.T) {
	for maxDisk, want := range map[int64]int64{0: 0, 64 << 20: 2 << 20, 1 << 30: 32 << 20, 1 << 40: 32 << 20} {
		if got := segmentBytes(maxDisk); got != want {
			t.Errorf("max-disk %d: segments of %d bytes, want %d", maxDisk, got, want)
		}
	}
}
