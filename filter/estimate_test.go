package filter_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// estimator is a filter whose overlap with another of its type can be estimated.
type estimator[F any] interface {
	umbel.Filter
	AddStrings([]string)
	EstimateUnion(F) (plan.Estimate, error)
	EstimateIntersection(F) (plan.Estimate, error)
}

func TestEstimates(t *testing.T) {
	t.Run("bloom", func(t *testing.T) { estimates(t, bloom.NewGoal) })
	t.Run("partitioned", func(t *testing.T) { estimates(t, partitioned.NewGoal) })
	t.Run("counting", func(t *testing.T) { estimates(t, counting.NewGoal) })
}

// estimates adds 8000 keys to one filter and 4000 to another of a different size, of which
// 3000 are the same.
func estimates[F estimator[F]](t *testing.T, newGoal func(umbel.Goal) (F, error)) {
	a := fixture.Must(newGoal(umbel.Goal{Keys: 16000, FPRate: 0.01}))
	b := fixture.Must(newGoal(umbel.Goal{Keys: 8000, FPRate: 0.01}))
	other := fixture.Must(newGoal(umbel.Goal{Keys: 8000, FPRate: 0.01, Hasher: umbel.Hasher{Seed: fixture.Seed(1, 0)}}))
	keys := fixture.Strings("key ", 9000)
	a.AddStrings(keys[:8000])
	b.AddStrings(keys[5000:])
	before := a.State().Clone()
	union, err := a.EstimateUnion(b)
	if err != nil || !(union.Low <= 9000 && 9000 <= union.High && union.High-union.Low < 1000) {
		t.Errorf("union of %v keys, %v, want 9000", union, err)
	}
	both, err := a.EstimateIntersection(b)
	if err != nil || !(both.Low <= 3000 && 3000 <= both.High && both.High-both.Low < 1000) {
		t.Errorf("intersection of %v keys, %v, want 3000", both, err)
	}
	if !a.State().Equal(before) {
		t.Error("an estimate changed the filter")
	}
	if _, err := a.EstimateUnion(other); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("another hasher: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
}
