package snapshot

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// A copy is current if its filter has not changed since, neither in the log that recovery replayed nor later.
func TestNoteRecovered(t *testing.T) {
	s := Set{Current: &Snapshot{}}
	s.NoteRecovered(5, map[uint64]bool{7: true, 3: true})
	for _, c := range []struct {
		id, last uint64
		want     bool
	}{{2, 5, true}, {2, 6, false}, {3, 5, false}, {7, 1, false}, {8, 1, true}} {
		if got := s.has(c.id, engine.Position(c.last)); got != c.want {
			t.Errorf("filter %d with its last change at %d: %v, want %v", c.id, c.last, got, c.want)
		}
	}
	none := Set{}
	none.NoteRecovered(5, map[uint64]bool{7: true})
	if none.changed != nil {
		t.Error("filters are noted without a snapshot that they differ from")
	}
}
