package node

import "testing"

func TestGarbagePercent(t *testing.T) {
	for used, want := range map[uint64]int{0: 100, 1 << 20: 100, 64 << 20: 100, 128 << 20: 50, 1 << 30: 6, 1 << 40: 5} {
		if got := garbagePercent(used); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d", used, got, want)
		}
	}
}
