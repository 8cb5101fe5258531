package nixcache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

// TestPublish: additions are a small delta, removals leave, and a cache that outgrows its filter gets another.
func TestPublish(t *testing.T) {
	w := newWorld(t, nixcache.Design{Rate: 0.001}, nil)
	touch(t, w.cache, 0, 1000)
	if v := w.publish(); !v.New || v.Paths != 1000 || v.K != 1 {
		t.Fatalf("%+v", v)
	}
	w.wantPaths(0, 1000)
	if v := w.publish(); v.New {
		t.Errorf("unchanged: %+v", v)
	}
	touch(t, w.cache, 1000, 1041)
	v := w.publish()
	if bits := float64(v.Head.Deltas[0].Bytes) * 8 / 41; !v.New || v.Added != 41 || v.Removed != 0 || bits > 35 {
		t.Errorf("41 added: %+v, %.1f bits per path", v, bits)
	}
	w.wantPaths(0, 1041)
	for i := range 100 {
		if err := os.Remove(filepath.Join(w.cache, hash(i).String()+".narinfo")); err != nil {
			t.Fatal(err)
		}
	}
	if v := w.publish(); v.Removed != 100 || v.Added != 0 {
		t.Errorf("100 removed: %+v", v)
	}
	w.wantPaths(100, 1041)
	if n := w.count(0, 100); n > 5 {
		t.Errorf("%d of the 100 paths that were removed are found", n)
	}
	before := w.subscriber.View().Head().Bytes
	touch(t, w.cache, 1041, 4000)
	w.publish()
	w.wantPaths(100, 4000)
	if after := w.subscriber.View().Head().Bytes; after <= before {
		t.Errorf("%d bytes of cells for four times the paths, %d before", after, before)
	}
}

// TestDesign: with less memory a path has more cells, in one block unless that takes too much memory.
func TestDesign(t *testing.T) {
	for _, c := range []struct {
		d    nixcache.Design
		k    int
		kind string
	}{
		{nixcache.Design{Rate: 0.01, Keys: 100_000}, 1, "bloom"},
		{nixcache.Design{Rate: 0.001, Keys: 1_000_000}, 2, "blocked"},
		{nixcache.Design{Rate: 0.01, Keys: 100_000, Memory: 1 << 20}, 2, "blocked"},
		{nixcache.Design{Rate: 0.01, Keys: 100_000, Memory: 120 << 10}, 6, "bloom"},
	} {
		w := newWorld(t, c.d, nil)
		touch(t, w.cache, 0, 10)
		if v := w.publish(); v.K != c.k || v.Head.Kind != c.kind {
			t.Errorf("%+v: kind %s, k %d, want %s, %d", c.d, v.Head.Kind, v.K, c.kind, c.k)
		}
		w.wantPaths(0, 10)
	}
	w := newWorld(t, nixcache.Design{Rate: 0.01, Keys: 100_000, Memory: 100}, nil)
	if _, err := w.p.Publish(t.Context()); err == nil {
		t.Error("100 bytes for 100,000 paths are accepted")
	}
}

// TestFollow: what appears in the directory is published at the next look, within the clock of the test; the head
// is renewed although the directory is gone.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nixcache.Design{Rate: 0.001}, nil)
		// The directory has the times of the test's clock.
		modified := func() {
			if err := os.Chtimes(w.cache, time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		touch(t, w.cache, 0, 10)
		modified()
		w.publish()
		done := make(chan error)
		ctx, stop := context.WithCancel(t.Context())
		go func() { done <- w.p.Follow(ctx, 500*time.Millisecond) }()
		time.Sleep(10*time.Second + 250*time.Millisecond) // between two looks, so that none sees a part of the files
		touch(t, w.cache, 10, 13)
		modified()
		began := time.Now()
		if v := <-w.versions; v.Added != 3 {
			t.Errorf("%+v", v)
		}
		if late := time.Since(began); late > 2*time.Second {
			t.Errorf("published after %v of the clock of the test", late)
		}
		signed := w.publisher.Head().Time
		if err := os.RemoveAll(w.cache); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if log := w.log.String(); !strings.Contains(log, "publishing failed") {
			t.Errorf("no error about the directory: %s", log)
		}
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if !w.publisher.Head().Time.After(signed) {
			t.Error("the head is not renewed while the directory is gone")
		}
	})
}

// TestNixBloomFile: the file next to a description has all paths, and the description keeps its lines.
func TestNixBloomFile(t *testing.T) {
	out := t.TempDir()
	info := filepath.Join(out, nixcache.InfoName)
	w := newWorld(t, nixcache.Design{Rate: 0.001}, func(o *nixcache.Options) { o.Bloom = out })
	touch(t, w.cache, 0, 100)
	w.publish()
	if b, err := os.ReadFile(info); err != nil || string(b) != "StoreDir: /nix/store\nWantMassQuery: 1\nBloomFilter: /bloom-filter\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.WriteFile(info, []byte("StoreDir: /nix/store\nBloomFilter: /old\nPriority: 30"), 0o666); err != nil {
		t.Fatal(err)
	}
	touch(t, w.cache, 100, 200)
	w.publish()
	if b, err := os.ReadFile(info); err != nil || string(b) != "StoreDir: /nix/store\nPriority: 30\nBloomFilter: /bloom-filter\n" {
		t.Errorf("%q, %v", b, err)
	}
	b, err := os.ReadFile(filepath.Join(out, nixcache.BloomName))
	if err != nil {
		t.Fatal(err)
	}
	f, err := nixbloom.ParseFile(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if !f.Has(hash(i).Digest()) {
			t.Fatalf("path %d is absent: a false negative", i)
		}
	}
	const other = "a file of another program"
	if err := os.WriteFile(filepath.Join(out, nixcache.BloomName), []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	touch(t, w.cache, 200, 201)
	if v, err := w.p.Publish(t.Context()); err == nil || !v.New {
		t.Errorf("%+v, %v, want a version and an error about the file", v, err)
	}
	if b, err := os.ReadFile(filepath.Join(out, nixcache.BloomName)); err != nil || string(b) != other {
		t.Errorf("%q, %v: the file of another program is replaced", b, err)
	}
}
