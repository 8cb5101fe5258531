package substituter_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/web"
)

// published is the directory of a cache and its publication.
type published struct {
	t     testing.TB
	cache string
	store *dir.Store
	key   share.Key
	share *share.Publisher
	p     *nixcache.Publication
}

func publish(t testing.TB, valid time.Duration, n int) *published {
	t.Helper()
	d := t.TempDir()
	touch(t, d, 0, n)
	return publishFrom(t, valid, d)
}

// publishFrom publishes a directory or a list.
func publishFrom(t testing.TB, valid time.Duration, cache string) *published {
	t.Helper()
	w := &published{t: t, cache: cache}
	var err error
	if w.key, _, err = share.NewKey("example.org/cache"); err != nil {
		t.Fatal(err)
	}
	if w.store, err = dir.Create(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	if w.share, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: w.store, Key: w.key, Valid: valid}); err != nil {
		t.Fatal(err)
	}
	source, err := nixcache.NewSource(w.cache)
	if err != nil {
		t.Fatal(err)
	}
	w.p = nixcache.New(nixcache.Options{Source: source, Publisher: w.share, Design: nixcache.Design{Rate: 1e-4}, Log: slog.New(slog.DiscardHandler)})
	w.publish()
	return w
}

func (w *published) touch(from, to int) {
	w.t.Helper()
	touch(w.t, w.cache, from, to)
}

// touch makes files of paths in the directory of a cache.
func touch(t testing.TB, cache string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := os.WriteFile(filepath.Join(cache, hash(i).String()+".narinfo"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *published) publish() {
	w.t.Helper()
	if _, err := w.p.Publish(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// summary returns a summary that reads from a source, and runs until the test ends.
func (w *published) summary(source share.Source) *substituter.Publication {
	w.t.Helper()
	p := w.idle(source)
	w.run(p)
	return p
}

// idle returns a summary that reads from a source when it runs.
func (w *published) idle(source share.Source) *substituter.Publication {
	w.t.Helper()
	s, err := share.NewSubscriber(w.t.Context(), share.SubscriberOptions{
		Source: source, Verifier: w.key.Verifier, Kinds: filter.All, Stale: share.StaleError, Compact: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return substituter.NewPublication("cache", s)
}

// run runs a summary until the test ends.
func (w *published) run(p *substituter.Publication) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	w.t.Cleanup(func() { stop(); <-done })
}

// TestPublicationStale: a path is absent only while the head is valid. When the publisher is silent for longer than
// that, every path is requested, until it is heard again.
func TestPublicationStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := publish(t, time.Minute, 10)
		summary := w.idle(w.store)
		a := newCache(0, 20) // ten of its paths are not published yet
		s := server(t, network{"a": a}, substituter.Upstream{URL: address("a"), Summary: summary})
		wantStatus(t, s, 99, notFound)
		if n := a.requests(""); n != 1 {
			t.Errorf("%d requests before the first version, want 1", n)
		}
		w.run(summary)
		time.Sleep(time.Second)
		for i := range 10 {
			wantStatus(t, s, i, ok)
		}
		a.requests("")
		wantStatus(t, s, 15, notFound)
		if n := a.requests(""); n != 0 {
			t.Errorf("%d requests for a path that is absent, want none", n)
		}
		if st := summary.Status(); !st.Current || st.Version != 1 {
			t.Errorf("%+v", st)
		}

		time.Sleep(2 * time.Minute)
		wantStatus(t, s, 15, ok)
		if st := summary.Status(); st.Current {
			t.Errorf("%+v, want one that is not current", st)
		}

		w.publish() // renews the head, with the same paths
		time.Sleep(time.Second)
		wantStatus(t, s, 15, notFound)
	})
}

// TestOtherKeys: a publication of other keys says nothing about paths.
func TestOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := publish(t, time.Minute, 1)
		f, err := bloom.NewGoal(umbel.Goal{Keys: 10, FPRate: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		f.AddString("/nix/store/" + hash(0).String() + "-hello")
		if _, err := w.share.Publish(t.Context(), f.State()); err != nil {
			t.Fatal(err)
		}
		summary := w.summary(w.store)
		time.Sleep(time.Second)
		if st := summary.Status(); answer(summary, 0) != substituter.Unknown || st.Current || st.Error == "" {
			t.Errorf("%v, %+v", answer(summary, 0), st)
		}
	})
}

// TestAdditions: a file that appears in the directory of a cache is found through the substituter, over HTTP on
// loopback, without a restart of either side. That the path is not found before shows that the summary is used.
func TestAdditions(t *testing.T) {
	w := publish(t, time.Minute, 10)
	ctx, stop := context.WithCancel(t.Context())
	following := make(chan error, 1)
	go func() { following <- w.p.Follow(ctx, 250*time.Millisecond) }()
	defer func() {
		stop()
		if err := <-following; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	handler := web.NewHandler(w.store, web.HandlerOptions{})
	publication := listen(t, handler)
	defer handler.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	source, err := web.NewClient("http://"+publication, web.ClientOptions{HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	summary := w.summary(source)
	a := newCache(0, 1_000)
	s := server(t, network{"a": a}, substituter.Upstream{URL: address("a"), Summary: summary})
	await.True(t, "the first version arrives", func() bool { return summary.Status().Current })
	wantStatus(t, s, 5, ok)
	for i := 10; i < 15; i++ {
		wantStatus(t, s, i, notFound)
		w.touch(i, i+1)
		await.True(t, "the path arrives", func() bool { return get(s, narinfo(i)).Code == ok })
	}
}

// listen serves a handler on loopback until the test ends, and returns its address.
func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-done })
	return l.Addr().String()
}
