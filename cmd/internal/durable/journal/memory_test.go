package journal

import (
	"io"
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// A journal and a log have no memory for batches when nothing is written.
func TestMemoryOfQuietJournal(t *testing.T) {
	l, err := wal.Open(t.TempDir(), wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	j, _ := writeTo(t, l, Options{}, io.Discard)
	ds := make([]umbel.Digest, changes.MaxDigests)
	before := liveBytes()
	for range 10 * changes.MaxBatch / (changes.MaxDigests * 16) {
		j.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})
	}
	if err := j.Sync(t.Context(), j.Last()); err != nil {
		t.Fatal(err)
	}
	if kept := liveBytes() - before; kept > changes.MaxBatch/4 {
		t.Errorf("%d bytes are kept, want less than a batch of %d", kept, changes.MaxBatch)
	}
	runtime.KeepAlive(ds)
}

// liveBytes returns the bytes of all reachable objects.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC() // frees what a sync.Pool kept after the first one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
