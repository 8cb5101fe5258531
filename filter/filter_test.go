package filter_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/filter/window"
)

// Every kind is in the list once, and is found and opened by its name.
func TestAll(t *testing.T) {
	var names []string
	for _, v := range filter.All {
		if slices.Contains(names, v.Name) {
			t.Errorf("%s is in the list twice", v.Name)
		}
		names = append(names, v.Name)

		found, err := filter.All.Find(v.Name)
		if err != nil || found.Name != v.Name {
			t.Errorf("Find(%q) gives %q, %v", v.Name, found.Name, err)
		}
		f, err := v.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := umbel.Digest{H1: 1 << 40, H2: 2 << 40}
		f.Add(d)
		g, err := filter.All.Open(f.State())
		if err != nil {
			t.Fatal(err)
		}
		if !g.Has(d) || g.State().Kind != v.Name {
			t.Errorf("%s opens to a filter of kind %s, which has the key: %v", v.Name, g.State().Kind, g.Has(d))
		}
	}
	_, err := filter.All.Find("cuckoo")
	if !errors.Is(err, umbel.ErrKind) {
		t.Fatalf("Find of an unknown kind: %v, want an error that wraps %q", err, umbel.ErrKind)
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error %q doesn't name the kind %s", err, name)
		}
	}
}

// A weighted filter of one class is a standard filter, bit for bit.
func TestWeightedOfOneClassIsBloom(t *testing.T) {
	for _, g := range []umbel.Goal{{Keys: 5000, FPRate: 0.003}, {Keys: 5000, Bytes: 6000}, {FPRate: 0.01, Bytes: 800}, {Keys: 3, FPRate: 0.1}} {
		a, err := weighted.Kind.New(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bloom.Kind.New(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(100) {
			d := umbel.DigestFromHash64(i)
			if x, y := a.Add(d), b.Add(d); x != y {
				t.Fatalf("%+v: Add is %v, of bloom %v", g, x, y)
			}
		}
		s, want := a.State(), b.State()
		if !slices.Equal(s.Params, want.Params) || len(s.Arrays) != 1 || !s.Arrays[0].Equal(want.Arrays[0]) {
			t.Errorf("%+v: the state has %v, of bloom %v", g, s.Params, want.Params)
		}
	}
}

// A forecast of a zero shape panics with a text that names the parameter, or is none.
func TestForecastOfZeroShape(t *testing.T) {
	for _, s := range []umbel.Shape{window.Shape{}, window.Shape{L: 3}, scalable.Shape{}, bloom.Shape{}} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(runtime.Error); ok {
						t.Errorf("%T: %v", s, r)
					}
				}
			}()
			s.Forecast(10)
		}()
	}
}
