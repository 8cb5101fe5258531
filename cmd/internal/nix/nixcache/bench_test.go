package nixcache_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/share"
)

func randomPaths(seed uint64, n int) nixcache.Paths {
	rng := rand.NewPCG(seed, 1)
	p := make(nixcache.Paths, n)
	for i := range p {
		var h nixbloom.Hash
		for j := range h {
			h[j] = byte(rng.Uint64())
		}
		p[i] = h
	}
	return p
}

// BenchmarkNixBloom makes the file of a million paths at 0.01 %.
func BenchmarkNixBloom(b *testing.B) {
	p := randomPaths(1, 1e6)
	for b.Loop() {
		if _, err := p.NixBloom(0.0001); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDelta adds paths to a cache of n paths, 41 or a thousandth per day once per hour unless another number
// is given, and updates a subscriber. It reports the bits of the delta per path, the bytes of the head, of the
// first snapshot and of the file NixBloom of the same rate, and how long both sides take. With -short n is
// 100,000.
func BenchmarkDelta(b *testing.B) {
	for _, c := range []struct {
		n, added int
		rate     float64
		memory   uint64
	}{
		{100_000, 41, 0.001, 0}, {100_000, 41, 0.0001, 0}, {1_000_000, 41, 0.001, 0}, {1_000_000, 41, 0.0001, 0},
		{1_000_000, 100, 0.0001, 0}, {1_000_000, 1000, 0.0001, 0}, {1_000_000, 41, 0.0001, 2 << 30},
	} {
		if testing.Short() && c.n > 100_000 {
			continue
		}
		b.Run(fmt.Sprintf("n=%d/added=%d/fpr=%g/memory=%d", c.n, c.added, c.rate, c.memory), func(b *testing.B) {
			paths := randomPaths(1, c.n)
			list := filepath.Join(b.TempDir(), "list")
			writeList(b, list, paths)
			w := newWorld(b, nixcache.Design{Rate: c.rate, Memory: c.memory}, func(o *nixcache.Options) {
				var err error
				if o.Source, err = nixcache.NewSource(list); err != nil {
					b.Fatal(err)
				}
			})
			w.publish()
			snapshot := w.subscriber.Counters().Bytes
			var published, updated time.Duration
			var delta uint64
			adding := uint64(2)
			for b.Loop() {
				b.StopTimer()
				paths = append(paths, randomPaths(adding, c.added)...)
				adding++
				writeList(b, list, paths)
				b.StartTimer()
				began := time.Now()
				v, err := w.p.Publish(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				published += time.Since(began)
				began = time.Now()
				if err := w.subscriber.Update(b.Context()); err != nil {
					b.Fatal(err)
				}
				updated += time.Since(began)
				delta += v.Head.Deltas[0].Bytes
			}
			head, err := w.store.Record(b.Context(), share.HeadName)
			if err != nil {
				b.Fatal(err)
			}
			shape, err := nixbloom.NixShape(uint64(c.n), c.rate)
			if err != nil {
				b.Fatal(err)
			}
			per := 1 / float64(b.N)
			b.ReportMetric(float64(delta)*per*8/float64(c.added), "bits/path")
			b.ReportMetric(float64(delta)*per, "delta-B")
			b.ReportMetric(float64(len(head)), "head-B")
			b.ReportMetric(float64(snapshot), "snapshot-B")
			b.ReportMetric(float64(nixbloom.FileBytes(shape.M)), "nixbloom-B")
			b.ReportMetric(published.Seconds()*1e3*per, "publish-ms")
			b.ReportMetric(updated.Seconds()*1e3*per, "update-ms")
		})
	}
}

func writeList(b *testing.B, name string, paths nixcache.Paths) {
	b.Helper()
	var list bytes.Buffer
	for _, h := range paths {
		fmt.Fprintln(&list, h)
	}
	if err := os.WriteFile(name, list.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead reads a list of a million paths for the first time, and again after a path was added.
func BenchmarkRead(b *testing.B) {
	name := filepath.Join(b.TempDir(), "list")
	paths := randomPaths(1, 1e6)
	writeList(b, name, paths)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			s, err := nixcache.NewSource(name)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Read(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		s, err := nixcache.NewSource(name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Read(); err != nil {
			b.Fatal(err)
		}
		adding := uint64(2)
		for b.Loop() {
			b.StopTimer()
			paths = append(paths, randomPaths(adding, 1)...)
			adding++
			writeList(b, name, paths)
			b.StartTimer()
			if _, err := s.Read(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReadDirectory reads a directory of ten thousand paths.
func BenchmarkReadDirectory(b *testing.B) {
	d := b.TempDir()
	touch(b, d, 0, 10_000)
	for b.Loop() {
		s, err := nixcache.NewSource(d)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Read(); err != nil {
			b.Fatal(err)
		}
	}
}
