package trial_test

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/trial"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
)

func TestRunMeasuresTheRate(t *testing.T) {
	for _, load := range []float64{0.5, 1, 2} {
		o := trial.Order{
			Kind: bloom.Kind, Goal: umbel.Goal{Keys: 2000, FPRate: 0.02},
			Load: load, Filters: 10, Queries: 50_000, Seed: 1,
		}
		seen := 0
		o.Done = func(n int) { seen += n }
		r, err := o.Run()
		if err != nil {
			t.Fatal(err)
		}
		want := plan.Filter{M: r.Forecast.Cells, K: int(r.Forecast.K)}.FPRate(r.Keys)
		if d := math.Abs(r.FPRate - want); d > max(0.03*want, 3*r.Sigma) || r.Sigma == 0 {
			t.Errorf("load %g: measured %g with a sigma of %g, the formula says %g", load, r.FPRate, r.Sigma, want)
		}
		if keys := uint64(2000 * load); r.Keys != keys || seen != 10*int(2*keys+50_000) {
			t.Errorf("load %g: %d keys and %d digests, want %d and %d", load, r.Keys, seen, keys, 10*(2*keys+50_000))
		}
		if again, _ := o.Run(); again != r {
			t.Errorf("load %g: run again it gives %+v, want %+v", load, again, r)
		}
	}
}

type forgetful struct{ *bloom.Filter }

func (f forgetful) HasAll(dst []bool, ds []umbel.Digest) {
	f.Filter.HasAll(dst, ds)
	dst[0] = false
}

func TestRunFindsLostKeys(t *testing.T) {
	v := bloom.Kind
	v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		f, err := bloom.Kind.New(g, ps)
		return forgetful{f.(*bloom.Filter)}, err
	}
	o := trial.Order{Kind: v, Goal: umbel.Goal{Keys: 100, FPRate: 0.1}, Load: 1, Filters: 1, Queries: 10}
	if _, err := o.Run(); err == nil {
		t.Error("no error of a filter that loses a key")
	}
	o.Goal.FPRate = 2
	if _, err := o.Run(); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a rate of 2: %v, want %v", err, umbel.ErrGoal)
	}
}

type sliding struct{ forgetful }

func (sliding) Advance(uint64) error { return nil }

func TestRunAsksNoLostKeysOfWhatForgets(t *testing.T) {
	v := bloom.Kind
	v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		f, err := bloom.Kind.New(g, ps)
		return sliding{forgetful{f.(*bloom.Filter)}}, err
	}
	o := trial.Order{Kind: v, Goal: umbel.Goal{Keys: 100, FPRate: 0.1}, Load: 1, Filters: 1, Queries: 10}
	if _, err := o.Run(); err != nil {
		t.Error(err)
	}
}
