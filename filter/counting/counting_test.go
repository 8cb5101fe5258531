package counting_test

import (
	"encoding"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/filtertest"
)

var (
	_ umbel.Filter               = (*counting.Filter)(nil)
	_ umbel.Remover              = (*counting.Filter)(nil)
	_ umbel.Counter              = (*counting.Filter)(nil)
	_ umbel.Merger               = (*counting.Filter)(nil)
	_ umbel.Folder               = (*counting.Filter)(nil)
	_ umbel.Clearer              = (*counting.Filter)(nil)
	_ umbel.Locator              = (*counting.Filter)(nil)
	_ umbel.BatchQuerier         = (*counting.Filter)(nil)
	_ umbel.BatchAdder           = (*counting.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*counting.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*counting.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, counting.Kind) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, counting.Kind, func() umbel.Filter { return new(counting.Filter) })
}

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, counting.Kind) }

func mustNew(t rapid.TB, s counting.Shape) *counting.Filter {
	t.Helper()
	f, err := counting.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
