package filter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// Every kind is in the list once, and is found and opened by its name.
func TestAll(t *testing.T) {
	var names []string
	for _, v := range filter.All {
		if slices.Contains(names, v.Kind) {
			t.Errorf("%s is in the list twice", v.Kind)
		}
		names = append(names, v.Kind)

		found, err := filter.All.Find(v.Kind)
		if err != nil || found.Kind != v.Kind {
			t.Errorf("Find(%q) gives %q, %v", v.Kind, found.Kind, err)
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
		if !g.Has(d) || g.State().Kind != v.Kind {
			t.Errorf("%s opens to a filter of kind %s, which has the key: %v", v.Kind, g.State().Kind, g.Has(d))
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
