package share_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// fed is a publisher that runs, the state that its feed returns, and what happened.
type fed struct {
	*share.Publisher
	t      *testing.T
	store  *flaky
	state  umbel.State
	next   *share.Update // that Next returns; nil: unchanged
	err    error         // of Next
	asked  []time.Time   // of calls of Next
	wake   chan struct{}
	done   error // the last error of Done
	log    bytes.Buffer
	result chan error
	stop   context.CancelFunc
}

// flaky is a store whose records cannot be written for a time, and that counts heads.
type flaky struct {
	share.Memory
	// order makes what the test wrote before it slept visible to Run, for the race detector: a sleep does not.
	order sync.Mutex
	fail  error
	tries []time.Time // of writing the head
	heads int
}

func (f *flaky) PutRecord(ctx context.Context, name string, data []byte) error {
	f.sync()
	if share.IsHead(name) {
		f.tries = append(f.tries, time.Now())
	}
	if f.fail != nil {
		return f.fail
	}
	if share.IsHead(name) {
		f.heads++
	}
	return f.Memory.PutRecord(ctx, name, data)
}

func (f *flaky) sync() {
	f.order.Lock()
	defer f.order.Unlock()
}

// feed starts a publisher with Run, in a bubble of synctest.
func feed(t *testing.T, state umbel.State, f share.Feed, change func(*share.PublisherOptions)) *fed {
	t.Helper()
	key, _, err := share.NewKey("example.org/set")
	if err != nil {
		t.Fatal(err)
	}
	x := &fed{t: t, store: new(flaky), state: state, next: &share.Update{State: state}, wake: make(chan struct{}, 1), result: make(chan error, 1)}
	o := share.PublisherOptions{Store: x.store, Key: key, Valid: time.Minute, Kinds: filter.All, Log: slog.New(slog.NewTextHandler(&x.log, nil))}
	if change != nil {
		change(&o)
	}
	if x.Publisher, err = share.NewPublisher(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	f.Wake = x.wake
	f.Next = func(context.Context) (*share.Update, error) {
		x.store.sync()
		x.asked = append(x.asked, time.Now())
		if x.err != nil {
			return nil, x.err
		}
		next := x.next
		x.next = nil
		return next, nil
	}
	f.Done = func(_ *share.Head, err error) { x.done = err }
	ctx, stop := context.WithCancel(t.Context())
	x.stop = stop
	go func() { x.result <- x.Run(ctx, f) }()
	synctest.Wait()
	return x
}

// end ends Run.
func (x *fed) end() {
	x.stop()
	if err := <-x.result; !errors.Is(err, context.Canceled) {
		x.t.Errorf("Run returned %v", err)
	}
}

// set makes a state the next one of the feed.
func (x *fed) set(s umbel.State) { x.state, x.next = s, &share.Update{State: s} }

// pass lets time pass.
func (x *fed) pass(d time.Duration) {
	x.store.sync()
	time.Sleep(d)
	synctest.Wait()
}

// want fails unless a version is the last one, and signed less than a third of its validity ago.
func (x *fed) want(version uint64, s umbel.State) {
	x.t.Helper()
	h := x.Head()
	if h == nil || h.Version != version || h.ID != hashtree.Identify(s) || time.Since(h.Time) > 20*time.Second {
		x.t.Fatalf("the head is %+v, want version %d", h, version)
	}
}

// Run publishes what has changed, once per period and when it is woken, and renews the head meanwhile.
func TestPublisherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := feed(t, set(t, 1<<12, 0, 100), share.Feed{Period: 15 * time.Second}, nil)
		defer x.end()
		x.want(1, x.state)
		x.set(set(t, 1<<12, 0, 101))
		x.pass(15 * time.Second)
		x.want(2, x.state)
		if x.store.heads != 2 {
			t.Errorf("%d heads", x.store.heads)
		}
		x.pass(5 * time.Minute)
		if x.want(2, x.state); x.store.heads != 2+15 {
			t.Errorf("%d heads after 5 minutes, want one per third of a minute", x.store.heads)
		}
		x.set(set(t, 1<<12, 1, 102))
		x.wake <- struct{}{}
		synctest.Wait()
		x.want(3, x.state)
		// The same state again is not published, before the head is renewed.
		heads, version := x.store.heads, x.Head().Version
		for range 10 {
			x.set(x.state.Clone())
			x.wake <- struct{}{}
			synctest.Wait()
		}
		if x.store.heads != heads || x.Head().Version != version || x.done != nil {
			t.Errorf("%d heads, version %d, %v", x.store.heads-heads, x.Head().Version, x.done)
		}
	})
}

// Without a period Run calls Next when it is woken and before it renews a head.
func TestPublisherRunWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := feed(t, set(t, 1<<12, 0, 100), share.Feed{}, nil)
		defer x.end()
		x.pass(time.Minute + time.Second)
		if len(x.asked) != 4 || x.store.heads != 4 {
			t.Errorf("%d calls of Next, %d heads, want 4", len(x.asked), x.store.heads)
		}
	})
}

// An update whose publication fails is tried again, after a time that doubles, and the failure is logged once.
func TestPublisherRunRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := feed(t, set(t, 1<<12, 0, 100), share.Feed{Period: time.Hour}, nil)
		defer x.end()
		x.set(set(t, 1<<12, 0, 120))
		x.store.fail = errInjected
		x.wake <- struct{}{}
		x.pass(59 * time.Second)
		// After 0, 1, 3, 7, 15, 31 seconds; never more often than that, and the next after at most an hour.
		if n := len(x.asked) - 1; n != 6 || !errors.Is(x.done, errInjected) {
			t.Errorf("%d attempts, %v, want 6", n, x.done)
		}
		x.store.fail = nil
		x.pass(5 * time.Second)
		x.want(2, x.state)
		if got := x.log.String(); strings.Count(got, "publishing failed") != 1 || strings.Count(got, "publishing succeeds again") != 1 || x.done != nil {
			t.Errorf("the log is %q, the error %v", got, x.done)
		}
	})
}

// While Next fails, the head expires; with Hold it is renewed.
func TestPublisherRunHold(t *testing.T) {
	for _, hold := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			x := feed(t, set(t, 1<<12, 0, 100), share.Feed{Period: 10 * time.Second, Hold: hold}, nil)
			defer x.end()
			x.err = io.ErrUnexpectedEOF
			x.pass(10 * time.Minute)
			if renewed := time.Since(x.Head().Time) < 21*time.Second; renewed != hold {
				t.Errorf("Hold %v: the head was signed %v ago", hold, time.Since(x.Head().Time))
			}
			if n := len(x.asked); n < 60 || n > 120 || !errors.Is(x.done, io.ErrUnexpectedEOF) {
				t.Errorf("Hold %v: %d calls of Next in 10 minutes, %v", hold, n, x.done)
			}
			if n := strings.Count(x.log.String(), "publishing failed"); n < 9 || n > 11 {
				t.Errorf("Hold %v: %d messages in 10 minutes, want one per minute", hold, n)
			}
			x.err = nil
			x.pass(10 * time.Second)
			x.want(1, x.state)
		})
	}
}

// If something else has changed the store, Run ends.
func TestPublisherRunFork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := feed(t, set(t, 1<<12, 0, 100), share.Feed{Period: time.Second}, nil)
		defer x.stop()
		x.store.Memory = share.Memory{}
		x.set(set(t, 1<<12, 0, 101))
		x.pass(time.Second)
		select {
		case err := <-x.result:
			if !errors.Is(err, share.ErrFork) || !errors.Is(x.done, share.ErrFork) {
				t.Errorf("Run returned %v after %v", err, x.done)
			}
		default:
			t.Error("Run goes on")
		}
	})
	key, _, err := share.NewKey("example.org/set")
	if err != nil {
		t.Fatal(err)
	}
	p, err := share.NewPublisher(t.Context(), share.PublisherOptions{Store: new(share.Memory), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), share.Feed{}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a feed without Next: %v", err)
	}
}

// An update that has lost too many keys is refused until there is another one, and the version before remains.
func TestPublisherRunShrunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := set(t, 1<<14, 0, 1000)
		x := feed(t, full, share.Feed{Period: time.Second, Hold: true}, func(o *share.PublisherOptions) { o.MaxShrink = 0.5 })
		defer x.end()
		for name, s := range map[string]umbel.State{
			"empty":              set(t, 1<<14, 0, 0),
			"a third":            set(t, 1<<14, 0, 333),
			"of other keys":      set(t, 1<<14, 2000, 3000),
			"smaller and others": set(t, 1<<13, 2000, 2900),
		} {
			heads := x.store.heads
			x.set(s)
			x.pass(5 * time.Minute)
			if shrunk := (*share.ShrunkError)(nil); !errors.As(x.done, &shrunk) {
				t.Errorf("%s: %v", name, x.done)
			}
			x.want(1, full)
			if n := x.store.heads - heads; n < 14 || n > 16 {
				t.Errorf("%s: %d heads in 5 minutes", name, n)
			}
		}
		x.set(set(t, 1<<14, 300, 1000))
		x.pass(time.Second)
		if x.want(2, x.state); x.done != nil {
			t.Error(x.done)
		}
	})
}

// With WhenChanged a small change waits for further ones, at most until the head is due to be renewed. A change of
// another shape, or only of parameters, does not wait.
func TestPublisherRunWhenChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := feed(t, set(t, 1<<14, 0, 1000), share.Feed{Period: time.Second, WhenChanged: 0.05}, nil)
		defer x.end()
		x.set(set(t, 1<<14, 0, 1020)) // 2 %
		x.pass(2 * time.Second)
		if x.Head().Version != 1 {
			t.Errorf("version %d after a change of 2 %%", x.Head().Version)
		}
		x.set(set(t, 1<<14, 0, 1060))
		x.pass(time.Second)
		x.want(2, x.state)
		x.set(set(t, 1<<14, 0, 1061))
		x.pass(10 * time.Second)
		if x.Head().Version != 2 {
			t.Errorf("version %d after a change of one key", x.Head().Version)
		}
		x.pass(10 * time.Second)
		if x.want(3, x.state); x.store.heads != 3 {
			t.Errorf("%d heads, want 3: the version takes the place of a renewal", x.store.heads)
		}
		x.set(set(t, 1<<14, 0, 1000)) // removals count as well
		x.pass(time.Second)
		x.want(4, x.state)
		x.set(set(t, 1<<13, 0, 1000))
		x.pass(time.Second)
		x.want(5, x.state)
	})
	next := func(context.Context) (*share.Update, error) { return nil, nil }
	for _, part := range []float64{-0.1, 1.1, math.NaN()} {
		if err := new(share.Publisher).Run(t.Context(), share.Feed{Next: next, WhenChanged: part}); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%v: %v", part, err)
		}
	}
}

// Whatever happens, what Run publishes is what its feed returned: as soon as feed and store have worked for as long as an
// attempt may wait, and without a head more than changes and renewals need.
func TestPublisherRunLaw(t *testing.T) {
	trials := uint64(number(t, "UMBEL_TRIALS", 40))
	for seed := range trials {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 33))
			period := []time.Duration{time.Second, 7 * time.Second, time.Minute}[rng.IntN(3)]
			x := feed(t, set(t, 1<<12, 0, 100), share.Feed{Period: period, Hold: rng.IntN(2) == 0, WhenChanged: []float64{0, 0.05, 1}[rng.IntN(3)]}, nil)
			defer x.end()
			began, changes := time.Now(), 1
			for range 60 {
				switch rng.IntN(6) {
				case 0, 1:
					from := rng.Uint64N(1000)
					x.set(set(t, 1<<12, from, from+100))
					changes++
				case 2:
					x.store.fail = errInjected
				case 3:
					x.err = io.ErrUnexpectedEOF
				case 4:
					x.store.fail, x.err = nil, nil
				}
				if rng.IntN(3) == 0 {
					select {
					case x.wake <- struct{}{}:
					default:
					}
				}
				x.pass(time.Duration(rng.Int64N(int64(2 * period))))
			}
			x.store.fail, x.err = nil, nil
			x.pass(max(20*time.Second, period) + time.Second)
			h := x.Head()
			if h.ID != hashtree.Identify(x.state) || time.Since(h.Time) > 21*time.Second || x.done != nil {
				t.Fatalf("seed %d: version %d of %v ago, %v", seed, h.Version, time.Since(h.Time), x.done)
			}
			if most := changes + int(time.Since(began)/(20*time.Second)) + 1; x.store.heads > most {
				t.Fatalf("seed %d: %d heads, want at most %d", seed, x.store.heads, most)
			}
		})
	}
}
