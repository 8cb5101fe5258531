package redisbloom_test

import (
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// TestMemory: a filter for 100 keys is one allocation of 144 bytes and its 144 bytes of bits.
func TestMemory(t *testing.T) {
	const n, want = 10_000, 144 + 144
	filters := make([]*redisbloom.Filter, n)
	before := liveBytes()
	for i := range filters {
		filters[i] = reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 100})
	}
	got := float64(liveBytes()-before) / n
	runtime.KeepAlive(filters)
	if got > want+5 {
		t.Errorf("a filter takes %.0f bytes, want %d", got, want)
	}
}

// liveBytes returns the bytes of all reachable objects.
func liveBytes() uint64 {
	runtime.GC()
	runtime.GC() // the first one ends the sweep of the objects of sync.Pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
