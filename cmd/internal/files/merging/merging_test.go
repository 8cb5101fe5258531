package merging_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/merging"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// made returns a filter of a kind, planned for n keys at a rate, with the first keys of a seed.
func made(t *testing.T, kind string, seed uint64, n int, rate float64, keys int) umbel.Filter {
	t.Helper()
	v, err := filter.All.Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.New(umbel.Goal{Keys: uint64(n), FPRate: rate}, nil)
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddAll(f, nil, fixture.Digests(seed, keys))
	return f
}

// unplanned returns f without what it was planned for, like a filter of a given size.
func unplanned(f umbel.Filter) umbel.Filter {
	f.(umbel.Planner).SetPlanned(umbel.Planned{})
	return f
}

// The form depends on the sizes, the rates and the kinds. No key is lost.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct {
		fs   []umbel.Filter
		want merging.Form
	}{
		"planned for the union":      {[]umbel.Filter{made(t, "bloom", 1, 2000, 0.01, 1000), made(t, "bloom", 2, 2000, 0.01, 1000)}, merging.Joined},
		"the same, at a low rate":    {[]umbel.Filter{made(t, "bloom", 1, 2000, 1e-4, 1000), made(t, "bloom", 2, 2000, 1e-4, 1000)}, merging.Joined},
		"the same, at a high rate":   {[]umbel.Filter{made(t, "bloom", 1, 2000, 0.2, 1000), made(t, "bloom", 2, 2000, 0.2, 1000)}, merging.Joined},
		"of unknown plan":            {[]umbel.Filter{unplanned(made(t, "bloom", 1, 2000, 0.01, 1000)), unplanned(made(t, "bloom", 2, 2000, 0.01, 1000))}, merging.Joined},
		"full, of unknown plan":      {[]umbel.Filter{unplanned(made(t, "bloom", 1, 1000, 1e-4, 1000)), unplanned(made(t, "bloom", 2, 1000, 1e-4, 1000))}, merging.Union},
		"the same keys":              {[]umbel.Filter{made(t, "bloom", 1, 1000, 0.01, 1000), made(t, "bloom", 1, 1000, 0.01, 1000)}, merging.Joined},
		"full":                       {[]umbel.Filter{made(t, "bloom", 1, 1000, 0.01, 1000), made(t, "bloom", 2, 1000, 0.01, 1000)}, merging.Union},
		"full, at a low rate":        {[]umbel.Filter{made(t, "bloom", 1, 1000, 1e-6, 1000), made(t, "bloom", 2, 1000, 1e-6, 1000)}, merging.Union},
		"one filter twice":           {[]umbel.Filter{made(t, "ribbon", 1, 1000, 0.01, 1000), made(t, "ribbon", 1, 1000, 0.01, 1000)}, merging.Joined},
		"different sizes":            {[]umbel.Filter{made(t, "bloom", 1, 1000, 0.01, 1000), made(t, "bloom", 2, 1170, 0.01, 1170)}, merging.Union},
		"different kinds":            {[]umbel.Filter{made(t, "bloom", 1, 1000, 0.01, 1000), made(t, "ribbon", 2, 1000, 0.01, 1000)}, merging.Union},
		"layers, the rates add up":   {[]umbel.Filter{made(t, "scalable", 1, 1000, 0.01, 3000), made(t, "scalable", 2, 1000, 0.01, 3000), made(t, "scalable", 3, 1000, 0.01, 3000)}, merging.Joined},
		"full, no member of a union": {[]umbel.Filter{made(t, "weighted", 1, 1000, 0.01, 1000), made(t, "weighted", 2, 1000, 0.01, 1000)}, merging.Joined},
	} {
		r, err := merging.Filters(c.fs, merging.Best)
		if err != nil || r.Form != c.want {
			t.Errorf("%s: %q, %v, want %q; joined %.4f, side by side %.4f, %v", name, r.Form, err, c.want, r.JoinedRate, r.UnionRate, r.Apart)
			continue
		}
		for i, f := range c.fs {
			if f.State().Kind == "weighted" {
				continue // its keys are queried with their classes
			}
			for _, d := range fixture.Digests(uint64(i+1), 1000) {
				if f.Has(d) && !r.Filter.Has(d) {
					t.Fatalf("%s: a key of filter %d is lost", name, i)
				}
			}
		}
	}
}

func TestFormIsForced(t *testing.T) {
	full := []umbel.Filter{made(t, "bloom", 1, 1000, 0.01, 1000), made(t, "bloom", 2, 1000, 0.01, 1000)}
	r, err := merging.Filters(full, merging.Joined)
	if err != nil || r.Form != merging.Joined || !r.Beyond || r.JoinedRate < 0.12 || r.UnionRate > 0.022 {
		t.Errorf("%+v, %v, want joined cells beyond the rate", r, err)
	}
	same := []umbel.Filter{full[0], full[0]}
	if r, err := merging.Filters(same, merging.Union); err != nil || r.Form != merging.Union {
		t.Errorf("%q, %v, want a union", r.Form, err)
	}
	mixed := []umbel.Filter{full[0], made(t, "ribbon", 2, 1000, 0.01, 1000)}
	if _, err := merging.Filters(mixed, merging.Joined); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("two kinds, joined: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
	none := []umbel.Filter{full[0], made(t, "weighted", 2, 1000, 0.01, 1000)}
	for _, form := range []merging.Form{merging.Best, merging.Union} {
		if _, err := merging.Filters(none, form); !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("kinds that fit in no way, form %q: %v, want an error that wraps %q", form, err, umbel.ErrMismatch)
		}
	}
}

// Filters of one shape can be joined only if they are of one kind that merges.
func TestJoinable(t *testing.T) {
	for name, c := range map[string]struct {
		fs   []umbel.Filter
		want bool
	}{
		"different sizes": {[]umbel.Filter{made(t, "bloom", 1, 1000, 0.01, 1000), made(t, "bloom", 2, 1170, 0.01, 1170)}, true},
		"different kinds": {[]umbel.Filter{made(t, "bloom", 1, 1000, 0.01, 1000), made(t, "blocked", 2, 1000, 0.01, 1000)}, false},
		"kind ribbon":     {[]umbel.Filter{made(t, "ribbon", 1, 1000, 0.01, 1000), made(t, "ribbon", 2, 1000, 0.01, 1000)}, false},
	} {
		if r, err := merging.Filters(c.fs, merging.Best); err != nil || r.Apart == nil || r.Joinable != c.want {
			t.Errorf("%s: joinable %v, apart %v, %v, want %v", name, r.Joinable, r.Apart, err, c.want)
		}
	}
}
