package nixcache_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hash returns the hash of test path i.
func hash(i int) nixbloom.Hash { return sha1.Sum(fmt.Append(nil, "path ", i)) }

func hashes(from, to int) nixcache.Paths {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintln(&b, hash(i))
	}
	p, err := nixcache.ReadList(strings.NewReader(b.String()))
	if err != nil {
		panic(err)
	}
	return p
}

// touch makes empty narinfo files of the paths in a directory.
func touch(t testing.TB, dir string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := os.WriteFile(filepath.Join(dir, hash(i).String()+".narinfo"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// world is a cache's directory, its publication and a subscriber.
type world struct {
	t          testing.TB
	cache      string
	store      *dir.Store
	p          *nixcache.Publication
	publisher  *share.Publisher
	subscriber *share.Subscriber
	versions   chan nixcache.Version
	log        bytes.Buffer
}

func newWorld(t testing.TB, d nixcache.Design, change func(*nixcache.Options)) *world {
	t.Helper()
	w := &world{t: t, cache: t.TempDir(), versions: make(chan nixcache.Version, 100)}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	key, _, err := share.NewKey("example.org/cache")
	if err != nil {
		t.Fatal(err)
	}
	store, err := dir.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w.store = store
	if w.publisher, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: store, Key: key, Valid: time.Minute, Log: log}); err != nil {
		t.Fatal(err)
	}
	source, err := nixcache.NewSource(w.cache)
	if err != nil {
		t.Fatal(err)
	}
	o := nixcache.Options{
		Source: source, Publisher: w.publisher, Design: d, Log: log,
		Published: func(v nixcache.Version) { w.versions <- v },
	}
	if change != nil {
		change(&o)
	}
	w.p = nixcache.New(o)
	if w.subscriber, err = share.NewSubscriber(t.Context(), share.SubscriberOptions{
		Source: store, Verifier: key.Verifier, Kinds: filter.All, Stale: share.StaleError, Limits: wire.Limits{Bytes: 2 << 30},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.subscriber.Close)
	return w
}

func (w *world) publish() nixcache.Version {
	w.t.Helper()
	v, err := w.p.Publish(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.subscriber.Update(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	return v
}

// count returns how many of the paths the subscriber finds.
func (w *world) count(from, to int) (n int) {
	w.t.Helper()
	for i := from; i < to; i++ {
		has, err := w.subscriber.HasString(hash(i).String())
		if err != nil {
			w.t.Fatal(err)
		}
		if has {
			n++
		}
	}
	return n
}

// wantPaths fails unless all paths of a range are found, and at most few of others.
func (w *world) wantPaths(from, to int) {
	w.t.Helper()
	if n := w.count(from, to); n != to-from {
		w.t.Fatalf("%d of the %d paths are found: false negatives", n, to-from)
	}
	if n := w.count(1_000_000, 1_010_000); n > 50 {
		w.t.Fatalf("%d of 10,000 absent paths are found, want about 10", n)
	}
}
