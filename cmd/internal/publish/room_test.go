package publish

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// The files of a publication are counted, from the start on, and a version that exceeds the limit is not
// published until there is room.
func TestLimitOfTheDisk(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.add(0, 10000)
	w.disk = budget.New(0)
	w.restart()
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	w.publish(1)
	used := w.disk.Used()
	if s := w.status(); used == 0 || s.DiskBytes != used || used < s.SnapshotBytes {
		t.Fatalf("%d bytes are counted, status %+v", used, s)
	}
	w.set.Close() // which writes what the next process needs
	used = w.disk.Used()
	w.disk = budget.New(0)
	w.restart() // without the publication, whose files remain
	if now := w.disk.Used(); now != used {
		t.Errorf("%d bytes are counted at the next start, %d before", now, used)
	}
	w.disk.SetLimit(w.disk.Used() + 1)
	w.apply(Spec{Filter: "words", Key: w.key, Period: hour})
	w.add(10000, 50000)
	if _, err := w.set.Publish(t.Context(), "words"); !errors.Is(err, budget.ErrDisk) {
		t.Errorf("error %v, want %v", err, budget.ErrDisk)
	}
	if s := w.status(); s.State != api.PublicationFailed || w.disk.Used() > w.disk.Limit() {
		t.Errorf("%d bytes of %d are counted, state %s", w.disk.Used(), w.disk.Limit(), s.State)
	}
	w.disk.SetLimit(1 << 30)
	w.publish(2)
}

// A directory elsewhere is not limited, but its size is known.
func TestDirectoryWithoutLimit(t *testing.T) {
	w := newWorld(t, engine.Options{})
	defer func() { w.set.Close() }()
	w.make("bloom", umbel.Hasher{})
	w.add(0, 10000)
	w.disk = budget.New(1)
	w.restart()
	w.apply(Spec{Filter: "words", Key: w.key, Directory: t.TempDir(), Period: hour})
	w.publish(1)
	if s := w.status(); w.disk.Used() != 0 || s.DiskBytes < s.SnapshotBytes {
		t.Errorf("%d bytes are counted, status %+v", w.disk.Used(), s)
	}
}
