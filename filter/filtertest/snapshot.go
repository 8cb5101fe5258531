package filtertest

import (
	"encoding/json"
	"errors"
	"sync"

	"github.com/umbel-filters/umbel"
)

// cloneAtomic: a copy that is made while keys are added contains all keys whose addition returned before, and
// opens.
func cloneAtomic(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		a := as[umbel.AtomicAdder](t, f)
		ds := digests(1, int(n))
		for _, d := range ds[:len(ds)/2] {
			a.AddAtomic(d)
		}
		var adder sync.WaitGroup
		adder.Go(func() {
			for _, d := range ds[len(ds)/2:] {
				a.AddAtomic(d)
			}
		})
		copied := cloneOf(t, f, "CloneAtomic")
		adder.Wait()
		wantAll(t, copied, ds[:len(ds)/2], "added before CloneAtomic")
		if _, err := v.Open(copied.State()); err != nil {
			t.Errorf("the copy does not open: %v", err)
		}
		wantState(t, cloneOf(t, f, "CloneAtomic"), f.State(), "of a CloneAtomic without additions")
		before := f.State().Clone()
		addAll(cloneOf(t, f, "CloneAtomic"), digests(2, 200))
		wantState(t, f, before, "after a CloneAtomic changed")
	}
}

// hasNoJSON: encoding a filter as JSON or YAML, or decoding one, is an error. Otherwise its keys would be lost.
func hasNoJSON(t tb, v umbel.Kind) {
	f := newFilter(t, v, sizes[0])
	if _, ok := f.(json.Marshaler); !ok {
		t.Skipf("%T has no MarshalJSON", f)
	}
	for what, x := range map[string]any{
		"a filter": f,
		"a field":  struct{ F umbel.Filter }{f},
	} {
		if b, err := json.Marshal(x); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("JSON of %s: got %.100q, %v, want an error that wraps ErrUnsupported", what, b, err)
		}
	}
	if err := json.Unmarshal([]byte("{}"), f); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a filter from JSON: got %v, want an error that wraps ErrUnsupported", err)
	}
	y, ok := f.(interface {
		MarshalYAML() (any, error)
		UnmarshalYAML(func(any) error) error
	})
	if !ok {
		t.Fatalf("%T has no MarshalYAML and UnmarshalYAML", f)
	}
	if _, err := y.MarshalYAML(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("YAML of a filter: got %v, want an error that wraps ErrUnsupported", err)
	}
	if err := y.UnmarshalYAML(nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a filter from YAML: got %v, want an error that wraps ErrUnsupported", err)
	}
}
