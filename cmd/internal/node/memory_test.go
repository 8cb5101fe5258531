package node

import (
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/budget"
)

// Memory that requests took and gave back between two looks is returned to the system.
func TestFreeMemoryOfRequests(t *testing.T) {
	n := &Node{engine: newEngine(0), budget: budget.New(0)}
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	s := n.budget.Share()
	for _, c := range []struct {
		bytes int
		want  uint32
	}{{freed / 2, 0}, {2 * freed, 1}, {0, 0}} {
		if err := s.Take(c.bytes); err != nil {
			t.Fatal(err)
		}
		s.Release()
		before := collections()
		if most := n.freeMemory(0); c.want == 1 && most != 0 {
			t.Errorf("%d bytes are in use, want 0", most)
		}
		if got := collections() - before; got != c.want {
			t.Errorf("after a request of %d bytes memory was returned %d times, want %d", c.bytes, got, c.want)
		}
	}
}
