package blocked_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/filtertest"
)

var (
	_ umbel.AtomicAdder      = (*blocked.Filter)(nil)
	_ umbel.AtomicBatchAdder = (*blocked.Filter)(nil)
	_ umbel.BatchAdder       = (*blocked.Filter)(nil)
	_ umbel.BatchQuerier     = (*blocked.Filter)(nil)
	_ umbel.Clearer          = (*blocked.Filter)(nil)
	_ umbel.Folder           = (*blocked.Filter)(nil)
	_ umbel.Locator          = (*blocked.Filter)(nil)
	_ umbel.Merger           = (*blocked.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, blocked.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, blocked.Kind) }

// The zero Filter contains nothing, and UnmarshalBinary makes it any filter.
func TestZeroFilter(t *testing.T) {
	var f blocked.Filter
	if f.HasString("a") || f.Stats() != (umbel.Stats{}) {
		t.Errorf("the zero filter has a key, or stats %+v", f.Stats())
	}
	if err := f.Fold(2); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("Fold of the zero filter: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
	shape, err := blocked.Plan(umbel.Goal{Keys: 100, FPRate: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	g, err := blocked.NewShape(shape)
	if err != nil {
		t.Fatal(err)
	}
	g.AddString("a")
	b, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.UnmarshalBinary(b); err != nil || !f.HasString("a") || f.Shape() != shape {
		t.Errorf("unmarshalled: %v, shape %+v, want %+v", err, f.Shape(), shape)
	}
	if err := f.UnmarshalBinary(b[:len(b)-1]); !errors.Is(err, umbel.ErrCorrupt) || !f.HasString("a") {
		t.Errorf("unmarshalled from a part: %v, want an error that wraps %q and the filter unchanged", err, umbel.ErrCorrupt)
	}
}

// Given words and bits are kept, and the rest is planned for them.
func TestPlanWithParams(t *testing.T) {
	goal := umbel.Goal{Keys: 10000, FPRate: 0.001}
	for _, c := range []struct{ words, bits, wantWords, wantBits uint64 }{
		{0, 0, 4, 2}, {5, 0, 5, 2}, {0, 1, 8, 1}, {3, 2, 3, 2}, {8, 1, 8, 1},
	} {
		f, err := blocked.Kind.New(goal, umbel.Params{{Name: "words", Value: umbel.Uint(c.words)}, {Name: "bits", Value: umbel.Uint(c.bits)}})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		s := f.(*blocked.Filter).Shape()
		if uint64(s.Words) != c.wantWords || uint64(s.Bits) != c.wantBits {
			t.Errorf("%+v: shape %+v", c, s)
		}
		if p := s.Forecast(goal.Keys).FPRate; p > goal.FPRate {
			t.Errorf("%+v: a rate of %g, want at most %g", c, p, goal.FPRate)
		}
	}
	if _, err := blocked.Kind.New(goal, umbel.Params{{Name: "words", Value: umbel.Uint(6)}, {Name: "bits", Value: umbel.Uint(2)}}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("six words of two bits: %v, want an error that wraps %q", err, umbel.ErrGoal)
	}
}

func TestZero(t *testing.T) {
	filtertest.Zero(t, blocked.Kind, func() umbel.Filter { return new(blocked.Filter) })
}
