package journal

import (
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// An addition of more digests than a change may have becomes several changes.
func TestManyDigests(t *testing.T) {
	ds := make([]umbel.Digest, 3*changes.MaxDigests+1)
	for i := range ds {
		ds[i].H1 = uint64(i)
	}
	j := New(nil, 0, 0, Options{})
	if pos := j.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds}); pos != 4 {
		t.Errorf("position %d, want 4", pos)
	}
	var all []umbel.Digest
	count := 0
	r := &changes.Reader{Limits: wire.NoLimits, Single: 10, Each: func(c *engine.Change) error {
		count++
		all = append(all, c.Digests...)
		return nil
	}}
	for _, b := range append(j.full, j.active) {
		if err := r.Batch(b.Bytes); err != nil {
			t.Fatal(err)
		}
	}
	if count != 4 || !reflect.DeepEqual(all, ds) {
		t.Errorf("%d changes with %d digests, want 4 with %d", count, len(all), len(ds))
	}
}
