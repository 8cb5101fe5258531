package engine

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

func TestLabel(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 300, 16383, 16384, MaxName} {
		name := strings.Repeat("n", n)
		if got := newLabel(name).String(); got != name {
			t.Errorf("%d bytes: %d bytes", n, len(got))
		}
	}
}

// A Filter is in the size class of 160 bytes. In that of 192 bytes are parameters of states, which live
// for a moment and leave holes between filters.
func TestSizeOfFilter(t *testing.T) {
	if got := unsafe.Sizeof(Filter{}); got > 160 {
		t.Errorf("%d bytes, want at most 160", got)
	}
}

// A filter as BF.ADD makes it takes 365 bytes beyond its bits.
func TestOverheadOfSmallFilters(t *testing.T) {
	const n, bits = 50_000, 144
	e := New(Options{Kinds: filter.All})
	before := liveBytes()
	for i := range n {
		f, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.01, Capacity: 100})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.Put(nameOf(i), f, PutOptions{Empty: true}); err != nil {
			t.Fatal(err)
		}
	}
	got := float64(liveBytes()-before)/n - bits
	runtime.KeepAlive(e)
	t.Logf("%.0f bytes beyond the bits", got)
	if got > 367 {
		t.Errorf("a filter takes %.0f bytes beyond its bits, want at most 367", got)
	}
}

// Metrics measure all filters again and again: for a small filter nothing is allocated.
func TestStatsOfSmallFilter(t *testing.T) {
	e := New(Options{Kinds: filter.All})
	f, _, err := e.Create("f", "bloom", umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { f.Measured() }); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// nameOf returns a name of 12 bytes.
func nameOf(i int) string {
	const digits = "0123456789"
	b := []byte("filter:00000")
	for at := len(b) - 1; i > 0; at, i = at-1, i/10 {
		b[at] = digits[i%10]
	}
	return string(b)
}

// liveBytes returns the bytes of all reachable objects.
func liveBytes() uint64 {
	runtime.GC()
	runtime.GC() // frees what a sync.Pool kept after the first one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Sum returns the bytes that the filters take, counted one by one, with those whose time
// is over.
func (e *Engine) Sum() uint64 {
	sum := uint64(0)
	for _, f := range e.filters(0, e.known()) {
		sum += f.Bytes()
	}
	return sum
}

// Waits reports whether somebody waits for those who add to the filter to be done.
func (f *Filter) Waits() bool {
	if f.changes.TryRLock() {
		f.changes.RUnlock()
		return false
	}
	return true
}

// SetLongBytes sets the size of a state from which a change is queued with Journal.Begin.
func (e *Engine) SetLongBytes(n uint64) { e.longBytes = n }
