package engine_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// A filter that is copied while one client adds keys is a filter with the first of them: bit for bit
// what it was after one of the additions.
func TestCopyIsOfOneMoment(t *testing.T) {
	for _, kind := range []string{"bloom", "blocked", "redisbloom", "scalable", "counting"} {
		e, _, _ := journaling(t)
		f := create(t, e, "f", kind, umbel.Goal{Keys: 2e6, FPRate: 0.001}, nil)
		ds := digests(1, 200_000)
		add(t, f, ds[:1000])
		var adder sync.WaitGroup
		stop, added := make(chan struct{}), 0
		adder.Go(func() {
			for added = 1000; added < len(ds); added++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, _, err := f.Add(nil, ds[added:added+1]); err != nil {
					t.Error(err)
				}
			}
		})
		g, err := f.Copy(e.NewReservation())
		close(stop)
		adder.Wait()
		if err != nil {
			t.Fatal(err)
		}
		want := create(t, e, "want", kind, umbel.Goal{Keys: 2e6, FPRate: 0.001}, nil)
		n := 0
		for n < added && g.Has(ds[n]) {
			n++
		}
		// A key that was added later may be in the copy by chance.
		for n > 1000 && n > 0 {
			if equalAfter(t, e, want, g, ds[:n]) {
				break
			}
			n--
			want = create(t, e, string(rune(n)), kind, umbel.Goal{Keys: 2e6, FPRate: 0.001}, nil)
		}
		t.Logf("%s: %d keys were added meanwhile, the copy has %d of them", kind, added-1000, n-1000)
		if n < 1000 || n == 1000 && !equalAfter(t, e, want, g, ds[:1000]) {
			t.Errorf("%s: the copy is no state of the filter", kind)
		}
	}
}

// equalAfter adds digests to an empty filter and compares its state.
func equalAfter(t *testing.T, _ *engine.Engine, f *engine.Filter, g umbel.Filter, ds []umbel.Digest) (equal bool) {
	t.Helper()
	add(t, f, ds)
	if err := f.View(func(f umbel.Filter) { equal = f.State().Equal(g.State()) }); err != nil {
		t.Fatal(err)
	}
	return equal
}

// While a large filter is read, keys are added to it if a copy takes at most half of the free memory;
// otherwise they wait. Queries, View, deletion and renaming never wait.
func TestInspectLetsAdditionsGoOn(t *testing.T) {
	for _, kind := range []string{"bloom", "counting"} {
		for _, memory := range []bool{true, false} {
			e, _, _ := journaling(t)
			f := create(t, e, "f", kind, huge, nil)
			add(t, f, digests(1, 100))
			if used, _ := e.Memory(); !memory {
				e.SetMaxMemory(used + f.Bytes()*3/2)
			}
			entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan error)
			go func() {
				done <- f.Inspect(func(g umbel.Filter) {
					close(entered)
					<-leave
					if g.Has(digests(2, 1)[0]) {
						t.Errorf("%s: a key that was added later is there", kind)
					}
				})
			}()
			<-entered
			added := make(chan error)
			go func() { _, _, err := f.Add(nil, digests(2, 10)); added <- err }()
			if memory {
				if err := <-added; err != nil {
					t.Error(err)
				}
			}
			wantAll(t, f, digests(1, 100))
			_, renamed := e.Rename([]byte("f"), []byte("g"), false)
			if err := errors.Join(renamed, f.View(func(umbel.Filter) {})); err != nil {
				t.Error(err)
			}
			close(leave)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if !memory {
				if err := <-added; err != nil {
					t.Error(err)
				}
			}
			wantAll(t, f, digests(2, 10))
			if used, _ := e.Memory(); used != e.Sum() {
				t.Errorf("%s: %d bytes are reserved, the filters take %d", kind, used, e.Sum())
			}
		}
	}
}

// A filter is read while it is being replaced, for example on a disk that hangs.
func TestInspectDuringALargeChange(t *testing.T) {
	e, j, _ := journaling(t)
	f, _, err := e.Put("f", filled(t, 1), engine.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before := identify(t, f)
	entered, leave := hold(j)
	done := make(chan error)
	go func() {
		_, err := f.Merge(filled(t, 2).State())
		done <- err
	}()
	<-entered
	g, err := f.Copy(e.NewReservation())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := filter.All.Open(g.State()); err != nil || !s.Has(digests(1, 1)[0]) || stats(t, f).Keys < 900 {
		t.Errorf("the copy is not the filter: %v", err)
	}
	if identify(t, f) != before {
		t.Error("the filter changed before the journal has the change")
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
