package engine_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// Of many who make, copy or rename a filter to one name without replacing, exactly one succeeds.
func TestOneTakesTheName(t *testing.T) {
	for round := range 50 {
		e, _, _ := journaling(t)
		var all sync.WaitGroup
		var taken atomic.Int64
		start := make(chan struct{})
		for i := range 9 {
			own := fmt.Sprint("own", i)
			create(t, e, own, "bloom", goal, nil)
			all.Go(func() {
				<-start
				var err error
				switch i % 3 {
				case 0:
					_, err = e.Rename([]byte(own), []byte("b"), false)
				case 1:
					_, err = e.Copy([]byte(own), []byte("b"), false)
				case 2:
					_, _, err = e.Create("b", "bloom", goal, nil)
				}
				if err == nil {
					taken.Add(1)
				} else {
					wantErr(t, err, engine.ErrExists)
				}
			})
		}
		close(start)
		all.Wait()
		if n := taken.Load(); n != 1 {
			t.Fatalf("round %d: %d took the name, want 1", round, n)
		}
	}
}

// A condition on the expiry is checked and the expiry changed as one operation.
func TestExpireIf(t *testing.T) {
	e, _, clock := journaling(t)
	f := create(t, e, "f", "bloom", goal, nil)
	var all sync.WaitGroup
	var done atomic.Int64
	for i := range int64(20) {
		all.Go(func() {
			ok, _, err := f.ExpireIf(clock.at+10+i, func(old int64) bool { return old == 0 })
			if err != nil {
				t.Error(err)
			} else if ok {
				done.Add(1)
			}
		})
	}
	all.Wait()
	if done.Load() != 1 {
		t.Errorf("%d of 20 set the first expiry, want 1", done.Load())
	}
	if ok, _, err := f.ExpireIf(clock.at-1, func(int64) bool { return false }); ok || err != nil || e.Len() != 1 {
		t.Errorf("refused: %v, %v, %d filters", ok, err, e.Len())
	}
	if ok, _, err := f.ExpireIf(clock.at-1, func(int64) bool { return true }); !ok || err != nil || e.Len() != 0 {
		t.Errorf("a time that has passed: %v, %v, %d filters", ok, err, e.Len())
	}
}

// A filter is made with its expiry: a journal that ends after the first change has both.
func TestPutWithExpiry(t *testing.T) {
	e, j, clock := journaling(t)
	f, _, err := e.CreateWith("f", "bloom", goal, nil, engine.CreateOptions{Expires: clock.at + 10})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(j.behind(0)); n != 1 {
		t.Errorf("%d changes, want 1", n)
	}
	again := engine.New(engine.Options{Kinds: filter.All, Now: clock.now})
	if err := again.Apply(j.behind(0)[0]); err != nil {
		t.Fatal(err)
	}
	if got := again.Get([]byte("f")).Expires(); got != f.Expires() || got != clock.at+10 {
		t.Errorf("expires at %d after replay, want %d", got, clock.at+10)
	}
	if _, _, err := e.CreateWith("past", "bloom", goal, nil, engine.CreateOptions{Expires: -5}); err != nil || e.Get([]byte("past")) != nil {
		t.Errorf("a filter whose time has passed is found, %v", err)
	}
	if n, err := e.Sweep(10); n != 1 || err != nil {
		t.Errorf("%d were swept, %v", n, err)
	}
}

// Of many who add a key if it is absent, one does.
func TestAddAbsent(t *testing.T) {
	for _, kind := range []string{"counting", "bloom"} {
		e, j, _ := journaling(t)
		f := create(t, e, "f", kind, goal, nil)
		ds := digests(1, 100)
		var all sync.WaitGroup
		var added atomic.Int64
		for range 8 {
			all.Go(func() {
				fresh := make([]bool, len(ds))
				n, _, err := f.AddAbsent(fresh, ds)
				if n != len(ds) || err != nil {
					t.Errorf("%d, %v", n, err)
				}
				for _, b := range fresh {
					if b {
						added.Add(1)
					}
				}
			})
		}
		all.Wait()
		if kind == "counting" {
			counts := make([]uint64, 1)
			if err := f.Count(counts, ds[:1]); err != nil || counts[0] != 1 {
				t.Errorf("added %d times, %v", counts[0], err)
			}
		}
		if n := added.Load(); n > 100 || n < 95 { // a few may be present by chance
			t.Errorf("%s: %d additions, want 100", kind, n)
		}
		sameAfterReplay(t, kind, e, j)
	}
}
