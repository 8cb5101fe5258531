package engine_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter/weighted"
)

// Keys are removed from a filter whose table of digests has their classes, and from one without a table, to which
// they were added as digests. If prefixes of keys determine classes, digests do not, and nothing is removed.
func TestRemoveFromClasses(t *testing.T) {
	e, _, _ := journaling(t)
	for name, table := range map[string]func(*weighted.Shape){
		"none":     func(*weighted.Shape) {},
		"digests":  func(s *weighted.Shape) { s.Hot = []weighted.Hot{{Digest: digests(1, 1)[0], Class: 1}} },
		"prefixes": func(s *weighted.Shape) { s.Prefixes = []weighted.Prefix{{Prefix: "a/", Class: 1}} },
	} {
		s := weighted.Shape{M: 6400, Width: 4, Group: 6, Classes: []weighted.Class{{K: 3}, {K: 9, Members: 0.1}}}
		table(&s)
		g, err := weighted.NewCountingShape(s)
		if err != nil {
			t.Fatal(err)
		}
		g.AddString("a/there")
		f, _, err := e.Put(name, g, engine.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before, ds := identify(t, f), digests(1, 50)
		add(t, f, ds)
		removed := make([]bool, len(ds))
		_, err = f.Remove(removed, ds)
		if name == "prefixes" {
			if wantAll(t, f, append(ds, umbel.Hasher{}.HashString("a/there"))); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("removal without classes: %v", err)
			}
			continue
		}
		if err != nil || identify(t, f) != before {
			t.Errorf("%s: %v, removed %v, and the filter is not as before", name, err, removed)
		}
	}
}
