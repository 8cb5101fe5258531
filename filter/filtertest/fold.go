package filtertest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
)

// base has many divisors, of which some repeat.
const base = 60

func fold(t tb, f umbel.Filter, r uint64) {
	t.Helper()
	if err := f.(umbel.Folder).Fold(r); err != nil {
		t.Fatalf("Fold(%d): %v", r, err)
	}
}

// grows reports whether the size of v's filters, or their design, follows from what is
// added to them. Not all that are an umbel.Grower do: some only refuse what is too much.
func grows(t tb, v umbel.Kind) bool {
	t.Helper()
	f := make1(t, v, sizes[0])
	cells, design := f.Stats().Cells, slices.Clone(f.State().Params)
	addAll(f, digests(1, 20*int(sizes[0])))
	return f.Stats().Cells != cells || !slices.Equal(f.State().Params, design)
}

func unfolded(t tb, v umbel.Kind, f umbel.Filter, u uint64) umbel.Filter {
	t.Helper()
	if err := f.(umbel.Folder).Unfold(u); err != nil {
		t.Fatalf("Unfold(%d): %v", u, err)
	}
	return f
}

// orders returns every way to write r as a product of factors above 1, in every
// order.
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

// foldIsBuiltSmall: a filter folded by r is, bit for bit, the filter to which the
// same keys were added at that size; and folds in any order are the fold by their
// product: the lemma and the theorem of Sailhan and Stehr 2012, section III. Where a
// size can be given, the one of that size is made by New. What an addition to a
// filter that grows does depends on what it has, so of such a filter only the order
// of folds is indifferent.
func foldIsBuiltSmall(t tb, v umbel.Kind) {
	for _, n := range sizes {
		empty := make1(t, v, n)
		as[umbel.Folder](t, empty)
		unfolded(t, v, empty, base)
		ds := append(digests(1, int(n)), extreme...)
		full := twin(t, v, empty)
		addAll(full, ds)
		for r := uint64(1); r <= base; r++ {
			if base%r != 0 {
				continue
			}
			small := twin(t, v, empty)
			fold(t, small, r)
			if got, want := small.Stats().Cells*r, empty.Stats().Cells; got != want {
				t.Fatalf("folded by %d: %d cells, want %d", r, got/r, want/r)
			}
			if grows(t, v) {
				small = twin(t, v, full)
				fold(t, small, r)
			}
			addAll(small, ds)
			for _, order := range orders(r) {
				f := twin(t, v, full)
				for _, r := range order {
					fold(t, f, r)
				}
				if !equal(f.State(), small.State()) {
					t.Fatalf("n=%d, folded by %v, against built small: %s", n, order, difference(f.State(), small.State()))
				}
			}
			wantAll(t, small, ds, "folded")
		}
	}
	if slices.ContainsFunc(v.Params, func(p umbel.ParamDoc) bool { return p.Name == "m" }) {
		foldIsMadeSmall(t, v)
	}
}

// foldIsMadeSmall: a filter made with so many cells and folded is the one that is
// made with the cells it then has, in everything, whether its size is words or not.
func foldIsMadeSmall(t tb, v umbel.Kind) {
	folds := 0
	for _, small := range []uint64{20, 63, 64, 3 * 64, 7 * 64, 512, 3 * 512, 7 * 512} {
		for _, r := range []uint64{2, 3, 4, 7, 64} {
			g := umbel.Goal{Keys: small * r / 10}
			f := mustNew(t, v, g, umbel.Params{{Name: "m", Value: umbel.Uint(small * r)}})
			ds := append(digests(1, int(g.Keys)), extreme...)
			addAll(f, ds)
			if as[umbel.Folder](t, f).Fold(r) != nil {
				continue // rounded up to a size that r doesn't divide
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
				t.Fatalf("m=%d folded by %d, against made with %v: %s", small*r, r, ps, difference(folded, made.State()))
			}
		}
	}
	if folds == 0 {
		t.Errorf("no size that was tried folds")
	}
}

// cellsOf returns what was given as m when f, whose state is s, was made.
func cellsOf(f umbel.Filter, s umbel.State) uint64 {
	if _, ok := f.(umbel.PositionLister); ok {
		return f.Stats().Cells
	}
	return s.Arrays[0].Len
}

// unfoldKeepsKeys: unfolding changes no answer; folding back, no bit; and keys added
// between the two are where they would have been.
func unfoldKeepsKeys(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		as[umbel.Folder](t, f)
		ds := append(digests(1, int(n)), extreme...)
		addAll(f, ds)
		more := digests(3, int(n)/4)
		both := twin(t, v, f)
		addAll(both, more)
		for _, u := range []uint64{1, 2, 3, 7, 64} {
			g := unfolded(t, v, twin(t, v, f), u)
			if got, want := g.Stats().Cells, f.Stats().Cells*u; got != want {
				t.Fatalf("unfolded by %d: %d cells, want %d", u, got, want)
			}
			wantAll(t, g, ds, "unfolded")
			for _, d := range digests(2, 2000) {
				if a, b := f.Has(d), g.Has(d); a != b {
					t.Fatalf("unfolded by %d: Has(%v) is %v, and was %v before", u, d, b, a)
				}
			}
			if slices.ContainsFunc(f.State().Arrays, wide) {
				continue // copies of counters don't fold back to what they were
			}
			folded := twin(t, v, g)
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

// foldRefuses: a factor that doesn't divide is an error that wraps umbel.ErrMismatch
// and names one that does, and nothing has changed.
func foldRefuses(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
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
			wantState(t, f, before, what+": the filter after a refusal")
			if err == nil {
				return ""
			}
			return err.Error()
		}
		refused("Fold(0)", func() error { return folder.Fold(0) })
		refused("Unfold(0)", func() error { return folder.Unfold(0) })
		for _, x := range []uint64{1 << 62, 1<<64 - 1} {
			refused("Fold by far too much", func() error { return folder.Fold(x) })
			refused("Unfold by far too much", func() error { return folder.Unfold(x) })
		}
		bad := f.Stats().Cells + 1
		says := refused("Fold by more than the cells", func() error { return folder.Fold(bad) })
		if says != "" && !namesFactor(t, v, f, says) {
			t.Errorf("Fold(%d): %q names no factor that divides", bad, says)
		}
	}
}

// namesFactor reports whether a number in the message is one that f folds by.
func namesFactor(t tb, v umbel.Kind, f umbel.Filter, message string) bool {
	t.Helper()
	words := strings.FieldsFunc(message, func(r rune) bool { return r < '0' || r > '9' })
	return slices.ContainsFunc(words, func(w string) bool {
		r, err := strconv.ParseUint(w, 10, 64)
		return err == nil && r > 1 && twin(t, v, f).(umbel.Folder).Fold(r) == nil
	})
}
