package filtertest

import (
	"errors"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// mergeIsUnion: after Merge a filter has the keys of both. It equals the filter built from the
// keys of both, in any order and after repeated merges. If the kind removes keys, Merge adds the
// counts of each key. In a filter that grows, the state depends on the order of the additions,
// so only its keys are tested.
func mergeIsUnion(t tb, v umbel.Kind) {
	for _, n := range sizes {
		part := [3][]umbel.Digest{digests(1, int(n)/2), digests(2, int(n)/3), append(digests(3, int(n)/4), extreme...)}
		built := func(which ...int) umbel.Filter {
			f := newFilter(t, v, n)
			for _, i := range which {
				addAll(f, part[i])
			}
			return f
		}
		merged := func(f umbel.Filter, others ...umbel.Filter) umbel.Filter {
			t.Helper()
			m := as[umbel.Merger](t, f)
			for _, g := range others {
				before := g.State().Clone()
				if err := m.Merge(g.State()); err != nil {
					t.Fatalf("Merge of a filter of the same shape: %v", err)
				}
				if g != f {
					wantState(t, g, before, "the merged filter")
				}
			}
			return f
		}
		ab := merged(built(0), built(1))
		wantAll(t, ab, slices.Concat(part[0], part[1]), "union")
		if grows(t, v) {
			if _, counts := ab.(umbel.Remover); !counts {
				same := ab.State().Clone()
				wantState(t, merged(ab, ab), same, "union with itself")
			}
			wantAll(t, merged(built(1), built(0)), slices.Concat(part[0], part[1]), "union in the other order")
			wantAll(t, merged(built(2), ab, ab), slices.Concat(part[:]...), "union of three")
			wantAll(t, merged(ab, ab, newFilter(t, v, n)), slices.Concat(part[0], part[1]), "union with itself and an empty filter")
			wantAll(t, merged(newFilter(t, v, n), ab), slices.Concat(part[0], part[1]), "union of an empty filter with another")
			continue
		}
		wantState(t, ab, built(0, 1).State(), "union, compared with a filter built from both")
		wantState(t, merged(built(1), built(0)), ab.State(), "union in the other order")
		wantState(t, merged(merged(built(0), built(1)), built(2)), merged(built(0), merged(built(1), built(2))).State(), "union of three")
		if _, counts := ab.(umbel.Remover); counts {
			wantState(t, merged(ab, ab), built(0, 1, 0, 1).State(), "union with itself")
		} else {
			wantState(t, merged(built(0, 1), built(1), ab, built(0)), ab.State(), "union with present keys")
			wantState(t, merged(ab, ab), built(0, 1).State(), "union with itself")
		}
		wantState(t, merged(built(0), newFilter(t, v, n)), built(0).State(), "union with an empty filter")
		wantState(t, merged(newFilter(t, v, n), built(0)), built(0).State(), "union of an empty filter with another")

		other := built(1)
		f := merged(built(0), other)
		addAll(f, digests(4, 100))
		wantState(t, other, built(1).State(), "the merged filter, after additions to the union")
	}
}

// mergeRefuses: if two filters can't be merged, the error wraps umbel.ErrMismatch and both are
// unchanged.
func mergeRefuses(t tb, v umbel.Kind) {
	goal := umbel.Goal{Keys: 1000, FPRate: 0.01}
	f := mustNew(t, v, goal, nil)
	m := as[umbel.Merger](t, f)
	addAll(f, digests(1, 1000))
	before := f.State().Clone()

	refused := func(what string, s umbel.State, sentinels ...error) {
		t.Helper()
		theirs := s.Clone()
		var err error
		if p := panicked(func() { err = m.Merge(s) }); p != nil {
			t.Fatalf("%s: Merge panics: %v", what, p)
		}
		wantError(t, err, what, sentinels...)
		wantState(t, f, before, what+": the filter after the error")
		if !equal(s, theirs) {
			t.Errorf("%s: the other state changed", what)
		}
	}
	s := f.State().Clone()
	s.Kind = "example.org/other"
	refused("another kind", s, umbel.ErrMismatch)

	for _, h := range []umbel.Hasher{{Seed: fixture.Seed(1, 0)}, {Alg: umbel.SipHash}} {
		g := goal
		g.Hasher = h
		refused("another hasher", mustNew(t, v, g, nil).State(), umbel.ErrMismatch)
	}
	for _, h := range corruptions(f.State()) {
		s := f.State().Clone()
		h.change(&s)
		refused(h.what, s, umbel.ErrMismatch, umbel.ErrCorrupt, umbel.ErrKind)
	}
	for _, doc := range v.Params {
		if doc.Name == "k" {
			m = as[umbel.Merger](t, mustNew(t, v, goal, umbel.Params{{Name: "k", Value: umbel.Uint(4)}}))
			f = m.(umbel.Filter)
			before = f.State().Clone()
			g := mustNew(t, v, goal, umbel.Params{{Name: "k", Value: umbel.Uint(5)}})
			refused("another k", g.State(), umbel.ErrMismatch)
		}
	}
	if _, ok := f.(umbel.Folder); ok {
		two, three := unfolded(t, v, copyOf(t, v, f), 2), unfolded(t, v, copyOf(t, v, f), 3)
		mergeSizes(t, v, f, unfolded(t, v, copyOf(t, v, f), 6))
		mergeSizes(t, v, two, three)
	}
}

// mergeSizes merges filters of different sizes: one divides the other, or they have a
// common divisor. Merge may refuse; otherwise the union contains all keys.
func mergeSizes(t tb, v umbel.Kind, a, b umbel.Filter) {
	t.Helper()
	addAll(a, digests(5, 100))
	addAll(b, digests(6, 100))
	for _, pair := range [][2]umbel.Filter{{a, b}, {b, a}} {
		f, other := copyOf(t, v, pair[0]), pair[1]
		theirs := other.State().Clone()
		if err := f.(umbel.Merger).Merge(other.State()); err != nil {
			if !errors.Is(err, umbel.ErrMismatch) {
				t.Errorf("Merge of unequal sizes: the error %q doesn't wrap %q", err, umbel.ErrMismatch)
			}
			wantState(t, f, pair[0].State(), "the filter after the error")
		} else {
			wantAll(t, f, slices.Concat(digests(5, 100), digests(6, 100)), "union of unequal sizes")
			addAll(f, digests(7, 100))
		}
		wantState(t, other, theirs, "the merged filter")
	}
}
