package filter_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// layerPerKey is the shape of a dynamic filter in which each key has a layer of its own.
var layerPerKey = dynamic.Shape{Layer: bloom.Shape{M: 512, K: 64}, Full: 1}

// A filter with as many states as a filter can have, umbel.MaxStates, refuses a key that needs one more. It takes
// such a key by Add, and is then written and read as others are.
func TestMostStates(t *testing.T) {
	counters := layerPerKey
	counters.Width = 4
	for name, f := range map[string]umbel.Filter{
		"dynamic":               fixture.Must(dynamic.NewShape(layerPerKey)),
		"dynamic with counters": fixture.Must(dynamic.NewCountingShape(counters)),
		"union":                 unionOfDynamic(t),
		"redisbloom":            withParts(t, fixture.Must(redisbloom.Reserve(redisbloom.Options{ErrorRate: 1e-9, Capacity: 1, Expansion: 1}))),
		"scalable":              withParts(t, fixture.Must(scalable.New(1, 1e-9))),
	} {
		g := f.(interface {
			umbel.Grower
			umbel.GrowthForecaster
		})
		keys, err := fixture.Digests(7, 2*umbel.MaxStates), error(nil)
		n := slices.IndexFunc(keys, func(d umbel.Digest) bool {
			_, err = g.TryAdd(d)
			return err != nil
		})
		if !errors.Is(err, umbel.ErrLimit) {
			t.Fatalf("%s: %v after %d keys, want an error that wraps ErrLimit", name, err, len(keys))
		}
		if _, err := g.NextGrowth(); !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("%s: NextGrowth: %v, want an error that wraps ErrLimit", name, err)
		}
		if s := f.State().States(); s != umbel.MaxStates {
			t.Errorf("%s: %d states, want %d", name, s, umbel.MaxStates)
		}
		f.Add(keys[n])
		again := opened(t, f)
		for i := 0; i <= n; i += 50 {
			if d := keys[i]; !f.Has(d) || !again.Has(d) {
				t.Fatalf("%s: a key is lost", name)
			}
		}
	}
}

// opened returns the filter that is read from the container of f, with the limits of any reader.
func opened(t *testing.T, f umbel.Filter) umbel.Filter {
	t.Helper()
	b, err := wire.Append(nil, f.State())
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.Parse(b, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := filter.All.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// unionOfDynamic returns a union of three filters of 1000 layers, the first of which grows.
func unionOfDynamic(t *testing.T) *union.Filter {
	var states []umbel.State
	for seed := range uint64(3) {
		f := fixture.Must(dynamic.NewShape(layerPerKey))
		states = append(states, fixture.Filled(f, fixture.Digests(seed, 1000)).State())
	}
	u := fixture.Must(union.Of(states...))
	for seed := range uint64(2) {
		more := fixture.Filled(fixture.Must(dynamic.NewShape(layerPerKey)), fixture.Digests(10+seed, 1000))
		err := u.Merge(more.State())
		if seed == 0 && err != nil || seed == 1 && !errors.Is(err, umbel.ErrMismatch) {
			t.Fatalf("union %d: %v", seed, err)
		}
	}
	return u
}

// withParts returns a filter with almost as many layers as a filter can have, each a copy of the only one of f.
func withParts(t *testing.T, f umbel.Filter) umbel.Filter {
	t.Helper()
	s := f.State()
	one := s.Parts[0]
	for len(s.Parts) < umbel.MaxStates-3 {
		s.Parts = append(s.Parts, one.Clone())
	}
	return fixture.Must(filter.All.Open(s))
}

// A merge whose result would have more states is refused, and so is a state with more.
func TestTooManyStates(t *testing.T) {
	for _, v := range []umbel.Kind{dynamic.Kind, scalable.Kind, redisbloom.Kind} {
		f := fixture.Must(v.New(umbel.Goal{Keys: 1, FPRate: 1e-9}, nil))
		full := withParts(t, f).State()
		full.Parts = append(full.Parts, full.Parts[:3]...)
		if _, err := v.Open(full); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: Open of %d states: %v, want an error that wraps ErrCorrupt", v.Name, full.States(), err)
		}
		if b, err := wire.Append(nil, full); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: a container of %d bytes with %d states, %v", v.Name, len(b), full.States(), err)
		}
	}
	half := func(seed uint64) *dynamic.Filter {
		return fixture.Filled(fixture.Must(dynamic.NewShape(layerPerKey)), fixture.Digests(seed, 2100))
	}
	f := half(1)
	if err := f.Merge(half(2).State()); !errors.Is(err, umbel.ErrLimit) || f.Layers() != 2100 {
		t.Errorf("a merge to 4200 layers: %v, and the filter has %d layers", err, f.Layers())
	}
}
