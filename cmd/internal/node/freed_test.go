package node

import (
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/race"
)

// liveHeap returns the bytes of the heap that are in use after a collection.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The memory of a filter that was deleted, replaced or flushed is free without a snapshot, regardless of what was
// done with it before.
func TestDeletedFiltersAreFreed(t *testing.T) {
	race.Skip(t, "uses much memory")
	const size = 32 << 20
	for _, durability := range []string{"none", "always"} {
		if testing.Short() && durability == "none" {
			continue
		}
		c := testConfig(t)
		c.Durability = durability
		c.MaxMemory = Memory{Bytes: 1 << 30}
		n := started(t, c)
		conn := dial(t, n, nil)
		large := &largeClient{n: n, t: t}
		conn.Want("BF.ADD warm a", ":1")
		before := liveHeap()
		for name, remove := range map[string]func(){
			"DEL":      func() { conn.Want("DEL f", ":1") },
			"FLUSHALL": func() { conn.Want("FLUSHALL", "+OK") },
			"RENAME":   func() { conn.Want("BF.ADD g a", ":1"); conn.Want("RENAME g f", "+OK") },
			"EXPIRE":   func() { conn.Want("PEXPIRE f -1", ":1") },
		} {
			conn.Want("BF.RESERVE f 0.01 28000000", "+OK")
			conn.Want("BF.ADD f x", ":1")
			conn.Want("BF.MADD f x y z", "*")
			conn.Want("UM.INFO f", "*")
			conn.Want("UM.ID f", "$")
			conn.Want("BF.INFO f", "*")
			if err := large.export("f"); err != nil {
				t.Error(err)
			}
			if name != "EXPIRE" {
				conn.Want("SAVE", "+OK")
			}
			conn.Want("BF.ADD f w", ":1")
			if live := liveHeap(); live < before+size {
				t.Fatalf("%d bytes in use with the filter, %d before", live, before)
			}
			remove()
			// The survey of metrics may be measuring the filter.
			await.True(t, durability+", "+name+": half of the filter's bytes are freed", func() bool { return liveHeap() <= before+size/2 })
			conn.Line("DEL f")
		}
	}
}
