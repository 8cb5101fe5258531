package share_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
)

// plain is a source without WatchRecord, such as a web server: whoever wants a newer head requests it.
type plain struct{ share.Source }

// paced is how a subscriber fared in a publication with a version every 4 seconds.
type paced struct {
	current  int // seconds in which its version was exact, of the last 400
	folds    []uint64
	received uint64 // after the first version
	versions uint64
}

// replace clears n/2 cells of a filter and sets as many others.
func replace(s umbel.State, rng *rand.Rand, n int) {
	words := s.Arrays[0].Words
	for set := uint64(0); n > 0; {
		w, bit := &words[rng.IntN(len(words))], rng.Uint64N(64)
		if *w>>bit&1 != set {
			*w ^= 1 << bit
			set, n = 1-set, n-1
		}
	}
}

// follow4s follows a publication with a version every 4 seconds whose heads are valid for 20, for 600 seconds.
func follow4s(t *testing.T, b share.Budget) (got paced) {
	const cells, keys, changes = 1 << 22, 160_000, 800
	state, rng := set(t, cells, 0, keys), rand.New(rand.NewPCG(1, 2))
	synctest.Test(t, func(t *testing.T) {
		p := live(t)
		var err error
		p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{
			Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Folds: []uint64{4, 16}, Kinds: filter.All, Valid: 20 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		p.publish(state)
		s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
			Source: plain{p.store}, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleError, Budget: b,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		defer run(t, s, time.Second)()
		synctest.Wait()
		first := s.Counters().Received
		for second := range uint64(600) {
			time.Sleep(time.Second)
			if second%4 == 3 {
				replace(state, rng, changes)
				p.publish(state)
			}
			synctest.Wait()
			v := s.View()
			if second >= 200 && v.Exact() {
				got.current++
			}
			if !slices.Contains(got.folds, v.Fold()) {
				got.folds = append(got.folds, v.Fold())
			}
		}
		c := s.Counters()
		got.received, got.versions = c.Received-first, c.Versions
		t.Logf("%+v: %+v, classes %+v", b, got, p.p.Head().Classes)
	})
	return got
}

// A subscriber whose limit suffices for the coarsest class follows that and is exact, also if the class with which
// it began takes more and it has missed versions. It receives no more than the limit.
func TestBudgetFits(t *testing.T) {
	for _, b := range []share.Budget{
		{BytesPerSecond: 350}, {BytesPerSecond: 400},
		{BytesPerSecond: 400, Start: 40_000}, {BytesPerSecond: 420, Start: 40_000},
	} {
		got := follow4s(t, b)
		if got.current < 380 || got.folds[len(got.folds)-1] != 16 {
			t.Errorf("%d bytes per second: exact in %d of 400 seconds, folds %d", b.BytesPerSecond, got.current, got.folds)
		}
		if most := 600*b.BytesPerSecond + 1000; got.received > most {
			t.Errorf("%d bytes were received, want at most %d", got.received, most)
		}
	}
}
