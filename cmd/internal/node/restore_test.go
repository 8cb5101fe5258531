package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A failed restore removes the directories and files that it made, and no others.
func TestFailedRestoreLeavesNothing(t *testing.T) {
	restore := func(data, backup string) {
		t.Helper()
		if _, err := RestoreDir(t.Context(), data, slog.New(slog.DiscardHandler), strings.NewReader(backup)); err == nil {
			t.Fatal("a damaged backup was restored")
		}
	}
	n := started(t, testConfig(t))
	dial(t, n, nil).Want("BF.ADD k a", ":1")
	file := new(strings.Builder)
	if err := n.store.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	for _, backup := range []string{"", "not a backup", file.String()[:file.Len()-1]} {
		parent := t.TempDir()
		restore(filepath.Join(parent, "new", "data"), backup)
		if left := list(t, parent); len(left) != 0 {
			t.Errorf("left %q", left)
		}
		if err := os.Mkdir(filepath.Join(parent, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		restore(filepath.Join(parent, "data"), backup)
		if left := list(t, parent); !slices.Equal(left, []string{"data"}) {
			t.Errorf("left %q", left)
		}
		if err := os.WriteFile(filepath.Join(parent, "data", "notes"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		restore(filepath.Join(parent, "data"), backup)
		if left := list(t, filepath.Join(parent, "data")); !slices.Equal(left, []string{"notes"}) {
			t.Errorf("left %q", left)
		}
	}
}

// list returns the names in a directory.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
