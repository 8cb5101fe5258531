package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// The directory of an older program is refused with the commands that migrate it, and not changed.
func TestOlderDirectory(t *testing.T) {
	c := testConfig(t)
	if err := os.MkdirAll(filepath.Join(logDir(c.Data), "jetstream", "streams"), 0o700); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	for _, acceptLoss := range []bool{false, true} {
		c.AcceptLoss = acceptLoss
		_, err := Start(t.Context(), c, log, nil)
		_, _, checked := Check(t.Context(), c, log)
		for _, err := range []error{err, checked} {
			if !errors.Is(err, wal.ErrVersion) || !strings.Contains(err.Error(), "umbel backup make") || !strings.Contains(err.Error(), "umbel backup restore") {
				t.Errorf("error %v, want one with the commands that migrate", err)
			}
		}
	}
	if entries, err := os.ReadDir(logDir(c.Data)); err != nil || len(entries) != 1 {
		t.Errorf("the directory contains %v, %v", entries, err)
	}
}

// older are the filters in testdata/version1, with the range of their keys, which are decimal numbers. words, grows
// and counts are in the snapshot. Keys above 100 of the first two, and later and put, are in the log only. put
// was a container of version 1.
var older = map[string]struct{ first, last int }{
	"words": {1, 200}, "grows": {1, 200}, "counts": {1, 100}, "later": {101, 200}, "put": {101, 200},
}

// wantOlder fails the test unless a node has the filters, without a plan.
func wantOlder(t *testing.T, n *Node) {
	t.Helper()
	for name, keys := range older {
		f := n.engine.Get([]byte(name))
		if f == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		var ds []umbel.Digest
		for i := keys.first; i <= keys.last; i++ {
			ds = append(ds, f.Hasher().HashString(fmt.Sprint(i)))
		}
		has := make([]bool, len(ds))
		if err := f.Has(has, ds); err != nil {
			t.Fatal(err)
		}
		for i, yes := range has {
			if !yes {
				t.Fatalf("%s has no key %d", name, keys.first+i)
			}
		}
		if got := f.Planned(); got != (umbel.Planned{}) {
			t.Errorf("%s was made for %v, which the older program did not keep", name, got)
		}
		if s, err := f.Stats(); err != nil || s.Keys < 95 || s.Keys > 210 || f.Incomplete() {
			t.Errorf("%s has %.0f keys, incomplete: %v", name, s.Keys, f.Incomplete())
		}
	}
}

// A data directory and a backup of a program that wrote containers of version 1 start and serve, also after
// this program has written a snapshot. The log ends where its zeros began.
func TestContainersOfVersion1(t *testing.T) {
	c := testConfig(t)
	if err := os.CopyFS(c.Data, os.DirFS("testdata/version1/data")); err != nil {
		t.Fatal(err)
	}
	n := started(t, c)
	wantOlder(t, n)
	if err := n.store.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped(t, n)
	wantOlder(t, started(t, c))

	backup, err := os.Open("testdata/version1/backup")
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	c = testConfig(t)
	if _, err := RestoreDir(t.Context(), c.Data, slog.New(slog.DiscardHandler), backup); err != nil {
		t.Fatal(err)
	}
	wantOlder(t, started(t, c))
}
