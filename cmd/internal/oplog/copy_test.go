package oplog_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// What is only looked at stays as it was, damaged files too, which JetStream would cut.
func TestCheckChangesNothing(t *testing.T) {
	dir := t.TempDir()
	l, err := oplog.Open(t.Context(), dir, oplog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := uint64(1); n <= 20; n++ {
		if _, err := l.Append(t.Context(), batchOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	blocks, err := fs.Glob(os.DirFS(dir), "jetstream/*/streams/UMBEL_BATCHES/msgs/*.blk")
	if err != nil || len(blocks) == 0 {
		t.Fatalf("no blocks: %v", err)
	}
	path := filepath.Join(dir, blocks[0])
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	l, err = oplog.Open(t.Context(), dir, oplog.Options{Check: true})
	if err == nil {
		err = errors.Join(l.Read(t.Context(), 1, func(uint64, []byte) error { return nil }), l.Close())
	}
	if !errors.Is(err, oplog.ErrHole) {
		t.Errorf("a flipped bit: %v, want a hole", err)
	}
	after := contents(t, dir)
	for path, was := range before {
		if !bytes.Equal(after[path], was) {
			t.Errorf("%s was changed", path)
		}
		delete(after, path)
	}
	for path := range after {
		t.Errorf("%s is new", path)
	}
}

// contents returns what files there are below a directory, and what is in them; but for the lock,
// which is anybody's.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
