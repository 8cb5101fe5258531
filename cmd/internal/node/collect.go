package node

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The garbage collector runs when garbage reaches a percentage of the live memory, GOGC. By default
// garbage could reach the size of the filters. Cells contain no pointers, so they cost the collector
// nothing; each filter costs it about 100 ns. Garbage may therefore reach a constant and some bytes
// per filter.
const (
	baseGarbage      = 4 << 20
	garbagePerFilter = 64
	maxGarbage       = 64 << 20
	// otherLive approximates the live memory of a node without filters.
	otherLive = 4 << 20
)

// garbagePercent returns the GOGC value, between 5 and 100, for a number of filters of used bytes.
func garbagePercent(used uint64, filters int) int {
	garbage := min(baseGarbage+garbagePerFilter*uint64(filters), maxGarbage)
	return int(min(max(garbage*100/(used+otherLive), 5), 100))
}

// restoreLook is the interval at which GOGC is adapted while filters are restored. They grow fast then, and
// garbage between them would leave parts of pages that no filter uses later.
const restoreLook = 10 * time.Millisecond

// keepTuned adapts GOGC until the node stops. restored is done when all filters are restored.
func (n *Node) keepTuned(restored context.Context) {
	percent := 100
	look := func() { percent = n.tuneGC(percent) }
	every(restored, restoreLook, look)
	every(n.working, houseEvery, look)
}

// tuneGC adapts GOGC to the size of the filters and returns it. was is the current value: a
// change stops the process for a moment. GOGC in the environment takes precedence.
func (n *Node) tuneGC(was int) int {
	used, _ := n.engine.Memory()
	percent := garbagePercent(used, n.engine.Len())
	if percent != was && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	return percent
}

const (
	// quietBytes is how much a quiet node allocates between two looks of a trimmer, at most.
	quietBytes = 1 << 20
	// minTrim is the least amount of memory that a trimmer returns to the system.
	minTrim = 1 << 20
)

// settleLooks is the number of looks of a quiet node after which its clients have released their buffers.
const settleLooks = 8

// trimmer returns unused memory to the system when the node becomes quiet. Otherwise the process would
// keep what its last garbage took: the collector runs when memory is allocated, and it retains free
// memory for the garbage to come.
type trimmer struct {
	read      func() heap // looks at the memory
	release   func()      // see release
	allocated uint64      // bytes, at the last look
	quiet     int         // looks since the node allocated much
	most      uint64      // bytes of filters, the maximum since memory was returned
	kept      uint64      // unused memory that the runtime kept when it last had to return all
}

// heap is the state of the heap, in bytes.
type heap struct {
	allocated uint64 // since the start of the process
	live      uint64 // found by the last collection
	objects   uint64 // now, garbage included
	free      uint64 // unused memory that can be returned
}

func newTrimmer(read func() heap, release func()) *trimmer {
	return &trimmer{read: read, release: release, allocated: read().allocated}
}

// trim looks at the memory; filters take the given bytes of it. It is called at an interval.
func (t *trimmer) trim(filters uint64) {
	h := t.read()
	allocated := h.allocated - t.allocated
	t.allocated = h.allocated
	t.kept = min(t.kept, h.free)
	t.most = max(t.most, filters)
	if t.quiet++; allocated > quietBytes {
		t.quiet = 0
	}
	deleted := t.most - filters
	if t.quiet == settleLooks || worthTrimming(allocated, h.live, h.objects, h.free-t.kept+deleted) {
		t.release()
		t.most = filters
		t.kept = t.read().free
	}
}

// release collects garbage and returns unused memory to the system. The first of two collections leaves what
// is in a sync.Pool.
func release() {
	runtime.GC()
	debug.FreeOSMemory()
}

// heapReader returns a function that reads the state of this process' heap.
func heapReader() func() heap {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	return func() heap {
		metrics.Read(samples)
		value := func(i int) uint64 { return samples[i].Value.Uint64() }
		return heap{value(0), value(1), value(2), value(3)}
	}
}

// worthTrimming reports whether memory is to be returned to the system. allocated is what was
// allocated since the last look; live, objects and free are the sizes of what the last collection
// found, of all objects now, and of unused memory that can be returned.
func worthTrimming(allocated, live, objects, free uint64) bool {
	if allocated > quietBytes {
		return false
	}
	unused := free
	if objects > live {
		unused += objects - live // garbage, or new
	}
	return unused > max(minTrim, live/32)
}
