package filtertest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// base is the factor by which tests unfold a filter before they fold it. It has many divisors.
const base = 60

// orders returns every ordered list of factors above 1 whose product is r.
func orders(r uint64) [][]uint64 {
	if r == 1 {
		return [][]uint64{nil}
	}
	var all [][]uint64
	for first := uint64(2); first <= r; first++ {
		if r%first == 0 {
			for _, rest := range orders(r / first) {
				all = append(all, append([]uint64{first}, rest...))
			}
		}
	}
	return all
}

// foldEqualsBuiltSmall: a filter folded by r equals, bit for bit, a filter of the smaller size
// with the same keys. Folds in any order equal the fold by their product (the lemma and the
// theorem of Sailhan and Stehr 2012, section III). If the kind has a parameter m, New makes the
// smaller filter. In a filter that grows, the effect of an addition depends on the keys that are
// present; there only the order of the folds is tested.
func foldEqualsBuiltSmall(t tb, v umbel.Kind) {
	for _, n := range sizes {
		empty := newFilter(t, v, n)
		as[umbel.Folder](t, empty)
		unfolded(t, v, empty, base)
		ds := append(digests(1, int(n)), extreme...)
		full := copyOf(t, v, empty)
		addAll(full, ds)
		for r := uint64(1); r <= base; r++ {
			if base%r != 0 {
				continue
			}
			small := copyOf(t, v, empty)
			fold(t, small, r)
			if got, want := small.Stats().Cells*r, empty.Stats().Cells; got != want {
				t.Fatalf("folded by %d: %d cells, want %d", r, got/r, want/r)
			}
			if grows(t, v) {
				small = copyOf(t, v, full)
				fold(t, small, r)
			}
			addAll(small, ds)
			for _, order := range orders(r) {
				f := copyOf(t, v, full)
				for _, r := range order {
					fold(t, f, r)
				}
				if !equal(f.State(), small.State()) {
					t.Fatalf("n=%d, folded by %v, compared with a filter of the smaller size: %s", n, order, difference(f.State(), small.State()))
				}
			}
			wantAll(t, small, ds, "folded")
		}
	}
	if slices.ContainsFunc(v.Params, func(p umbel.ParamDoc) bool { return p.Name == "m" }) {
		foldEqualsNew(t, v)
	}
}

// foldEqualsNew: a filter that New makes with m cells and that is then folded by r equals the
// filter that New makes with m/r cells, for sizes of whole words and others.
func foldEqualsNew(t tb, v umbel.Kind) {
	folds := 0
	for _, small := range []uint64{20, 63, 64, 3 * 64, 7 * 64, 512, 3 * 512, 7 * 512} {
		for _, r := range []uint64{2, 3, 4, 7, 64} {
			g := umbel.Goal{Keys: small * r / 10}
			f := mustNew(t, v, g, umbel.Params{{Name: "m", Value: umbel.Uint(small * r)}})
			ds := append(digests(1, int(g.Keys)), extreme...)
			addAll(f, ds)
			if as[umbel.Folder](t, f).Fold(r) != nil {
				continue // New rounded the size up, and r doesn't divide it
			}
			folds++
			folded := f.State()
			ps := umbel.Params{{Name: "m", Value: umbel.Uint(cellsOf(f, folded))}}
			for _, p := range folded.Params {
				if slices.ContainsFunc(v.Params, func(doc umbel.ParamDoc) bool { return doc.Name == p.Name && p.Name != "m" }) {
					ps = append(ps, p)
				}
			}
			made := mustNew(t, v, g, ps)
			addAll(made, ds)
			if !equal(folded, made.State()) {
				t.Fatalf("m=%d folded by %d, compared with New with %v: %s", small*r, r, ps, difference(folded, made.State()))
			}
		}
	}
	if folds == 0 {
		t.Errorf("none of the sizes can be folded")
	}
}

// cellsOf returns the parameter m with which f was made. s is the state of f.
func cellsOf(f umbel.Filter, s umbel.State) uint64 {
	if _, ok := f.(umbel.PositionLister); ok {
		return f.Stats().Cells
	}
	return s.Arrays[0].Len
}

// unfoldKeepsKeys: Unfold changes no result of Has, and folding back restores every bit. Keys
// that are added in between have the cells that they would have without Unfold and Fold.
func unfoldKeepsKeys(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		as[umbel.Folder](t, f)
		ds := append(digests(1, int(n)), extreme...)
		addAll(f, ds)
		more := digests(3, int(n)/4)
		both := copyOf(t, v, f)
		addAll(both, more)
		for _, u := range []uint64{1, 2, 3, 7, 64} {
			g := unfolded(t, v, copyOf(t, v, f), u)
			if got, want := g.Stats().Cells, f.Stats().Cells*u; got != want {
				t.Fatalf("unfolded by %d: %d cells, want %d", u, got, want)
			}
			wantAll(t, g, ds, "unfolded")
			for _, d := range digests(2, 2000) {
				if a, b := f.Has(d), g.Has(d); a != b {
					t.Fatalf("unfolded by %d: Has(%v) is %v, want %v as before", u, d, b, a)
				}
			}
			if slices.ContainsFunc(f.State().Arrays, hasCounters) {
				continue // Unfold copies counters and Fold adds them
			}
			folded := copyOf(t, v, g)
			fold(t, folded, u)
			wantState(t, folded, f.State(), "unfolded and folded back")
			addAll(g, more)
			if grows(t, v) {
				wantAll(t, g, slices.Concat(ds, more), "unfolded and added to")
				continue
			}
			fold(t, g, u)
			wantState(t, g, both.State(), "unfolded, added to and folded back")
		}
	}
}

// foldRefuses: if a factor doesn't divide the size, the error wraps umbel.ErrMismatch and
// contains a factor that does, and the filter is unchanged.
func foldRefuses(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		as[umbel.Folder](t, f)
		unfolded(t, v, f, 4)
		addAll(f, digests(1, int(n)))
		folder := f.(umbel.Folder)
		before := f.State().Clone()
		refused := func(what string, change func() error) string {
			t.Helper()
			var err error
			if p := panicked(func() { err = change() }); p != nil {
				t.Fatalf("%s panics: %v", what, p)
			}
			wantError(t, err, what, umbel.ErrMismatch)
			wantState(t, f, before, what+": the filter after the error")
			if err == nil {
				return ""
			}
			return err.Error()
		}
		refused("Fold(0)", func() error { return folder.Fold(0) })
		refused("Unfold(0)", func() error { return folder.Unfold(0) })
		for _, x := range []uint64{1 << 62, 1<<64 - 1} {
			refused("Fold by a huge factor", func() error { return folder.Fold(x) })
			refused("Unfold by a huge factor", func() error { return folder.Unfold(x) })
		}
		bad := f.Stats().Cells + 1
		message := refused("Fold by more than the number of cells", func() error { return folder.Fold(bad) })
		if message != "" && !namesFactor(t, v, f, message) {
			t.Errorf("Fold(%d): %q contains no valid factor", bad, message)
		}
	}
}

// namesFactor reports whether message contains a number by which f can be folded.
func namesFactor(t tb, v umbel.Kind, f umbel.Filter, message string) bool {
	t.Helper()
	words := strings.FieldsFunc(message, func(r rune) bool { return r < '0' || r > '9' })
	return slices.ContainsFunc(words, func(w string) bool {
		r, err := strconv.ParseUint(w, 10, 64)
		return err == nil && r > 1 && copyOf(t, v, f).(umbel.Folder).Fold(r) == nil
	})
}

// hasCounters reports whether the cells of an array are counters, not bits.
func hasCounters(a cells.Array) bool { return a.Width > 1 }
