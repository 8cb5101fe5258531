package engine_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/sparse"
)

// listed is a filter that computes its arrays for each state. Its Stats and State wait while the gate is shut.
type listed struct {
	*sparse.Filter
	held *gate
}

type gate struct{ entered, release chan struct{} }

func (h *gate) wait() {
	if h.entered != nil {
		h.entered <- struct{}{}
		<-h.release
	}
}

func (s *listed) Stats() umbel.Stats { s.held.wait(); return s.Filter.Stats() }
func (s *listed) State() umbel.State { s.held.wait(); return s.Filter.State() }

// While a large filter is measured or described whose state has to be computed, keys are added to it: the work is done on a
// copy. While it is copied for that, the filter can still be renamed and expire. Its memory is counted without Stats.
func TestListedFilters(t *testing.T) {
	held := new(gate)
	v := sparse.Kind
	v.Open = func(s umbel.State) (umbel.Filter, error) {
		f, err := sparse.Open(s)
		if err != nil {
			return nil, err
		}
		return &listed{f, held}, nil
	}
	e := engine.New(engine.Options{Kinds: append(umbel.Kinds{v}, filter.All...)})
	own, err := sparse.New(1_000_000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range digests(1, 400_000) {
		own.Add(d)
	}
	f, _, err := e.Put("f", &listed{own, held}, engine.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Bytes() < 300<<10 {
		t.Fatalf("a filter of %d bytes is too small for the test", f.Bytes())
	}
	for name, read := range map[string]func() error{
		"Stats":   func() error { _, err := f.Stats(); return err },
		"Shape":   func() error { _, err := f.Shape(); return err },
		"Copy":    func() error { _, err := f.Copy(e.NewReservation()); return err },
		"Capture": func() error { return captured(f.Capture()) },
	} {
		*held = gate{make(chan struct{}), make(chan struct{})}
		done := make(chan error)
		go func() { done <- read() }()
		<-held.entered // the state of the filter, for the copy: changes of the cells wait, others don't
		if _, err := f.Expire(1 << 50); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := e.Rename([]byte("f"), []byte("f"), true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		held.release <- struct{}{}
		if name == "Stats" || name == "Shape" {
			<-held.entered // of the copy
			add(t, f, digests(uint64(len(name)), 10))
			held.release <- struct{}{}
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		*held = gate{}
	}
}
