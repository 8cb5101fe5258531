package engine_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
)

// While a journal has no space, changes that free some are made, and others are refused.
func TestChangesThatFreeSpace(t *testing.T) {
	for name, do := range map[string]func(*engine.Engine, *engine.Filter) error{
		"Clear": func(_ *engine.Engine, f *engine.Filter) error {
			_, err := f.Do(operation.Clear, umbel.Number{})
			return err
		},
		"Fold": func(_ *engine.Engine, f *engine.Filter) error {
			_, err := f.Do(operation.Fold, umbel.Uint(2))
			return err
		},
		"Expire at once": func(_ *engine.Engine, f *engine.Filter) error { _, err := f.Expire(1); return err },
		"Delete":         func(e *engine.Engine, _ *engine.Filter) error { _, _, err := e.Delete([]byte("f")); return err },
		"Flush":          func(e *engine.Engine, _ *engine.Filter) error { _, err := e.Flush(); return err },
		"Sweep": func(e *engine.Engine, _ *engine.Filter) error {
			if n, err := e.Sweep(10); n != 1 || err != nil {
				return errors.Join(errors.New("not swept"), err)
			}
			return nil
		},
	} {
		now := int64(1)
		j := new(journal)
		e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return now }})
		e.SetJournal(j)
		f := create(t, e, "f", "bloom", umbel.Goal{Keys: 10000, FPRate: .01}, nil)
		add(t, f, digests(1, 100))
		if name == "Sweep" {
			if _, err := f.Expire(5); err != nil {
				t.Fatal(err)
			}
		}
		now = 10
		j.full = errDisk
		if _, _, err := f.Add(nil, digests(2, 100)); !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("%s: an addition before it has the error %v", name, err)
		}
		before := len(j.changes)
		if err := do(e, f); err != nil || len(j.changes) != before+1 {
			t.Errorf("%s: %v, %d changes in the journal", name, err, len(j.changes)-before)
		}
	}
}

// Filters that the journal could not keep are neither made nor enlarged.
func TestFiltersThatCannotBeKept(t *testing.T) {
	j := new(journal)
	e := engine.New(engine.Options{Kinds: filter.All})
	e.SetJournal(j)
	f := create(t, e, "f", "bloom", umbel.Goal{Bytes: 100_000, FPRate: .01}, nil)
	grows := create(t, e, "grows", "scalable", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
	sparse := create(t, e, "sparse", "sparse", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
	j.admits = e.Stored() + 50_000
	before := len(j.changes)
	container := func() umbel.Filter {
		kind, err := e.Kinds().Find("bloom")
		if err != nil {
			t.Fatal(err)
		}
		g, err := kind.New(umbel.Goal{Bytes: 60_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for name, do := range map[string]func() error{
		"Create": func() error {
			_, _, err := e.Create("g", "bloom", umbel.Goal{Bytes: 60_000, FPRate: .01}, nil)
			return err
		},
		"Put":    func() error { _, _, err := e.Put("g", container(), engine.PutOptions{}); return err },
		"Copy":   func() error { _, err := e.Copy([]byte("f"), []byte("g"), false); return err },
		"Unfold": func() error { _, err := f.Do(operation.Unfold, umbel.Uint(2)); return err },
		"Replace": func() error {
			_, err := f.Replace(func(g umbel.Filter) (umbel.Filter, error) {
				s := g.State().Clone()
				u, err := e.Kinds().Open(s)
				if err == nil {
					err = u.(umbel.Folder).Unfold(2)
				}
				return u, err
			})
			return err
		},
	} {
		_, refused := e.Refusals()
		total := refused.Total()
		if err := do(); !errors.Is(err, engine.ErrDisk) || refused.Total() != total+1 {
			t.Errorf("%s: error %v, want %v; %d refusals are counted, want 1", name, err, engine.ErrDisk, refused.Total()-total)
		}
	}
	if len(j.changes) != before {
		t.Errorf("%d changes in the journal", len(j.changes)-before)
	}
	for _, f := range []*engine.Filter{grows, sparse} {
		n, _, err := f.Add(nil, digests(1, 100_000))
		if !errors.Is(err, engine.ErrDisk) || e.Stored() > j.admits {
			t.Errorf("%s takes %d keys, %v; all take %d bytes of %d", f.Kind(), n, err, e.Stored(), j.admits)
		}
		wantAll(t, f, digests(1, 100_000)[:n])
		if _, _, err := e.Delete([]byte(f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	// A filter may take the place of one that is not much smaller, and a reservation is not kept.
	hold := e.NewReservation()
	defer hold.Release()
	if err := hold.Take(1 << 30); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Put("f", container(), engine.PutOptions{Replace: true}); err != nil {
		t.Errorf("a smaller filter in its place: %v", err)
	}
	if g := e.Get([]byte("f")); g == nil || e.Stored() > j.admits {
		t.Errorf("all take %d bytes of %d", e.Stored(), j.admits)
	}
}
