package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
)

// removes: what was added and removed leaves no trace, what wasn't removed stays,
// and what can't be removed is refused and changes nothing. A filter may refuse a
// few that it has, where it can't tell what their removal would take along; one that
// grew for what was added may stay as large.
func removes(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		r := as[umbel.Remover](t, f)
		stay, gone := append(digests(1, int(n)/2), extreme...), digests(2, int(n)/4)
		addAll(f, stay)
		before := f.State().Clone()
		removesAbsent(t, f, r)

		addAll(f, gone)
		refused := 0
		slices.Reverse(gone)
		for _, d := range gone {
			was := f.State().Clone()
			if r.Remove(d) {
				continue
			}
			refused++
			wantState(t, f, was, "after Remove was refused")
			if !f.Has(d) {
				t.Fatalf("Remove(%v) was refused, and Has is false", d)
			}
		}
		wantAll(t, f, stay, "after others were removed")
		if left := len(gone) - missing(f, gone); left > refused+len(gone)/20+2 {
			t.Errorf("%d of %d keys are there after they were removed, %d of them refused", left, len(gone), refused)
		}
		switch {
		case refused == 0 && !grows(t, v):
			wantState(t, f, before, "added and removed, against never added")
		case refused > len(gone)/20:
			t.Errorf("Remove refused %d of %d keys that were added", refused, len(gone))
		}

		twice := digests(3, 10)
		addAll(f, twice)
		addAll(f, twice)
		for _, d := range twice {
			r.Remove(d)
		}
		wantAll(t, f, slices.Concat(stay, twice), "added twice and removed once")
		removesFull(t, f, r, stay)
	}
}

// removesAbsent: the removal of what isn't there is refused.
func removesAbsent(t tb, f umbel.Filter, r umbel.Remover) {
	t.Helper()
	before := f.State().Clone()
	for _, d := range digests(4, 200) {
		if !f.Has(d) && r.Remove(d) {
			t.Fatalf("Remove(%v) is true, and Has was false", d)
		}
	}
	wantState(t, f, before, "after the removal of what isn't there")
}

// removesFull: a key that is added and removed more often than small counters can
// count takes no other along.
func removesFull(t tb, f umbel.Filter, r umbel.Remover, stay []umbel.Digest) {
	t.Helper()
	for _, d := range digests(5, 3) {
		for range 1000 {
			f.Add(d)
		}
		for range 500 {
			r.Remove(d)
		}
		if !f.Has(d) {
			t.Fatalf("added 1000 times and removed 500: Has(%v) is false", d)
		}
		for range 500 {
			r.Remove(d)
		}
	}
	wantAll(t, f, stay, "after others were added and removed often")
}

// counts: Count is never too low, is zero where Has is false, and is seldom too
// high.
func counts(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		c := as[umbel.Counter](t, f)
		ds := append(digests(1, int(n)/2), extreme...)
		for i, d := range ds {
			for range 1 + i%3 {
				f.Add(d)
			}
		}
		high := 0
		for i, d := range ds {
			times := uint64(1 + i%3)
			if got := c.Count(d); got < times {
				t.Fatalf("Count(%v) is %d, added %d times", d, got, times)
			} else if got > times {
				high++
			}
		}
		if high > len(ds)/20+2 {
			t.Errorf("Count is too high for %d of %d keys", high, len(ds))
		}
		for _, d := range digests(2, 1000) {
			if n := c.Count(d); n > 0 && !f.Has(d) {
				t.Fatalf("Count(%v) is %d, and Has is false", d, n)
			}
		}
		for times := range uint64(300) {
			if got := c.Count(ds[0]); got < times {
				t.Fatalf("Count(%v) is %d, added %d times or more", ds[0], got, times)
			}
			f.Add(ds[0])
		}
	}
}
