package filtertest

import (
	"encoding"
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
)

// zeroPanic is the value with which adding to a zero filter panics.
const zeroPanic = "umbel: add to a zero filter: make it with New"

// Zero tests the zero filters of v. Each call of fresh returns another one:
//
//	filtertest.Zero(t, mine.Kind, func() umbel.Filter { return new(mine.Filter) })
//
// A zero filter is empty and its stats are zeros. Adding to it panics with the text
// "umbel: add to a zero filter: make it with New". Fold, Unfold and Merge return an error
// wrapping umbel.ErrMismatch, MarshalBinary and MarshalText one wrapping umbel.ErrGoal.
// UnmarshalBinary makes it a filter.
func Zero(t *testing.T, v umbel.Kind, fresh func() umbel.Filter) { zero(t, v, fresh) }

func zero(t tb, v umbel.Kind, fresh func() umbel.Filter) {
	if p := panicked(func() { zeroIsEmpty(t, fresh()) }); p != nil {
		t.Errorf("a query of the zero filter panics: %v", p)
	}
	zeroPanicsOnAdd(t, fresh())
	if p := panicked(func() { zeroRefuses(t, v, fresh) }); p != nil {
		t.Errorf("the zero filter panics: %v", p)
	}
	zeroUnmarshals(t, v, fresh())
}

// zeroIsEmpty: queries return false or zero.
func zeroIsEmpty(t tb, f umbel.Filter) {
	t.Helper()
	if c, ok := f.(umbel.Clearer); ok {
		c.Clear()
	}
	answers := room(len(extreme))
	umbel.HasAll(f, answers[:len(extreme)], extreme)
	for i, d := range extreme {
		if f.Has(d) || answers[i] {
			t.Errorf("the zero filter contains %v", d)
		}
	}
	if s := f.Stats(); s != (umbel.Stats{}) {
		t.Errorf("the stats of the zero filter are %+v, want zeros", s)
	}
	if r, ok := f.(umbel.Remover); ok && r.Remove(extreme[1]) {
		t.Errorf("the zero filter removes a key")
	}
	if c, ok := f.(umbel.Counter); ok && count(t, c, extreme[1]) != 0 {
		t.Errorf("the zero filter counts a key")
	}
	if l, ok := f.(umbel.Locator); ok {
		if at := l.Locate([]uint64{1}, extreme[1]); len(at) != 1 || at[0] != 1 {
			t.Errorf("Locate of the zero filter turns [1] into %d, want nothing appended", at)
		}
	}
}

// zeroPanicsOnAdd: every method that adds keys panics.
func zeroPanicsOnAdd(t tb, f umbel.Filter) {
	t.Helper()
	adds := map[string]func(){
		"Add":                     func() { f.Add(extreme[1]) },
		"AddAll":                  func() { umbel.AddAll(f, room(1)[:1], extreme[:1]) },
		"AddAll, without results": func() { umbel.AddAll(f, nil, extreme) },
	}
	if a, ok := f.(umbel.AtomicAdder); ok {
		adds["AddAtomic"] = func() { a.AddAtomic(extreme[1]) }
	}
	if a, ok := f.(umbel.AtomicBatchAdder); ok {
		adds["AddAllAtomic"] = func() { a.AddAllAtomic(extreme) }
	}
	for name, add := range adds {
		if p := panicked(add); p == nil || fmt.Sprint(p) != zeroPanic {
			t.Errorf("%s to the zero filter panics with %v, want %q", name, p, zeroPanic)
		}
	}
}

// zeroRefuses: Fold, Unfold, Merge and the encoding methods return errors. A Merge with a zero
// filter leaves the other filter unchanged.
func zeroRefuses(t tb, v umbel.Kind, fresh func() umbel.Filter) {
	t.Helper()
	other := newFilter(t, v, sizes[0])
	addAll(other, extreme)
	was := other.State().Clone()
	if f, ok := fresh().(umbel.Folder); ok {
		for _, r := range []uint64{0, 1, 2} {
			wantOnly(t, f.Fold(r), fmt.Sprintf("Fold(%d) of the zero filter", r), umbel.ErrMismatch)
			wantOnly(t, f.Unfold(r), fmt.Sprintf("Unfold(%d) of the zero filter", r), umbel.ErrMismatch)
		}
	}
	if m, ok := fresh().(umbel.Merger); ok {
		wantOnly(t, m.Merge(was.Clone()), "Merge into the zero filter", umbel.ErrMismatch)
		wantOnly(t, m.Merge(fresh().State()), "Merge of two zero filters", umbel.ErrMismatch)
	}
	if m, ok := other.(umbel.Merger); ok {
		wantOnly(t, m.Merge(fresh().State()), "Merge of the zero filter's state", umbel.ErrMismatch)
		wantState(t, other, was, "after Merge of the zero filter's state")
	}
	if m, ok := fresh().(encoding.TextMarshaler); ok {
		_, err := m.MarshalText()
		wantOnly(t, err, "MarshalText of the zero filter", umbel.ErrGoal)
	}
	if m, ok := fresh().(encoding.BinaryMarshaler); ok {
		_, err := m.MarshalBinary()
		wantOnly(t, err, "MarshalBinary of the zero filter", umbel.ErrGoal)
	}
}

// zeroUnmarshals: UnmarshalBinary makes it the filter in a container.
func zeroUnmarshals(t tb, v umbel.Kind, f umbel.Filter) {
	t.Helper()
	u, ok := f.(encoding.BinaryUnmarshaler)
	if !ok {
		return
	}
	other := newFilter(t, v, sizes[0])
	addAll(other, extreme)
	m, ok := other.(encoding.BinaryMarshaler)
	if !ok {
		return
	}
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatalf("MarshalBinary: %v", err)
	}
	if err := u.UnmarshalBinary(b[:len(b)-1]); err == nil || f.Has(extreme[0]) {
		t.Errorf("UnmarshalBinary of a truncated container: the error is %v, and Has of the zero filter is %v", err, f.Has(extreme[0]))
	}
	if err := u.UnmarshalBinary(b); err != nil {
		t.Fatalf("UnmarshalBinary into the zero filter: %v", err)
	}
	wantState(t, f, written(t, v, other), "the zero filter after UnmarshalBinary")
	ds := digests(1, 100)
	addAll(f, ds)
	wantAll(t, f, ds, "the zero filter after UnmarshalBinary")
}
