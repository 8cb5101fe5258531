package member

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

// A manifest that can be read is written with the same bytes, and no bytes make the parser panic. The fuzzer changes what the sum at the end is of.
func FuzzManifest(f *testing.F) {
	for _, m := range []manifest{
		{},
		{
			at: sharedlog.Position{Number: 70, Index: 9}, reach: 12, pieces: 3, indexes: []hash{{1}, {2}},
			snapshot: snapshot.Snapshot{Taken: 1, Batch: 10, Covered: 20, Position: 30, Filters: 2, Bytes: 1 << 40, Missing: &engine.MissingNames{Since: 5, Batches: 6}},
		},
	} {
		b := m.append(nil)
		f.Add(b[:len(b)-sha256.Size])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := sha256.Sum256(b)
		whole := append(bytes.Clone(b), sum[:]...)
		m, err := parseManifest(whole)
		if err != nil {
			return
		}
		again, err := parseManifest(m.append(nil))
		if err != nil || !bytes.Equal(again.append(nil), m.append(nil)) {
			t.Errorf("the manifest %x is read differently when it is written: %v", whole, err)
		}
	})
}
