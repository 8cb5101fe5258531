package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
)

// noFalseNegatives: Has is true for every key that was added, after any other additions.
func noFalseNegatives(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		ds := slices.Concat(extreme, digests(1, int(n)*2), extreme, digests(1, 10))
		for i, d := range ds {
			f.Add(d)
			if !f.Has(d) {
				t.Fatalf("n=%d: Has(%v) is false immediately after Add", n, d)
			}
			if i == len(ds)/2 {
				wantAll(t, f, ds[:i+1], "half full")
			}
		}
		wantAll(t, f, ds, "twice as full as planned")
	}
}

// addReportsChange: Add reports whether the filter changed, and it changes if the digest was
// absent.
func addReportsChange(t tb, v umbel.Kind) {
	f := newFilter(t, v, sizes[0])
	for _, d := range slices.Concat(extreme, digests(1, 200), extreme, digests(1, 200)) {
		before, had := f.State().Clone(), f.Has(d)
		changed := f.Add(d)
		if !changed && !had {
			t.Fatalf("Add(%v) is false, and so was Has", d)
		}
		if differs := !equal(f.State(), before); changed != differs {
			t.Fatalf("Add(%v) is %v; the state changed: %v", d, changed, differs)
		}
	}
}

// clears: after Clear a filter equals a new one.
func clears(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		c := as[umbel.Clearer](t, f)
		made := f.State().Clone()
		ds := digests(1, int(n))
		addAll(f, ds)
		full := f.State().Clone()
		c.Clear()
		wantState(t, f, made, "after Clear")
		if s := f.Stats(); s.Keys != 0 || s.Fill != 0 {
			t.Errorf("after Clear: %g keys and a fill of %g, want 0 and 0", s.Keys, s.Fill)
		}
		addAll(f, ds)
		wantState(t, f, full, "cleared and filled again")
	}
}

// locate: a digest is present if and only if all cells that Locate returns are set. Add sets
// these cells and no others.
func locate(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		l := as[umbel.Locator](t, f)
		addAll(f, digests(1, int(n)))
		var at []uint64
		for _, d := range slices.Concat(extreme, digests(2, 300), digests(1, 50)) {
			cells := f.State().Arrays[0]
			before := cells.Clone()
			at = l.Locate(append(at[:0], 1<<40), d)
			if len(at) < 2 || at[0] != 1<<40 {
				t.Fatalf("Locate(%v) appended to one element returns %d elements, the first %d", d, len(at), at[0])
			}
			all := true
			for _, i := range at[1:] {
				if i >= cells.Len {
					t.Fatalf("Locate(%v) returns cell %d of %d", d, i, cells.Len)
				}
				all = all && cells.Get(i) != 0
			}
			if has := f.Has(d); has != all {
				t.Fatalf("Has(%v) is %v; all cells of Locate are set: %v", d, has, all)
			}
			f.Add(d)
			for _, i := range at[1:] {
				if cells.Get(i) == 0 {
					t.Fatalf("cell %d, which Locate returned, is zero after Add(%v)", i, d)
				}
				before.Put(i, cells.Get(i))
			}
			if !cells.Equal(before) {
				t.Fatalf("Add(%v) changed cells that Locate did not return", d)
			}
		}
	}
}

// noAllocations: methods that are called once per key allocate nothing. Additions may allocate
// if the filter grows or is a list.
func noAllocations(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		ds := digests(1, 1000)
		old, fresh := ds[:100], ds[100:]
		bools := make([]bool, len(ds))
		addAll(f, old)
		i := 0
		next := func() umbel.Digest { i++; return fresh[i%len(fresh)] }

		wantNoAllocation(t, "Has", func() { f.Has(old[i%100]); f.Has(next()) })
		wantNoAllocation(t, "HasAll", func() { umbel.HasAll(f, bools, ds) })
		if _, list := f.(umbel.PositionLister); !list && !grows(t, v) {
			wantNoAllocation(t, "Add", func() { f.Add(next()) })
			wantNoAllocation(t, "AddAll", func() { umbel.AddAll(f, bools, ds); umbel.AddAll(f, nil, ds) })
		}
		if r, ok := f.(umbel.Remover); ok {
			wantNoAllocation(t, "Remove", func() { r.Remove(next()) })
		}
		if c, ok := f.(umbel.Counter); ok {
			wantNoAllocation(t, "Count", func() { c.Count(next()) })
		}
		if a, ok := f.(umbel.AtomicAdder); ok {
			wantNoAllocation(t, "AddAtomic", func() { a.AddAtomic(next()) })
		}
		if a, ok := f.(umbel.AtomicBatchAdder); ok {
			wantNoAllocation(t, "AddAllAtomic", func() { a.AddAllAtomic(ds) })
		}
		if l, ok := f.(umbel.Locator); ok {
			at := make([]uint64, 0, 4096)
			wantNoAllocation(t, "Locate", func() { at = l.Locate(at[:0], next()) })
		}
	}
}
