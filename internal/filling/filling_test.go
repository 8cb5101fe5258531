package filling_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/filling"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// newFilter returns a filter of a kind for a number of keys.
func newFilter(t *testing.T, kind string, keys uint64, ps ...umbel.Param) umbel.Filter {
	t.Helper()
	k, err := filter.All.Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	f, err := k.New(umbel.Goal{Keys: keys, FPRate: 0.01}, ps)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// However many goroutines fill a filter, and with a loader or without, it is the filter to which the keys were added one by one.
func TestFiller(t *testing.T) {
	ds := fixture.Digests(1, 20_000)
	for _, kind := range []string{"bloom", "partitioned", "blocked", "splitblock", "counting", "window"} {
		want := newFilter(t, kind, uint64(len(ds)))
		umbel.AddAll(want, nil, ds)
		for _, workers := range []int{1, 4} {
			for _, spare := range []uint64{0, 1 << 24} {
				f := newFilter(t, kind, uint64(len(ds)))
				add, flush := filling.Filler(f, workers, uint64(len(ds)), spare)
				fill(t, add, ds, workers)
				flush()
				if !f.State().Equal(want.State()) {
					t.Errorf("%s, %d goroutines, %d bytes for a loader: another filter", kind, workers, spare)
				}
			}
		}
	}
}

// fill adds parts of ds by several goroutines.
func fill(t *testing.T, add func([]umbel.Digest) error, ds []umbel.Digest, workers int) {
	var group sync.WaitGroup
	for part := range slices.Chunk(ds, (len(ds)+workers-1)/workers) {
		group.Go(func() {
			for batch := range slices.Chunk(part, 1000) {
				if err := add(batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// A filter that rejects keys gets the planned ones without a question, and others until it is full.
func TestFillerRejects(t *testing.T) {
	const planned = 1000
	for name, ps := range map[string][]umbel.Param{
		"scalable":   {{Name: "max-bytes", Value: umbel.Uint(4096)}},
		"redisbloom": {{Name: "nonscaling", Value: umbel.Uint(1)}},
	} {
		f := newFilter(t, name, planned, ps...)
		if !filling.Grows(f) {
			t.Fatalf("%s does not manage its capacity", name)
		}
		ds := fixture.Digests(2, 100*planned)
		add, flush := filling.Filler(f, 4, planned, 1<<24)
		if err := add(ds[:planned]); err != nil {
			t.Errorf("%s: the planned keys: error %v", name, err)
		}
		err := add(ds[planned:])
		flush()
		if !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("%s: 100 times as many keys as planned: error %v, want one that wraps ErrLimit", name, err)
		}
		if has := make([]bool, planned); !all(f, has, ds[:planned]) {
			t.Errorf("%s: planned keys are absent", name)
		}
	}
}

func all(f umbel.Filter, has []bool, ds []umbel.Digest) bool {
	umbel.HasAll(f, has, ds)
	return !slices.Contains(has, false)
}

// A filter with a clock does not grow for the keys of one run, which all have the same age.
func TestGrows(t *testing.T) {
	for kind, want := range map[string]bool{"bloom": false, "counting": false, "window": false, "scalable": true, "dynamic": true} {
		if got := filling.Grows(newFilter(t, kind, 1000)); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}

func TestRoomError(t *testing.T) {
	for text, e := range map[string]filling.RoomError{
		"kind ribbon neither folds nor grows":                             {Kind: "ribbon"},
		"more than 4096 bytes of memory, in which a filter holds 17 at a": {Kind: "bloom", Memory: 4096, Keys: 17, FPRate: 0.01},
	} {
		if !strings.Contains(e.Error(), text) {
			t.Errorf("%q does not contain %q", e.Error(), text)
		}
	}
}
