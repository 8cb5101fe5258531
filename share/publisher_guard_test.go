package share_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	counts "github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/share"
)

// shrink returns the error with which a publisher refuses a state, nil if it publishes it.
func shrink(t *testing.T, p *pair, s umbel.State) *share.ShrunkError {
	t.Helper()
	h, err := p.p.Publish(t.Context(), s)
	var shrunk *share.ShrunkError
	if !errors.As(err, &shrunk) && err != nil || (h == nil) != (shrunk != nil) {
		t.Fatal(err)
	}
	return shrunk
}

// A version that has lost more than a share of the keys of the last one is refused, and one that has lost fewer is not:
// windows of random sizes that begin anywhere, compared with the sets of numbers themselves.
func TestMaxShrink(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 5))
	p := newPair(t)
	const most = 0.4
	limited := func(o *share.PublisherOptions) { o.MaxShrink, o.Kinds = most, filter.All }
	p.publisher(limited)
	from, to := uint64(0), uint64(2000)
	p.publish(set(t, 1<<15, from, to))
	refused, published := 0, 0
	for i := range 120 {
		a := from + rng.Uint64N(to-from) - min(from, rng.Uint64N(1000))
		b := a + 500 + rng.Uint64N(2500)
		common := uint64(0)
		if low, high := max(a, from), min(b, to); low < high {
			common = high - low
		}
		kept := float64(common) / float64(to-from)
		if math.Abs(kept-(1-most)) < 0.15 {
			continue // within the error of the estimate
		}
		shrunk := shrink(t, p, set(t, 1<<15, a, b))
		if (shrunk != nil) != (kept < 1-most) {
			t.Fatalf("%d: %d keys, %d of them of the last %d: %v", i, b-a, common, to-from, shrunk)
		}
		if shrunk != nil {
			refused++
			if shrunk.MaxShrink != most || math.Abs(shrunk.Last/float64(to-from)-1) > 0.1 {
				t.Errorf("%+v, want %d keys", shrunk, to-from)
			}
			continue
		}
		from, to = a, b
		if published++; rng.IntN(3) == 0 {
			p.publisher(limited) // compares with the version in the store
		}
	}
	if refused < 20 || published < 5 {
		t.Errorf("%d versions are refused, %d published", refused, published)
	}
	empty := set(t, 1<<15, 0, 0)
	if shrunk := shrink(t, p, empty); shrunk == nil || shrunk.Keys != 0 {
		t.Errorf("an empty filter: %+v", shrunk)
	}
	// Kinds and sizes may differ.
	f, err := counts.New(1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if shrunk := shrink(t, p, f.State()); shrunk == nil {
		t.Error("an empty filter of another kind is published")
	}
	p.publisher(func(o *share.PublisherOptions) { o.MaxShrink, o.Kinds = 1, filter.All })
	if shrunk := shrink(t, p, empty); shrunk != nil {
		t.Errorf("all keys may be lost: %v", shrunk)
	}
}

// If the last version is lost, a publisher that compares keys refuses to begin a new stream.
func TestMaxShrinkLost(t *testing.T) {
	p := newPair(t)
	cache := newCache()
	p.store = cache
	p.publisher()
	p.publish(set(t, 1<<14, 0, 500))
	clear(cache.objects)
	o := share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, Kinds: filter.All, MaxShrink: 0.5}
	var shrunk *share.ShrunkError
	if _, err := share.NewPublisher(t.Context(), o); !errors.As(err, &shrunk) || !math.IsNaN(shrunk.Last) {
		t.Errorf("error %v", err)
	}
	for name, change := range map[string]func(*share.PublisherOptions){
		"no kinds": func(o *share.PublisherOptions) { o.Kinds = nil },
		"negative": func(o *share.PublisherOptions) { o.MaxShrink = -0.1 },
		"above 1":  func(o *share.PublisherOptions) { o.MaxShrink = 1.1 },
		"NaN":      func(o *share.PublisherOptions) { o.MaxShrink = math.NaN() },
	} {
		bad := o
		change(&bad)
		if _, err := share.NewPublisher(t.Context(), bad); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.MaxShrink = 1
	p.publisher(func(x *share.PublisherOptions) { *x = o })
	p.publish(set(t, 1<<14, 0, 10))
}
