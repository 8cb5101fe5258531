package share_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// A publisher logs what makes all subscribers fetch a snapshot, and nothing else.
func TestPublisherLog(t *testing.T) {
	p := newPair(t)
	cache := newCache()
	p.store = cache
	var log strings.Builder
	begin := func() {
		t.Helper()
		var err error
		p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{
			Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wantLog := func(text string) {
		t.Helper()
		if got := log.String(); got == "" != (text == "") || !strings.Contains(got, text) {
			t.Errorf("the log is %q, want %q", got, text)
		}
		log.Reset()
	}
	begin()
	p.publish(set(t, 1<<14, 0, 500))
	p.publish(set(t, 1<<14, 0, 501))
	wantLog("")
	other := set(t, 1<<14, 0, 501)
	other.Hasher.Alg++
	p.publish(other)
	wantLog(`msg="no delta leads to the version; subscribers fetch a snapshot" event=publication-replaced version=3`)
	begin()
	wantLog("")
	clear(cache.objects)
	begin()
	wantLog(`msg="a new stream begins, because the last version cannot be read; subscribers fetch a snapshot" event=publication-restarted version=3`)
}

// A subscriber logs once that no class keeps its budget, and again after one has kept it.
func TestBudgetLog(t *testing.T) {
	const m = 1 << 16
	for _, x := range []struct {
		name string
		b    share.Budget
		keys [3]uint64 // of the first versions, of those after them, and so on
		want [3]int    // the number of messages then
	}{
		{"rate", share.Budget{Rate: 0.05}, [3]uint64{6000, 1000, 6000}, [3]int{1, 1, 2}},
		{"start", share.Budget{Start: 1}, [3]uint64{1000, 1000, 1000}, [3]int{1, 1, 1}},
		{"both", share.Budget{Rate: 0.05, Start: 1}, [3]uint64{6000, 1000, 6000}, [3]int{2, 2, 3}},
		{"none", share.Budget{Rate: 0.5, Start: 1 << 20}, [3]uint64{6000, 1000, 6000}, [3]int{0, 0, 0}},
		{"bytes per second", share.Budget{BytesPerSecond: 5}, [3]uint64{6000, 1000, 6000}, [3]int{1, 1, 1}},
	} {
		p := newPair(t)
		p.classes(4, 16)
		var log strings.Builder
		s := p.subscriber(share.SubscriberOptions{Budget: x.b, Log: slog.New(slog.NewTextHandler(&log, nil))})
		for i, keys := range x.keys {
			for range 8 {
				p.publish(set(t, m, 0, keys))
				p.now = p.now.Add(time.Minute)
				if err := s.Update(t.Context()); err != nil && !errors.Is(err, share.ErrBudget) {
					t.Fatal(err)
				}
				keys++
			}
			if n := strings.Count(log.String(), "level=WARN"); n != x.want[i] {
				t.Errorf("%s: %d messages after %d versions, want %d: %s", x.name, n, 8*(i+1), x.want[i], log.String())
			}
		}
	}
}

// A subscriber reports once that it follows a publisher that began later.
func TestSubscriberLog(t *testing.T) {
	var log strings.Builder
	p := newPair(t)
	source := &struct{ share.Source }{p.store}
	s := p.subscriber(share.SubscriberOptions{Source: source, Log: slog.New(slog.NewTextHandler(&log, nil))})
	follow := func(want int) {
		t.Helper()
		for i := range uint64(3) {
			p.publish(set(t, 10_000, 0, 10+i))
			update(t, s)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != want {
			t.Errorf("%d messages, want %d: %s", n, want, &log)
		}
	}
	follow(0)
	p.store = new(share.Memory)
	p.publisher()
	source.Source = p.store
	follow(1)
	if want := "a publisher that began later is followed now"; !strings.Contains(log.String(), want) {
		t.Errorf("want %q: %s", want, &log)
	}
}
