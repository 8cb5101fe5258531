package share_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/share"
)

// plain is a source without WatchRecord, such as a web server: a subscriber requests newer heads.
type plain struct{ share.Source }

// paced is how a subscriber fared with a publication.
type paced struct {
	stale    int // seconds in which its version was not exact, after the first 20
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

// scene is a publication that a subscriber with a limit follows.
type scene struct {
	cells, keys uint64
	changes     int             // cells that change from a version to the next
	gaps        []time.Duration // between versions, in turns
	watched     bool            // the source reports later heads
	seconds     uint64
}

// play returns how a subscriber fared with classes 1, 4 and 16 and heads that are valid for 20 seconds.
func (x scene) play(t *testing.T, b share.Budget) (got paced) {
	t.Helper()
	state, rng := set(t, x.cells, 0, x.keys), rand.New(rand.NewPCG(1, 2))
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
		source := share.Source(p.store)
		if !x.watched {
			source = plain{p.store}
		}
		s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
			Source: source, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleError, Budget: b,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		defer run(t, s, time.Second)()
		first := s.Counters().Received
		due, turn := time.Now().Add(x.gaps[0]), 0
		for second := range x.seconds {
			time.Sleep(time.Second)
			if !time.Now().Before(due) {
				replace(state, rng, x.changes)
				p.publish(state)
				turn++
				due = due.Add(x.gaps[turn%len(x.gaps)])
			}
			synctest.Wait()
			v := s.View()
			if second >= 20 && !v.Exact() {
				got.stale++
			}
			if !slices.Contains(got.folds, v.Head().Fold) {
				got.folds = append(got.folds, v.Head().Fold)
			}
		}
		c := s.Counters()
		got.received, got.versions = c.Received-first, c.Versions
		t.Logf("%+v: %+v of %d versions", b, got, p.p.Head().Version)
	})
	return got
}

// A subscriber with a limit that suffices for some of the versions of the coarsest class follows that and is exact,
// also if the class with which it began takes more and it has missed versions. It receives no more than the limit.
func TestBudgetFits(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	var (
		steady = scene{cells: 1 << 22, keys: 160_000, changes: 800, gaps: []time.Duration{4 * time.Second}, seconds: 600}
		// A version is 1,500 bytes here, with its head, and the words of five versions are those of the class.
		sparse  = scene{cells: 4_915_200, keys: 100_000, changes: 1000, gaps: []time.Duration{4 * time.Second, 6 * time.Second, 4 * time.Second}, seconds: 300}
		watched = sparse
	)
	watched.watched = true
	cases := []struct {
		scene
		share.Budget
	}{
		{steady, share.Budget{BytesPerSecond: 350}},
		{steady, share.Budget{BytesPerSecond: 400}},
		{steady, share.Budget{BytesPerSecond: 400, Start: 40_000}},
		{sparse, share.Budget{BytesPerSecond: 250, Start: 40_000}},
		{sparse, share.Budget{BytesPerSecond: 350, Start: 40_000}},
		{watched, share.Budget{BytesPerSecond: 250, Start: 40_000}},
		{watched, share.Budget{BytesPerSecond: 350, Start: 40_000}},
	}
	if testing.Short() {
		cases = cases[:1]
	}
	for _, x := range cases {
		got := x.play(t, x.Budget)
		if got.stale > 0 || got.folds[len(got.folds)-1] != 16 {
			t.Errorf("%+v of %+v: stale for %d seconds, folds %d", x.Budget, x.scene, got.stale, got.folds)
		}
		if most := x.seconds*x.BytesPerSecond + 1000; got.received > most {
			t.Errorf("%+v: %d bytes were received, want at most %d", x.Budget, got.received, most)
		}
	}
}

// A subscriber with a limit that suffices for no class receives versions nevertheless: later ones than it began to
// save for do not delay it.
func TestBudgetSkips(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	x := scene{cells: 4_915_200, keys: 100_000, changes: 1000, gaps: []time.Duration{4 * time.Second}, seconds: 600}
	got := x.play(t, share.Budget{BytesPerSecond: 100, Start: 40_000})
	if got.versions < 5 || got.folds[0] != 16 {
		t.Errorf("%d versions, folds %d", got.versions, got.folds)
	}
}
