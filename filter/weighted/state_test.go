package weighted_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// A filter with tables survives encoding, its shape makes an equal filter, and a fold is the
// filter built small.
func TestStatesWithTables(t *testing.T) {
	ds := fixture.Digests(9, 2000)
	for name, s := range threeWays {
		f := mustNew(t, s)
		f.AddAll(nil, ds)
		b, err := f.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var g weighted.Filter
		if err := g.UnmarshalBinary(b); err != nil {
			t.Fatalf("by %s: %v", name, err)
		}
		if !reflect.DeepEqual(g.State(), f.State()) || !reflect.DeepEqual(g.Shape(), f.Shape()) || g.Stats() != f.Stats() {
			t.Errorf("by %s: the filter from a container has another state, shape or stats", name)
		}
		small := f.Shape()
		small.M /= 6
		want := mustNew(t, small)
		want.AddAll(nil, ds)
		if err := g.Fold(6); err != nil || !reflect.DeepEqual(g.State(), want.State()) {
			t.Errorf("by %s: folded by 6 it isn't the filter built small: %v", name, err)
		}
		for _, d := range append(ds, fixture.Digests(4, 2000)...) {
			if g.Has(d) != want.Has(d) {
				t.Fatalf("by %s: folded and built small give different results", name)
			}
		}
		if fc := f.Shape().Forecast(100); fc.Bytes != f.Stats().Bytes || fc.Cells != f.Stats().Cells || fc.K != f.Stats().K {
			t.Errorf("by %s: the forecast %+v isn't of %+v", name, fc, f.Stats())
		}
		f.Clear()
		if f.Has(ds[0]) || !reflect.DeepEqual(f.State(), mustNew(t, s).State()) {
			t.Errorf("by %s: after Clear it differs from a new one", name)
		}
	}
}

func TestMergeWithTables(t *testing.T) {
	a, b := fixture.Digests(9, 600), fixture.Digests(5, 600)
	for name, s := range threeWays {
		f, g, both := mustNew(t, s), mustNew(t, s), mustNew(t, s)
		f.AddAll(nil, a)
		g.AddAll(nil, b)
		both.AddAll(nil, append(a, b...))
		if err := f.Merge(g.State()); err != nil || !reflect.DeepEqual(f.State(), both.State()) {
			t.Errorf("by %s: the union differs from the filter with both keys: %v", name, err)
		}
	}
	f := mustNew(t, byDigest)
	with := func(change func(*weighted.Shape)) weighted.Shape {
		s := f.Shape()
		change(&s)
		return s
	}
	for what, s := range map[string]weighted.Shape{
		"fewer classes":  {M: f.Shape().M, Group: 6, Classes: threeClasses[:2]},
		"another k":      with(func(s *weighted.Shape) { s.Classes[1].K = 4 }),
		"another group":  with(func(s *weighted.Shape) { s.Group = 0 }),
		"fewer digests":  with(func(s *weighted.Shape) { s.Hot = s.Hot[1:] }),
		"other digests":  with(func(s *weighted.Shape) { s.Hot[0].Class ^= 3 }),
		"no digests":     byPrefix,
		"too small":      with(func(s *weighted.Shape) { s.M = 64 * 7 }),
		"another hasher": with(func(s *weighted.Shape) { s.Hasher.Alg = umbel.SipHash }),
	} {
		if err := f.Merge(mustNew(t, s).State()); !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("Merge with %s: %v, want an error that wraps %q", what, err, umbel.ErrMismatch)
		}
	}
	g := mustNew(t, byPrefix)
	other := g.Shape()
	other.Prefixes = other.Prefixes[:3]
	if err := g.Merge(mustNew(t, other).State()); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("Merge with other prefixes: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
}

// Open refuses tables that no filter has, whichever array or number is wrong.
func TestOpenRefusesTables(t *testing.T) {
	table := func(way string, width uint, values ...uint64) umbel.State {
		s := mustNew(t, threeWays[way]).State().Clone()
		a, err := cells.New(uint64(len(values)), width)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			a.Put(uint64(i), v)
		}
		s.Arrays = append(s.Arrays[:1], a)
		return s
	}
	param := func(name string, v uint64) umbel.State {
		s := mustNew(t, byProgram).State().Clone()
		for i := range s.Params {
			if s.Params[i].Name == name {
				s.Params[i].Value = umbel.Uint(v)
			}
		}
		return s
	}
	for name, s := range map[string]umbel.State{
		"digests fall":            table("digest", 64, 0x201, 0x101),
		"a digest twice":          table("digest", 64, 0x101, 0x102),
		"a digest of class 0":     table("digest", 64, 0x100),
		"a digest of class 3":     table("digest", 64, 0x103),
		"a digest of class 255":   table("digest", 64, 0x1ff),
		"no digests":              table("digest", 64),
		"digests of 32 bits":      table("digest", 32, 1),
		"a table of bits":         table("digest", 1, 1),
		"no length":               table("prefix", 8, 1),
		"a length of 0":           table("prefix", 8, 1, 0),
		"too few bytes":           table("prefix", 8, 1, 2, 'a'),
		"a length after the last": table("prefix", 8, 1, 1, 'a', 1),
		"a prefix of class 3":     table("prefix", 8, 3, 1, 'a'),
		"a prefix twice":          table("prefix", 8, 1, 1, 'a', 2, 1, 'a'),
		"prefixes fall":           table("prefix", 8, 1, 1, 'b', 2, 1, 'a'),
		"k of 0":                  param("k1", 0),
		"k of 257":                param("k2", 257),
		"k of 2^64-1":             param("k", 1<<64-1),
		"more members than all":   param("members1", 900_000_001),
		"more queries than all":   param("queries2", 1<<63),
		"group":                   param("group", 70),
	} {
		if _, err := weighted.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want an error that wraps %q", name, err, umbel.ErrCorrupt)
		}
	}
	many := mustNew(t, byProgram).State()
	for len(many.Params) < 2+3*64 {
		many.Params = append(many.Params, many.Params[2:5]...)
	}
	if _, err := weighted.Open(many); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("parameters of 65 classes: %v, want an error that wraps %q", err, umbel.ErrCorrupt)
	}
	// Unusual tables that are valid.
	for name, s := range map[string]umbel.State{
		"a digest":        table("digest", 64, 0x101),
		"all in a bucket": table("digest", 64, 0x101, 0x201, 0x302, 0x401, 0x502),
		"a prefix":        table("prefix", 8, 0, 1, 0),
	} {
		f, err := weighted.Open(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, d := range append(fixture.Digests(1, 100), umbel.Digest{}, umbel.Digest{H1: ^uint64(0)}, umbel.Digest{H1: 0x3ff}) {
			if f.Add(d); !f.Has(d) {
				t.Fatalf("%s: a false negative", name)
			}
		}
		if k := len(f.Locate(nil, umbel.Digest{H1: 0x3ff})); name == "all in a bucket" && k != 13 {
			t.Errorf("%s: a digest in the table has %d cells, want 13", name, k)
		}
	}
	wrong := mustNew(t, byDigest).State()
	wrong.Kind = "bloom"
	if _, err := weighted.Open(wrong); !errors.Is(err, umbel.ErrKind) {
		t.Errorf("another kind: %v, want an error that wraps %q", err, umbel.ErrKind)
	}
}
