package build_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/build"
	"github.com/umbel-filters/umbel/internal/distinct"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// source passes digests on, each the given number of times, from two goroutines.
func source(ds []umbel.Digest, times int) func(func([]umbel.Digest) error) error {
	return func(add func([]umbel.Digest) error) error {
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for half := range 2 {
			wg.Go(func() {
				for range times {
					for rest := ds[half*len(ds)/2 : (half+1)*len(ds)/2]; len(rest) > 0 && errs[half] == nil; {
						n := min(len(rest), 500)
						errs[half] = add(rest[:n])
						rest = rest[n:]
					}
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
}

func order(v umbel.Kind, twice bool) build.Order {
	return build.Order{Kind: v, Goal: umbel.Goal{FPRate: 0.01}, Twice: twice, Memory: 1 << 19, Workers: 2}
}

func mustHaveAll(t *testing.T, kind string, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	for i, d := range ds {
		if !f.Has(d) {
			t.Fatalf("%s: key %d is lost", kind, i)
		}
	}
}

// A filter is as large as its different keys need, and contains the repetitions if it counts: it is the filter that is made with
// the number of keys, however they come.
func TestSame(t *testing.T) {
	const n, times = 1500, 4
	ds := fixture.Digests(1, n)
	for _, v := range filter.All {
		known := order(v, false)
		known.Goal.Keys = n
		want, err := known.Make(source(ds, times))
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		for _, twice := range []bool{false, true} {
			made, err := order(v, twice).Make(source(ds, times))
			if err != nil {
				t.Fatalf("%s: %v", v.Name, err)
			}
			if made.Read != n*times || made.Distinct != n || made.Estimated || made.Fold != 0 {
				t.Errorf("%s: %d keys read, %d distinct, estimated %v, folded by %d", v.Name, made.Read, made.Distinct, made.Estimated, made.Fold)
			}
			if hashtree.Identify(made.Filter.State()) != hashtree.Identify(want.Filter.State()) {
				t.Errorf("%s, twice %v: not the filter for %d keys", v.Name, twice, n)
			}
		}
	}
}

// If there is no memory for the different keys, and they come twice, they are estimated. The filter is planned for no fewer, and
// its rate holds.
func TestEstimated(t *testing.T) {
	race.Skip(t, "makes many filters")
	const n, times = 60_000, 3
	ds := fixture.Digests(1, n)
	for _, v := range filter.All {
		tight, err := v.Plan(umbel.Goal{Keys: n, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		made, err := order(v, true).Make(source(ds, times))
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		mustHaveAll(t, v.Name, made.Filter, ds)
		s := made.Filter.Stats()
		if d := float64(made.Distinct); made.Read != n*times || !made.Estimated || d < n*(1-distinct.Margin) || d > n*(1+distinct.Margin) {
			t.Errorf("%s: %d keys read, %d distinct, estimated %v", v.Name, made.Read, made.Distinct, made.Estimated)
		}
		if s.FPRate > 0.0101 || float64(s.Bytes) > 1.05*float64(tight.Bytes) {
			t.Errorf("%s: rate %.4g, %d bytes, planned %d", v.Name, s.FPRate, s.Bytes, tight.Bytes)
		}
	}
}

// The filter of a long stream is folded to the rate and at most three times as large as one that is made with the number of its
// keys. That takes a kind that folds, and memory for it.
func TestStream(t *testing.T) {
	race.Skip(t, "makes many filters")
	for _, v := range filter.All {
		for _, n := range []int{5000, 20_000, 100_000} {
			tight, err := v.Plan(umbel.Goal{Keys: uint64(n), FPRate: 0.01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if f, err := v.New(umbel.Goal{Keys: uint64(n), FPRate: 0.01}, nil); err != nil {
				t.Fatal(err)
			} else if _, ok := f.(umbel.Folder); !ok || tight.Bytes > order(v, false).Memory/2 {
				continue
			}
			ds := fixture.Digests(1, n)
			made, err := order(v, false).Make(source(ds, 1))
			if err != nil {
				t.Fatalf("%s of %d keys: %v", v.Name, n, err)
			}
			mustHaveAll(t, v.Name, made.Filter, ds)
			s := made.Filter.Stats()
			if s.FPRate > 0.01 || made.Fold == 0 || made.Read != uint64(n) || s.Bytes > 3*tight.Bytes {
				t.Errorf("%s of %d keys: rate %v, folded by %d, read %d, %d bytes, planned %d", v.Name, n, s.FPRate, made.Fold, made.Read, s.Bytes, tight.Bytes)
			}
		}
	}
}

// Keys that come once need a rate, and memory for a filter with that rate.
func TestRefused(t *testing.T) {
	few, many := fixture.Digests(1, 100), fixture.Digests(1, 300_000)
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		order  build.Order
		source func(func([]umbel.Digest) error) error
		want   error
	}{
		"too little memory": {order(bloom.Kind, false), source(many, 1), umbel.ErrGoal},
		"no rate":           {build.Order{Kind: bloom.Kind, Goal: umbel.Goal{Bytes: 1000}}, source(few, 1), umbel.ErrGoal},
		"no goal":           {build.Order{Kind: bloom.Kind, Twice: true}, source(few, 1), umbel.ErrGoal},
		"a parameter":       {build.Order{Kind: bloom.Kind, Goal: umbel.Goal{FPRate: 0.01}, Params: umbel.Params{{Name: "shards"}}}, source(few, 1), umbel.ErrGoal},
		"the source": {order(bloom.Kind, false), func(add func([]umbel.Digest) error) error {
			return errors.Join(add(few), failed)
		}, failed},
	} {
		if made, err := c.order.Make(c.source); !errors.Is(err, c.want) || made.Filter != nil {
			t.Errorf("%s: %v, want an error wrapping %q and no filter", name, err, c.want)
		}
	}
}

// With bytes the keys are counted for the best number of cells per key.
func TestBytes(t *testing.T) {
	made, err := build.Order{Kind: bloom.Kind, Goal: umbel.Goal{Bytes: 8000}, Twice: true}.Make(source(fixture.Digests(1, 4000), 1))
	if err != nil {
		t.Fatal(err)
	}
	if s := made.Filter.Stats(); s.Bytes != 8000 || s.K != 11 {
		t.Errorf("%d bytes, k = %v, want 8000 and 11", s.Bytes, s.K)
	}
}

// A filter larger than the caches, which is filled by a loader, is the same as with single additions.
func TestSpare(t *testing.T) {
	ds := fixture.Digests(1, 20_000)
	for _, name := range []string{"bloom", "partitioned"} {
		kind := fixture.Must(filter.All.Find(name))
		goal := umbel.Goal{Keys: 8_000_000, FPRate: 0.01}
		want := fixture.Must(kind.New(goal, nil))
		if want.(umbel.BulkAdder).NewLoader(1<<30) == nil {
			t.Fatalf("%s: the filter is too small for a loader", name)
		}
		for _, d := range ds {
			want.Add(d)
		}
		made, err := build.Order{Kind: kind, Goal: goal, Spare: 1 << 30, Workers: 2}.Make(source(ds, 1))
		if err != nil || made.Read != 20_000 {
			t.Fatal(made.Read, err)
		}
		if hashtree.Identify(made.Filter.State()) != hashtree.Identify(want.State()) {
			t.Errorf("%s: a loader makes another filter", name)
		}
	}
}
