package engine_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// Put takes over the reservation of a filter: there is no moment at which another client could take its memory. After an
// error the reservation has it again.
func TestPutTakesReservation(t *testing.T) {
	const size = 2 << 20 // above Engine.longBytes
	j := &journal{}
	e := engine.New(engine.Options{Kinds: filter.All, MaxMemory: 4 * size})
	e.SetJournal(j)
	large := func() umbel.Filter {
		t.Helper()
		f, err := bloom.NewShape(bloom.Shape{M: 8 * size, K: 4})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	used := func() uint64 { n, _ := e.Memory(); return n }
	hold, other := e.NewReservation(), e.NewReservation()
	if err := hold.Take(size + 64<<10); err != nil {
		t.Fatal(err)
	}
	if err := other.Take(4*size - used()); err != nil { // all that is left
		t.Fatal(err)
	}
	refuse := errors.New("refused")
	for name, do := range map[string]func() error{
		"no memory": func() error { _, _, err := e.Put("f", large(), engine.PutOptions{}); return err },
		"the log refuses": func() error {
			j.begin = func(engine.Change) error { return refuse }
			defer func() { j.begin = nil }()
			_, _, err := e.Put("f", large(), engine.PutOptions{Hold: hold})
			return err
		},
		"the disk is too small": func() error {
			j.admits = size / 2
			defer func() { j.admits = 0 }()
			_, _, err := e.Put("f", large(), engine.PutOptions{Hold: hold})
			return err
		},
	} {
		if err := do(); err == nil || used() != 4*size || e.Stored() != 0 {
			t.Errorf("%s: %v, %d bytes in use, %d stored", name, err, used(), e.Stored())
		}
	}
	f, _, err := e.Put("f", large(), engine.PutOptions{Hold: hold})
	if err != nil {
		t.Fatalf("with its memory reserved: %v", err)
	}
	if used() != 4*size || e.Stored() != f.Bytes() {
		t.Errorf("%d bytes in use, %d stored; want %d and %d", used(), e.Stored(), 4*size, f.Bytes())
	}
	if _, _, err := e.Put("f", large(), engine.PutOptions{Hold: hold}); !errors.Is(err, engine.ErrExists) {
		t.Errorf("a second filter: %v, want %v", err, engine.ErrExists)
	}
	other.Release()
	hold.Release()
	if used() != f.Bytes() {
		t.Errorf("%d bytes in use after the releases, want those of the filter, %d", used(), f.Bytes())
	}
	if err := hold.Take(100); err != nil { // less than the filter needs: Put reserves the rest
		t.Fatal(err)
	}
	g, _, err := e.Put("g", large(), engine.PutOptions{Hold: hold})
	hold.Release()
	if err != nil || used() != f.Bytes()+g.Bytes() {
		t.Errorf("with a part reserved: %v, %d bytes in use", err, used())
	}
}
