package node

import (
	"runtime"
	"sync"
	"testing"
	"weak"
)

func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		used    uint64
		filters int
		want    int
	}{
		{0, 0, 100},
		{14 << 20, 10, 22},
		{60 << 20, 100_000, 15},
		{600 << 20, 1_000_000, 10},
		{1 << 30, 1, 5},
		{6 << 30, 10_000_000, 5},
	} {
		if got := garbagePercent(c.used, c.filters); got != c.want {
			t.Errorf("%d filters of %d bytes: %d %%, want %d", c.filters, c.used, got, c.want)
		}
	}
}

func TestWorthTrimming(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name                           string
		allocated, live, objects, free uint64
		want                           bool
	}{
		{"empty", 0, 3 * mib, 3 * mib, 0, false},
		{"garbage", 0, 3 * mib, 5 * mib, 0, true},
		{"free memory", 0, 3 * mib, 3 * mib, 2 * mib, true},
		{"both, too little", 0, 3 * mib, 3*mib + mib/2, mib / 2, false},
		{"too little of much", 0, 320 * mib, 325 * mib, 5 * mib, false},
		{"enough of much", 0, 320 * mib, 325 * mib, 6 * mib, true},
		{"objects were freed since", 0, 5 * mib, 3 * mib, mib / 2, false},
		{"not quiet", quietBytes + 1, 3 * mib, 50 * mib, 0, false},
	} {
		if got := worthTrimming(c.allocated, c.live, c.objects, c.free); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Garbage is collected once: not while the node allocates, and not again afterwards, also if the
// runtime keeps some of it.
func TestTrim(t *testing.T) {
	const mib = 1 << 20
	h := heap{live: 3 * mib, objects: 3 * mib}
	releases := 0
	tr := newTrimmer(func() heap { return h }, func() {
		releases++
		h.objects, h.free = h.live, 2*mib
	})
	for i, c := range []struct {
		allocates uint64
		want      int
	}{{4 * mib, 0}, {0, 1}, {0, 1}, {mib / 2, 1}, {4 * mib, 1}, {0, 2}, {0, 2}} {
		h.allocated += c.allocates
		h.objects += c.allocates
		if tr.trim(0); releases != c.want {
			t.Errorf("look %d: %d releases, want %d", i, releases, c.want)
		}
	}
}

// Memory is returned once more when the clients of a quiet node have released their buffers.
func TestTrimSettled(t *testing.T) {
	h := heap{live: 3 << 20, objects: 3 << 20}
	releases := 0
	tr := newTrimmer(func() heap { return h }, func() { releases++ })
	for look := range 3 * settleLooks {
		want := 0
		if look >= settleLooks-1 {
			want = 1
		}
		if tr.trim(0); releases != want {
			t.Errorf("look %d: %d releases, want %d", look, releases, want)
		}
	}
}

// The memory of deleted filters is returned.
func TestTrimDeleted(t *testing.T) {
	const mib = 1 << 20
	h := heap{live: 20 * mib, objects: 20 * mib}
	releases := 0
	tr := newTrimmer(func() heap { return h }, func() { releases++ })
	for i, c := range []struct {
		filters uint64
		want    int
	}{{10 * mib, 0}, {10 * mib, 0}, {10*mib - mib/2, 0}, {5 * mib, 1}, {5 * mib, 1}, {6 * mib, 1}} {
		if tr.trim(c.filters); releases != c.want {
			t.Errorf("look %d: %d releases, want %d", i, releases, c.want)
		}
	}
}

// A trimmer of this process collects garbage.
func TestHeapReader(t *testing.T) {
	read := heapReader()
	before := read()
	garbage := make([][]byte, 64)
	for i := range garbage {
		garbage[i] = make([]byte, 64<<10)
	}
	after := read()
	if grown := after.allocated - before.allocated; grown < 4<<20 {
		t.Errorf("%d bytes were allocated, want at least 4 MiB", grown)
	}
	if after.live == 0 && after.objects == 0 {
		t.Errorf("the heap is empty: %+v", after)
	}
	runtime.KeepAlive(garbage)
}

// What a sync.Pool contains is freed, too.
func TestReleasePools(t *testing.T) {
	var pool sync.Pool
	pooled := new([1 << 10]byte)
	freed := weak.Make(pooled)
	pool.Put(pooled)
	release()
	if freed.Value() != nil {
		t.Error("the memory is not free")
	}
	runtime.KeepAlive(&pool)
}
