package share_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/internal/race"
)

// TestFaults runs simulated histories of a publication with faults: loss, repetition, reordering,
// damage and truncation on the way, replayed heads, wrong clocks, failing disks, restarts with old or
// lost state, publishers restored from a backup, and two publishers with one name. Most publications have
// fold classes, and most subscribers budgets, which change like the classes.
//
// After each event, a view that is exact is a version that was current when its head was signed, and
// no longer ago than the head's validity (and the difference of the clocks). After the faults, the
// subscriber is exact again with the next head. UMBEL_HISTORIES is the number of histories; the
// first one is UMBEL_HISTORY.
func TestFaults(t *testing.T) {
	histories := number(t, "UMBEL_HISTORIES", 3000)
	first := number(t, "UMBEL_HISTORY", 0)
	if testing.Short() {
		histories = min(histories, 300)
	}
	var exact, events int
	const bubble = 500
	for begin := first; begin < first+histories; begin += bubble {
		synctest.Test(t, func(t *testing.T) {
			for i := begin; i < min(begin+bubble, first+histories); i++ {
				r, err := simulate(uint64(i), nil)
				if err != nil {
					t.Fatalf("history %d: %v", i, err)
				}
				exact, events = exact+r.exact, events+r.events
			}
		})
	}
	t.Logf("%d histories, %d events, exact after %d", histories, events, exact)
	if exact < events/4 || exact > events*3/4 {
		t.Errorf("the faults are too rare or too frequent")
	}
}

func number(t *testing.T, name string, value int) int {
	if s := os.Getenv(name); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	return value
}

// The simulation finds what it is for: a subscriber without one of its checks fails in it.
func TestFaultsAreFound(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	for name, change := range map[string]func(*world){
		"signatures are not checked": func(w *world) { w.trust = true },
		"the clock stands still":     func(w *world) { w.frozen = true },
	} {
		found := 0
		synctest.Test(t, func(t *testing.T) {
			for i := range uint64(200) {
				if _, err := simulate(i, change); err != nil {
					found++
				}
			}
		})
		if found == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}

// result counts the events of a history, and those after which the subscriber was exact.
type result struct{ events, exact int }

// simulate runs a history. It returns an error if the subscriber is wrong.
func simulate(seed uint64, change func(*world)) (r result, err error) {
	w, err := newWorld(rand.New(rand.NewPCG(seed, 1)), "the key")
	if err != nil {
		return r, err
	}
	defer func() { w.s.Close() }()
	if change != nil {
		change(w)
	}
	w.carrier.faults = []float64{0, 0.1, 0.5}[w.rng.IntN(3)]
	events := 10 + w.rng.IntN(30)
	for range events {
		what := w.event()
		synctest.Wait()
		if err := w.check(); err != nil {
			return r, fmt.Errorf("event %d, %s: %w", r.events, what, err)
		}
		r.events++
		if w.view != nil && w.view.Exact() {
			r.exact++
		}
	}
	return r, w.recover()
}

// event does something that may happen.
func (w *world) event() string {
	time.Sleep(time.Duration(w.rng.Int64N(int64(period))))
	synctest.Wait()
	ctx := context.Background()
	x := w.sites[w.rng.IntN(len(w.sites))]
	switch n := w.rng.IntN(100); {
	case n < 30:
		x.change()
		return fmt.Sprint("publish: ", x.publish())
	case n < 40:
		return fmt.Sprint("renew: ", x.renew())
	case n < 75:
		return fmt.Sprint("update: ", w.s.Update(ctx))
	default:
		return w.fault(x)
	}
}

// fault does something that should not happen.
func (w *world) fault(x *site) string {
	switch w.rng.IntN(15) {
	case 0:
		x.store.failing = []float64{0, 0.02, 0.3}[w.rng.IntN(3)]
		return "a failing store"
	case 1:
		w.clockFaults = true
		x.skewed = w.skew()
		return fmt.Sprint("the publisher's clock: ", x.skewed)
	case 2:
		w.clockFaults = true
		w.skewed = w.skew()
		return fmt.Sprint("the subscriber's clock: ", w.skewed)
	case 3:
		err := x.p.Close(context.Background())
		return fmt.Sprint("the publisher restarts: ", err, x.restart())
	case 4:
		return fmt.Sprint("the publisher is killed: ", x.restart())
	case 5:
		w.backup = x.store.clone()
		return "a backup"
	case 6:
		return w.restore(x)
	case 7:
		x.store.damage()
		return "the publisher's store is damaged"
	case 8:
		return w.second(x)
	case 9:
		if w.rng.IntN(8) > 0 {
			return "nothing"
		}
		for range 40 {
			x.change()
			x.publish()
			time.Sleep(time.Second / 4)
		}
		return "many versions"
	case 10:
		if len(w.folds) == 0 {
			return "nothing"
		}
		w.folds, w.refold = [][]uint64{{4}, {2, 8}, {8}}[w.rng.IntN(3)], true
		return fmt.Sprint("the publisher restarts with other classes: ", x.restart())
	default:
		return w.subscriberFault()
	}
}

func (w *world) skew() time.Duration {
	return []time.Duration{0, time.Second, -time.Second, valid / 2, -valid / 2, 10 * valid, -10 * valid}[w.rng.IntN(7)]
}

// restore replaces the store of a publisher by its backup, or by nothing.
func (w *world) restore(x *site) string {
	fresh := newDisk(w.rng, &w.history)
	if w.backup != nil && w.rng.IntN(4) > 0 {
		fresh = w.backup.clone()
	}
	// In place: a publisher that runs continues with it.
	x.store.records, x.store.objects = fresh.records, fresh.objects
	if w.rng.IntN(2) == 0 {
		return fmt.Sprint("a backup is restored, the publisher restarts: ", x.restart())
	}
	return "a backup is restored"
}

// second begins another publisher with the same key: of the same store, of a copy, or of an empty one.
func (w *world) second(x *site) string {
	if len(w.sites) > 1 {
		return "nothing"
	}
	store := x.store
	switch w.rng.IntN(3) {
	case 0:
		store = store.clone()
	case 1:
		store = newDisk(w.rng, &w.history)
	}
	_, err := w.site(store)
	return fmt.Sprint("a second publisher: ", err)
}

func (w *world) subscriberFault() string {
	n := w.rng.IntN(6)
	if w.cache == nil {
		n = 0
	}
	switch n {
	case 0:
		return fmt.Sprint("the subscriber restarts: ", w.subscribe())
	case 1:
		w.old = w.cache.clone()
		return "a copy of the cache"
	case 2:
		if w.old != nil {
			w.cache, w.floor = w.old.clone(), time.Time{}
		}
		return fmt.Sprint("the subscriber restarts with an old cache: ", w.subscribe())
	case 3:
		w.cache, w.floor = newDisk(w.rng, nil), time.Time{}
		return fmt.Sprint("the subscriber restarts without its cache: ", w.subscribe())
	case 4:
		if w.cache.damage() {
			w.floor = time.Time{}
		}
		return fmt.Sprint("the subscriber restarts with a damaged cache: ", w.subscribe())
	default:
		w.cache.failing = []float64{0, 0.02, 0.3}[w.rng.IntN(3)]
		return "a failing cache"
	}
}

// recover ends all faults. The subscriber must be exact with the next head. If clocks were wrong, or the
// publisher that began last is not the one that remains, or if there are other classes, it must be exact
// when the heads that it accepted have expired.
func (w *world) recover() error {
	w.carrier.faults, w.skewed = 0, 0
	if w.cache != nil {
		w.cache.failing = 0
	}
	x := w.sites[w.rng.IntN(len(w.sites))]
	x.skewed, x.store.failing = 0, 0
	w.carrier.stores = []*disk{x.store}
	begin := time.Now()
	for {
		x.change()
		if err := x.publish(); err != nil {
			// A damaged head, or the head of another publisher: begin again, as the errors say.
			if err := x.restart(); err != nil {
				clear(x.store.records)
				if err := x.restart(); err != nil {
					return err
				}
			}
			if err := x.publish(); err != nil {
				return err
			}
		}
		err := w.s.Update(context.Background())
		if e := w.check(); e != nil {
			return fmt.Errorf("after the faults: %w", e)
		}
		if err == nil && w.view.Exact() && w.view.Head().Time.Equal(x.p.Head().Time) && w.view.Head().Version == x.p.Head().Version {
			return nil
		}
		end := begin
		if w.clockFaults || w.refold || x.p.Head().Stream.Compare(w.stream) < 0 {
			end = w.expires
		}
		if w.refold && end.Before(begin) { // the first update finds that a class is gone
			end = begin
		}
		if w.slow { // what the faults have spent
			end = begin.Add(time.Hour)
		}
		if now := time.Now(); now.After(begin) && now.After(end.Add(period)) {
			return fmt.Errorf("not exact again: %v", err)
		}
		time.Sleep(period / 2)
		synctest.Wait()
	}
}
