package arrays_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
)

func bits(t *testing.T, m uint64, set ...uint64) cells.Array {
	t.Helper()
	a, err := cells.New(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range set {
		a.SetBit(i)
	}
	return a
}

var kind = arrays.Kind{Name: "test"}

func TestOpenCells(t *testing.T) {
	good := umbel.State{Kind: "test", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}}, Arrays: []cells.Array{bits(t, 10, 3)}}
	var k uint64
	a, err := kind.OpenCells(good, []string{"k"}, &k)
	if err != nil || k != 7 || !a.Equal(good.Arrays[0]) {
		t.Fatalf("k = %d, %v", k, err)
	}
	for name, c := range map[string]struct {
		change   func(*umbel.State)
		sentinel error
		want     string
	}{
		"another kind": {func(s *umbel.State) { s.Kind = "other" }, umbel.ErrKind, `"other"`},
		"no array":     {func(s *umbel.State) { s.Arrays = nil }, umbel.ErrCorrupt, "0"},
		"two arrays":   {func(s *umbel.State) { s.Arrays = append(s.Arrays, s.Arrays[0]) }, umbel.ErrCorrupt, "2"},
		"a part":       {func(s *umbel.State) { s.Parts = []umbel.State{good} }, umbel.ErrCorrupt, "1"},
		"no width":     {func(s *umbel.State) { s.Arrays[0].Width = 0 }, umbel.ErrCorrupt, "width 0"},
		"counters":     {func(s *umbel.State) { s.Arrays = []cells.Array{{Len: 16, Width: 4, Words: make([]uint64, 1)}} }, umbel.ErrCorrupt, "4 bits"},
		"no parameter": {func(s *umbel.State) { s.Params = nil }, umbel.ErrCorrupt, "0"},
		"wrong length": {func(s *umbel.State) { s.Arrays = []cells.Array{{Len: 65, Width: 1, Words: make([]uint64, 1)}} }, umbel.ErrCorrupt, "65"},
	} {
		s := good.Clone()
		c.change(&s)
		if _, err := kind.OpenCells(s, []string{"k"}, &k); !errors.Is(err, c.sentinel) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q and an error that wraps %q", name, err, c.want, c.sentinel)
		}
	}
}

func TestMerge(t *testing.T) {
	of := func(m uint64, set ...uint64) arrays.Array {
		return arrays.Array{Kind: kind, Shape: arrays.Shape{M: m, Group: 1}, Cells: bits(t, m, set...)}
	}
	for name, c := range map[string]struct{ a, b, want arrays.Array }{
		"same size":    {of(12, 0), of(12, 11), of(12, 0, 11)},
		"larger other": {of(4, 0), of(12, 3, 11), of(4, 0, 1, 3)},
		"smaller":      {of(12, 3, 11), of(4, 0), of(4, 0, 1, 3)},
		"common":       {of(8, 0, 7), of(12, 1), of(4, 0, 1, 3)},
		"the same way": {of(12, 1), of(8, 0, 7), of(4, 0, 1, 3)},
		"a quarter":    {of(40, 39), of(32, 0), of(8, 0, 7)},
	} {
		got, err := c.a.Merge(c.b)
		if err != nil || !got.Cells.Equal(c.want.Cells) {
			t.Errorf("%s: %v, %v, want %v", name, got.Cells, err, c.want.Cells)
		}
	}
	for name, c := range map[string]struct{ a, b arrays.Array }{
		"too little in common": {of(60, 1), of(50, 1)},
		"nothing in common":    {of(26, 1), of(22, 1)},
		"one group in common":  {of(6, 1), of(8, 1)},
		"zero":                 {arrays.Array{Kind: kind}, of(12, 1)},
	} {
		before := c.a.Cells.Clone()
		if _, err := c.a.Merge(c.b); !errors.Is(err, umbel.ErrMismatch) || !c.a.Cells.Equal(before) {
			t.Errorf("%s: %v, want an error that wraps %q and nothing changed", name, err, umbel.ErrMismatch)
		}
	}
}
