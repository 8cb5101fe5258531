package sharetest

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// Keys returns a new pair of keys.
func Keys(t testing.TB, name string) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

// Set returns a filter of m bits, k = 1, that contains the integers from first to last-1.
func Set(t testing.TB, m, first, last uint64) umbel.Filter {
	t.Helper()
	f, err := bloom.Kind.New(umbel.Goal{}, umbel.Params{{Name: "m", Value: umbel.Uint(m)}, {Name: "k", Value: umbel.Uint(1)}})
	if err != nil {
		t.Fatal(err)
	}
	for i := first; i < last; i++ {
		f.Add(f.Hasher().HashUint64(i))
	}
	return f
}

// Fold returns a filter folded by r.
func Fold(t testing.TB, f umbel.Filter, r uint64) umbel.Filter {
	t.Helper()
	folded, err := bloom.Kind.Open(f.State().Clone())
	if err == nil {
		err = folded.(umbel.Folder).Fold(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folded
}

// Publisher returns a publisher of the publication "example.org/set".
func Publisher(t testing.TB, store share.Store) (*share.Publisher, note.Verifier) {
	t.Helper()
	signer, verifier := Keys(t, "example.org/set")
	p, err := share.NewPublisher(t.Context(), share.PublisherOptions{Store: store, Key: share.Key{Signer: signer, Verifier: verifier}})
	if err != nil {
		t.Fatal(err)
	}
	return p, verifier
}

// Subscriber returns a subscriber to a source.
func Subscriber(t testing.TB, source share.Source, verifier note.Verifier) *share.Subscriber {
	t.Helper()
	s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
		Source: source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Publish publishes a filter.
func Publish(t testing.TB, p *share.Publisher, f umbel.Filter) *share.Head {
	t.Helper()
	h, err := p.Publish(t.Context(), f.State())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Arrives waits until a subscriber that runs has exactly a filter.
func Arrives(t testing.TB, s *share.Subscriber, f umbel.Filter) {
	t.Helper()
	want := hashtree.Identify(f.State())
	var v *share.View
	await.True(t, "the version arrives", func() bool {
		v = s.View()
		return v != nil && v.Head().ID == want && v.Exact()
	})
	if hashtree.Identify(v.Filter().State()) != want {
		t.Fatal("the subscriber has another filter than its head states")
	}
}

// Run runs a subscriber until the test ends.
func Run(t testing.TB, s *share.Subscriber, period time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx, period) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}

// Publication tests that a subscriber that runs gets every version, of the whole filter and of a fold
// class, and that one that starts late gets the last. The snapshot has several chunks.
func Publication(t *testing.T, open Open) {
	const m, n, fold = 1 << 22, 30_000, 4
	store, source := open(t)
	signer, verifier := Keys(t, "example.org/set")
	p, err := share.NewPublisher(t.Context(), share.PublisherOptions{
		Store: store, Key: share.Key{Signer: signer, Verifier: verifier}, Folds: []uint64{fold}, Kinds: filter.All,
	})
	if err != nil {
		t.Fatal(err)
	}
	f := Set(t, m, 0, n)
	Publish(t, p, f)
	running := Subscriber(t, source, verifier)
	Run(t, running, 100*time.Millisecond)
	Arrives(t, running, f)
	coarse, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
		Source: source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Budget: share.Budget{Rate: 0.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(coarse.Close)
	Run(t, coarse, 100*time.Millisecond)
	Arrives(t, coarse, Fold(t, f, fold))
	for i := range uint64(8) {
		for j := range uint64(10) {
			f.Add(f.Hasher().HashUint64(1e9 + 10*i + j))
		}
		Publish(t, p, f)
		Arrives(t, running, f)
		Arrives(t, coarse, Fold(t, f, fold))
	}
	late := Subscriber(t, source, verifier)
	Run(t, late, 100*time.Millisecond)
	Arrives(t, late, f)
}
