package filtertest

import (
	"bytes"
	"encoding"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// keepsPlanned: New records what a filter was planned for, also if it follows from a number of bytes.
// Containers, copies, folds, merges and Clear keep it, and it is part of neither ID nor equality.
func keepsPlanned(t tb, v umbel.Kind) {
	const n = 12000
	f := newFilter(t, v, n)
	p := as[umbel.Planner](t, f)
	want := umbel.Planned{Keys: n, FPRate: 0.01}
	wantPlanned(t, f, want, "New")
	for _, g := range []umbel.Goal{{FPRate: 0.01, Bytes: 1 << 16}, {Keys: n, Bytes: 1 << 16}} {
		if fc, err := v.Plan(g, nil); err == nil {
			wantPlanned(t, mustNew(t, v, g, nil), umbel.PlannedBy(g, fc), "New with bytes")
		}
	}

	addAll(f, digests(1, n))
	seal(t, f)
	id := hashtree.Identify(f.State())
	other := copyOf(t, v, f)
	want = umbel.Planned{Keys: 7, FPRate: 0.125}
	p.SetPlanned(want)
	wantPlanned(t, f, want, "SetPlanned")
	if p.Planned() != want {
		t.Errorf("Planned returns %+v, want %+v", p.Planned(), want)
	}
	if got := hashtree.Identify(f.State()); got != id {
		t.Errorf("SetPlanned changes the ID from %v to %v", id, got)
	}
	if !f.State().Equal(other.State()) {
		t.Errorf("states that differ in Planned only are not equal")
	}
	if panicked(func() { p.SetPlanned(umbel.Planned{Keys: 1, FPRate: 1}) }) == nil {
		t.Errorf("SetPlanned with a rate of 1 does not panic")
	}

	wantPlanned(t, copyOf(t, v, f), want, "Open")
	if b, err := as[encoding.BinaryMarshaler](t, f).MarshalBinary(); err != nil {
		t.Errorf("MarshalBinary: %v", err)
	} else {
		g := newFilter(t, v, 1)
		if _, err := as[io.ReaderFrom](t, g).ReadFrom(bytes.NewReader(b)); err != nil {
			t.Errorf("ReadFrom: %v", err)
		}
		wantPlanned(t, g, want, "ReadFrom")
	}
	wantPlanned(t, clone(t, f), want, "Clone")
	if m, ok := f.(umbel.Merger); ok {
		if err := m.Merge(other.State()); err != nil {
			t.Errorf("Merge: %v", err)
		}
		wantPlanned(t, f, want, "Merge")
	}
	if u, ok := f.(umbel.Folder); ok {
		if err := u.Unfold(2); err != nil {
			t.Errorf("Unfold: %v", err)
		}
		wantPlanned(t, f, want, "Unfold")
		fold(t, f, 2)
		wantPlanned(t, f, want, "Fold")
	}
	if c, ok := f.(umbel.Clearer); ok {
		c.Clear()
		wantPlanned(t, f, want, "Clear")
	}
}

func wantPlanned(t tb, f umbel.Filter, want umbel.Planned, after string) {
	t.Helper()
	if got := f.State().Planned; got != want {
		t.Errorf("after %s a filter is planned for %+v, want %+v", after, got, want)
	}
}
