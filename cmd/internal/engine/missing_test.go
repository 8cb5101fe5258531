package engine_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// While names may be missing, no answer depends on that a filter does not exist.
func TestMissingNames(t *testing.T) {
	e, _, _ := journaling(t)
	create(t, e, "known", "bloom", goal, nil)
	e.AddMissingNames(engine.MissingNames{Since: 2000, Batches: 3})
	e.AddMissingNames(engine.MissingNames{Since: 1000, Batches: 2})
	if m := e.MissingNames(); m == nil || *m != (engine.MissingNames{1000, 5}) {
		t.Errorf("missing names %v", m)
	}
	wantMissing := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, engine.ErrNamesMissing) || errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s: error %v, want %v", what, err, engine.ErrNamesMissing)
		}
	}
	wantMissing("absent", e.CheckAbsent())
	_, _, err := e.Delete([]byte("unknown"))
	wantMissing("delete", err)
	_, err = e.Rename([]byte("unknown"), []byte("other"), true)
	wantMissing("rename", err)
	_, err = e.Rename([]byte("known"), []byte("unknown"), false)
	wantMissing("rename to an unknown name", err)
	_, err = e.Copy([]byte("unknown"), []byte("other"), true)
	wantMissing("copy", err)
	_, err = e.Copy([]byte("known"), []byte("unknown"), false)
	wantMissing("copy to an unknown name", err)
	if f := e.Get([]byte("unknown")); f != nil {
		t.Error("a refused change made a filter")
	}

	f, _, err := e.Create("made", "bloom", goal, nil)
	if err != nil || !f.Lost() || e.LostLen() != 1 {
		t.Errorf("an empty filter under an unknown name: %v, %d filters lost data", err, e.LostLen())
	}
	_, err = e.Copy([]byte("known"), []byte("replaced"), true)
	if f := e.Get([]byte("replaced")); err != nil || f == nil || f.Lost() {
		t.Errorf("a copy that may replace a filter: %v", err)
	}
	if _, err := e.Rename([]byte("replaced"), []byte("moved"), true); err != nil {
		t.Error(err)
	}

	if done, pos, err := e.Acknowledge(); !done || pos == 0 || err != nil {
		t.Errorf("acknowledged %v, %d, %v", done, pos, err)
	}
	if done, _, err := e.Acknowledge(); done || err != nil {
		t.Errorf("acknowledged again: %v, %v", done, err)
	}
	if err := e.CheckAbsent(); err != engine.ErrNotFound {
		t.Errorf("error %v", err)
	}
	if f := e.Get([]byte("made")); !f.Lost() {
		t.Error("the acknowledgement completed a filter")
	}
	if f, _, err := e.Create("later", "bloom", goal, nil); err != nil || f.Lost() {
		t.Errorf("a filter after the acknowledgement: %v", err)
	}
}

// FLUSHALL deletes the filters whose names are missing, too.
func TestFlushEndsMissingNames(t *testing.T) {
	e, _, _ := journaling(t)
	e.AddMissingNames(engine.MissingNames{Since: 1})
	if _, err := e.Flush(); err != nil || e.MissingNames() != nil {
		t.Errorf("missing names %v, %v", e.MissingNames(), err)
	}
}

// A replay restores which filters lost data and whether names may be missing.
func TestReplayLosses(t *testing.T) {
	e, j, _ := journaling(t)
	create(t, e, "whole", "bloom", goal, nil)
	create(t, e, "damaged", "bloom", goal, nil)
	replay := func() *engine.Engine {
		again := engine.New(engine.Options{Kinds: filter.All})
		for _, c := range j.behind(0) {
			if err := again.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := again.FinishReplay(); err != nil {
			t.Fatal(err)
		}
		return again
	}
	e.MarkLost(e.Get([]byte("damaged")).ID())
	e.AddMissingNames(engine.MissingNames{Since: 7, Batches: 1})
	e.RecordLosses()
	create(t, e, "made", "bloom", goal, nil)
	replayed := replay()
	if m := replayed.MissingNames(); m == nil || *m != (engine.MissingNames{7, 1}) {
		t.Errorf("missing names %v", m)
	}
	if names := replayed.LostNames(10); len(names) != 2 || names[0] != "damaged" || names[1] != "made" {
		t.Errorf("lost data: %q", names)
	}
	if _, _, err := e.Acknowledge(); err != nil {
		t.Fatal(err)
	}
	if m := replay().MissingNames(); m != nil {
		t.Errorf("missing names %v after the acknowledgement", m)
	}
}
