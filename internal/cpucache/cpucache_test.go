package cpucache

import "testing"

func TestBounded(t *testing.T) {
	for reported, want := range map[int]uint64{-1: 1 << 20, 0: 1 << 20, 1: 256 << 10, 512 << 10: 512 << 10, 1 << 40: 4 << 20} {
		if got := bounded(reported); got != want {
			t.Errorf("%d bytes reported: %d, want %d", reported, got, want)
		}
	}
}
