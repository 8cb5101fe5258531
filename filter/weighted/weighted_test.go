package weighted_test

import (
	"encoding"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/fixture"
)

var (
	_ umbel.Filter               = (*weighted.Filter)(nil)
	_ umbel.Classifier           = (*weighted.Filter)(nil)
	_ umbel.AtomicAdder          = (*weighted.Filter)(nil)
	_ umbel.Merger               = (*weighted.Filter)(nil)
	_ umbel.Folder               = (*weighted.Filter)(nil)
	_ umbel.Clearer              = (*weighted.Filter)(nil)
	_ umbel.Locator              = (*weighted.Filter)(nil)
	_ umbel.BatchQuerier         = (*weighted.Filter)(nil)
	_ umbel.BatchAdder           = (*weighted.Filter)(nil)
	_ umbel.AtomicBatchAdder     = (*weighted.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*weighted.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*weighted.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, weighted.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, weighted.Kind) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, weighted.Kind, func() umbel.Filter { return new(weighted.Filter) })
	filtertest.Zero(t, weighted.CountingKind, func() umbel.Filter { return new(weighted.Counting) })
}

// Three sources of classes, with 3 classes of 5, 2 and 13 cells.
var (
	threeClasses = []weighted.Class{{K: 5}, {K: 2, Members: 0.5, Queries: 0.1}, {K: 13, Members: 0.1, Queries: 0.6}}
	byProgram    = weighted.Shape{M: 64 * 720, Group: 6, Classes: threeClasses}
	byPrefix     = weighted.Shape{M: 64 * 720, Group: 6, Classes: threeClasses, Prefixes: []weighted.Prefix{
		{"a/", 1}, {"b/", 2}, {"a/b/", 2}, {"a/b/c/", 0},
	}}
	byDigest = weighted.Shape{M: 64 * 720, Group: 6, Classes: threeClasses, Hot: hotOf(fixture.Digests(9, 500))}
)

var threeWays = map[string]weighted.Shape{"program": byProgram, "prefix": byPrefix, "digest": byDigest}

// hotOf makes every third of ds hot.
func hotOf(ds []umbel.Digest) []weighted.Hot {
	var hot []weighted.Hot
	for i, d := range ds {
		if i%3 != 0 {
			hot = append(hot, weighted.Hot{Digest: d, Class: i % 3})
		}
	}
	return hot
}

// Containers and untrusted states of filters with tables.
func FuzzOpenTables(f *testing.F) {
	for _, s := range threeWays {
		s.M, s.Group = 60, 0
		filter := mustNew(f, s)
		b, err := filter.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	filtertest.Fuzz(f, weighted.Kind)
}

func mustNew(t testing.TB, s weighted.Shape) *weighted.Filter {
	t.Helper()
	f, err := weighted.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func bits(f *weighted.Filter) cells.Array { return f.State().Arrays[0] }
