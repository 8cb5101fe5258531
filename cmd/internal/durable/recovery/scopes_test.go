package recovery_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/race"
)

// A damaged batch with a readable scope affects the filters that it changes, and no names are missing.
func TestLostBatchWithScope(t *testing.T) {
	w := newWorld(t, true)
	w.create("early")
	w.create("late")
	w.create("other")
	w.snap(nil)
	lost := w.add("early", 50_000, 50_100)
	w.add("late", 50_000, 50_100)
	end := w.add("late", 50_100, 50_200)
	w.log.LoseData(lost)
	r := w.wantLost([]string{"early", "late", "other"}, "early")
	if m := r.MissingNames(); m != nil {
		t.Errorf("missing names %v", m)
	}
	if len(r.Report.Lost) != 1 || !strings.Contains(r.Report.Lost[0], "change, 1,") {
		t.Errorf("losses %q", r.Report.Lost)
	}
	w.log.LoseData(end)
	if m := w.wantLost([]string{"early", "late", "other"}, "early", "late").MissingNames(); m != nil {
		t.Errorf("missing names %v", m)
	}
}

// The scope of a lost batch has the names that filters got and lost.
func TestLostNames(t *testing.T) {
	w := newWorld(t, true)
	for _, name := range []string{"renamed", "deleted", "replaced", "kept"} {
		w.create(name)
	}
	w.snap(nil)
	batch := func(change func()) uint64 {
		t.Helper()
		change()
		if err := w.journal.Sync(t.Context(), w.journal.Last()); err != nil {
			t.Fatal(err)
		}
		_, last := w.open.Bounds()
		return last
	}
	must := func(_ engine.Position, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.log.LoseData(batch(func() {
		must(w.engine.Rename([]byte("renamed"), []byte("moved"), false))
		_, pos, err := w.engine.Delete([]byte("deleted"))
		must(pos, err)
		must(w.engine.Rename([]byte("moved"), []byte("replaced"), true))
		for _, v := range filter.All {
			g, err := v.New(umbel.Goal{Keys: 100, FPRate: .01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, pos, err := w.engine.Put("made "+v.Name, g, engine.PutOptions{})
			must(pos, err)
		}
	}))
	w.add("kept", 50_000, 50_100)
	r, err := w.recover(true)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"replaced"}
	for _, v := range filter.All {
		want = append(want, "made "+v.Name)
	}
	if got := r.LostNames(100); !slices.Equal(got, want) || r.Len() != len(want)+1 || r.MissingNames() != nil {
		t.Errorf("%d filters, lost data: %q, want %q; missing names %v", r.Len(), got, want, r.MissingNames())
	}
	for _, v := range filter.All {
		if f := r.Get([]byte("made " + v.Name)); f == nil || f.Kind() != v.Name {
			t.Errorf("%s: %v", v.Name, f)
		}
	}
	w.wantKeys(r, append(want, "kept")...)
}

// A filter whose creation takes several batches is known by its name, whichever of them are lost.
func TestLostLongCreation(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	w := newWorld(t, true)
	w.create("before")
	_, first := w.open.Bounds()
	g, err := filter.All[0].New(umbel.Goal{Bytes: 4 << 20, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range keys(0, 3_000_000) {
		g.Add(d)
	}
	if _, _, err := w.engine.Put("large", g, engine.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	last := w.add("before", 50_000, 50_100)
	if last < first+5 {
		t.Fatalf("%d batches", last-first)
	}
	for lost := first + 1; lost <= last; lost++ {
		whole := w.log
		w.log = whole.Clone()
		w.log.LoseData(lost)
		r, err := w.recover(true)
		if err != nil {
			t.Fatal(err)
		}
		if m := r.MissingNames(); m != nil {
			t.Errorf("batch %d lost: missing names %v", lost, m)
		}
		if f := r.Get([]byte("large")); f == nil || lost < last-1 && !f.Lost() {
			t.Errorf("batch %d of %d lost: the filter is %v", lost, last, f)
		}
		if f := r.Get([]byte("before")); f == nil || lost < last-1 && f.Lost() {
			t.Errorf("batch %d of %d lost: the filter before it lost data", lost, last)
		}
		w.log = whole
	}
}
