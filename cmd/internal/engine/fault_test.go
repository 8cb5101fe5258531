package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/window"
)

// faulty is a filter whose methods panic while broken is true.
type faulty struct {
	umbel.Filter
	broken bool
}

func (f *faulty) check() {
	if f.broken {
		var none []int
		_ = none[cap(none)] // as a fault of a kind would
	}
}

func (f *faulty) Has(d umbel.Digest) bool { f.check(); return f.Filter.Has(d) }
func (f *faulty) Add(d umbel.Digest) bool { f.check(); return f.Filter.Add(d) }
func (f *faulty) State() umbel.State      { f.check(); return f.Filter.State() }
func (f *faulty) Stats() umbel.Stats      { f.check(); return f.Filter.Stats() }
func (f *faulty) Count(d umbel.Digest) (uint64, bool) {
	f.check()
	return f.Filter.(umbel.Counter).Count(d)
}
func (f *faulty) Planned() umbel.Planned       { f.check(); return f.Filter.(umbel.Planner).Planned() }
func (f *faulty) SetPlanned(p umbel.Planned)   { f.Filter.(umbel.Planner).SetPlanned(p) }
func (f *faulty) Advance(to uint64) error      { return f.Filter.(umbel.Advancer).Advance(to) }
func (f *faulty) Clear()                       { f.Filter.(umbel.Clearer).Clear() }
func (f *faulty) Merge(from umbel.State) error { f.check(); return f.Filter.(umbel.Merger).Merge(from) }

// A panic in a read is an error of that read, and leaves no lock, no reservation and no reader. It is reported once
// until the cells are replaced. A panic in a change is not caught.
func TestFaultsOfReads(t *testing.T) {
	for _, v := range []umbel.Kind{bloom.Kind, counting.Kind, window.Kind} {
		for _, keys := range []uint64{1000, 10_000_000} { // the second is copied when it is read
			v, keys := v, keys
			t.Run(v.Name, func(t *testing.T) { testFaults(t, v, keys) })
		}
	}
}

func testFaults(t *testing.T, v umbel.Kind, keys uint64) {
	reports := 0
	e := engine.New(engine.Options{Kinds: filter.All, Fault: func(engine.Fault) { reports++ }})
	own, err := v.New(umbel.Goal{Keys: keys, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := &faulty{Filter: own}
	f, _, err := e.Put("f", broken, engine.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ds := digests(1, 100)
	add(t, f, ds)
	used, _ := e.Memory()
	read := func(umbel.Filter) { broken.check() }
	has, counts := make([]bool, len(ds)), make([]uint64, len(ds))
	reads := map[string]func() error{
		"Has":       func() error { return f.Has(has, ds) },
		"Has one":   func() error { return f.Has(has[:1], ds[:1]) },
		"View":      func() error { return f.View(read) },
		"Inspect":   func() error { return f.Inspect(func(umbel.Filter) { broken.check() }) },
		"Stats":     func() error { _, err := f.Stats(); return err },
		"Measured":  func() error { _, err := f.Measured(); return err },
		"Described": func() error { _, err := f.Described(); return err },
		"Copy":      func() error { h := e.NewReservation(); defer h.Release(); _, err := f.Copy(h); return err },
		"Engine.Copy": func() error {
			_, err := e.Copy([]byte("f"), []byte("g"), false)
			return err
		},
		"Capture":      func() error { return captured(f.Capture()) },
		"CaptureStill": func() error { return captured(f.CaptureStill()) },
		"a copy":       func() (err error) { defer f.CatchFault(&err); broken.check(); return nil },
	}
	if v.Name == counting.Name {
		reads["Count"] = func() error { return f.Count(counts, ds) }
	}
	broken.broken = true
	for name, read := range reads {
		before, _ := e.Faults()
		if err := read(); !errors.Is(err, engine.ErrFault) {
			t.Errorf("%s: %v, want %v", name, err, engine.ErrFault)
		}
		if total, filters := e.Faults(); total == before || filters != 1 || reports != 1 {
			t.Errorf("%s: %d faults after %d, %d faulty filters, %d reports", name, total, before, filters, reports)
		}
	}
	if f.Planned() != (umbel.Planned{}) || f.FindOverfull() {
		t.Error("a plan that cannot be read is not zero")
	}
	if now, _ := e.Memory(); now != used {
		t.Errorf("%d bytes of memory, want %d as before the faults", now, used)
	}
	broken.broken = false
	for name, read := range reads {
		if name == "Engine.Copy" {
			continue
		}
		if err := read(); err != nil {
			t.Errorf("%s without a fault: %v", name, err)
		}
	}
	add(t, f, digests(2, 100)) // no lock is left, and no reader
	if err := f.Has(has, ds); err != nil || slices.Contains(has, false) {
		t.Errorf("keys are missing after faults: %v", err)
	}
	if _, err := f.Do(operation.Clear, umbel.Number{}); err != nil {
		t.Error(err)
	}
	if _, filters := e.Faults(); filters != 0 {
		t.Errorf("%d faulty filters after the cells were replaced, want none", filters)
	}
}

// A panic in a change reaches the caller, which ends the process.
func TestFaultsOfChanges(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	own, err := bloom.New(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	broken := &faulty{Filter: own}
	f, _, err := e.Put("f", broken, engine.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	broken.broken = true
	half := func(umbel.Filter) (umbel.Filter, error) { panic("half a change") }
	panics := func(name string, change func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s: a panic was caught", name)
			}
		}()
		change()
	}
	panics("Update", func() { _, _ = f.Update(half) })
	panics("Replace", func() { _, _ = f.Replace(half) })
	panics("Add", func() { _, _, _ = f.Add(nil, digests(3, 1)) }) // leaves locks
	if total, _ := e.Faults(); total != 0 {
		t.Errorf("%d faults of reads", total)
	}
}

// A panic while a filter is planned, made or opened is an error, and nothing has changed.
func TestFaultsOfKinds(t *testing.T) {
	panics := func() { panic("a fault of the kind") }
	v := bloom.Kind
	v.Plan = func(umbel.Goal, umbel.Params) (umbel.Forecast, error) { panics(); return umbel.Forecast{}, nil }
	v.New = func(umbel.Goal, umbel.Params) (umbel.Filter, error) { panics(); return nil, nil }
	v.Open = func(umbel.State) (umbel.Filter, error) { panics(); return nil, nil }
	var reports []engine.Fault
	e := engine.New(engine.Options{Kinds: umbel.Kinds{v}, Fault: func(f engine.Fault) { reports = append(reports, f) }})
	if _, _, err := e.Create("f", v.Name, umbel.Goal{Keys: 100, FPRate: 0.01}, nil); !errors.Is(err, engine.ErrFault) {
		t.Errorf("Create: %v, want %v", err, engine.ErrFault)
	}
	if _, err := e.Kinds()[0].New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil); !errors.Is(err, engine.ErrFault) {
		t.Errorf("New: %v, want %v", err, engine.ErrFault)
	}
	own, err := bloom.New(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Kinds().Open(own.State()); !errors.Is(err, engine.ErrFault) || !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("Open: %v, want %v and %v", err, engine.ErrFault, umbel.ErrCorrupt)
	}
	if used, _ := e.Memory(); used != 0 || e.Len() != 0 || len(reports) != 3 || reports[0].Kind != v.Name {
		t.Errorf("%d bytes of memory, %d filters, reports %v", used, e.Len(), reports)
	}
}

// captured copies a filter piece by piece.
func captured(c *engine.Capture) error {
	buf := make([]byte, engine.SegmentBytes)
	for _, b := c.Next(buf); b != nil; _, b = c.Next(buf) {
	}
	if _, ok := c.End(); !ok && c.Err() == nil {
		return errors.New("useless without a reason")
	}
	return c.Err()
}
