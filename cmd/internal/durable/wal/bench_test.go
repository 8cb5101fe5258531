package wal_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// open opens a log in a directory of the system.
func open(tb testing.TB, dir string, o wal.Options) *wal.Log {
	tb.Helper()
	l, err := wal.Open(dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l
}

// BenchmarkAppend writes entries of which the oldest are removed. In flight is the number of entries
// that are written before a sync that makes an earlier one durable has returned.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 768 << 10} {
		for _, flight := range []int{1, 4} {
			b.Run(fmt.Sprintf("bytes=%d/flight=%d", size, flight), func(b *testing.B) {
				l := open(b, b.TempDir(), wal.Options{})
				data := noise(size)
				uncut := 0
				b.SetBytes(int64(size))
				b.ReportAllocs()
				tokens := make(chan struct{}, flight-1)
				var syncs sync.WaitGroup
				syncs.Go(func() {
					for range tokens {
						if _, err := l.Commit(ctx); err != nil {
							b.Error(err)
						}
					}
				})
				for b.Loop() {
					next := l.Next()
					if err := write(l, entry{Index: next, Data: data}); err != nil {
						b.Fatal(err)
					}
					if flight > 1 {
						tokens <- struct{}{}
					} else if _, err := l.Commit(ctx); err != nil {
						b.Fatal(err)
					}
					if uncut += size; uncut > 32<<20 { // as a node does after a snapshot
						if _, last := l.Bounds(); l.Purge(ctx, last) != nil {
							b.Fatal(l.Health())
						}
						uncut = 0
					}
				}
				close(tokens)
				syncs.Wait()
			})
		}
	}
}

// fillGiB fills a log with 1 GiB.
func fillGiB(b *testing.B, dir string) {
	b.Helper()
	l, err := wal.Open(dir, wal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	data := noise(512 << 10)
	for i := range uint64(2048) {
		if err := write(l, entry{Index: i + 1, Data: data}); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	fillGiB(b, dir)
	l := open(b, dir, wal.Options{})
	b.SetBytes(1 << 30)
	for b.Loop() {
		if err := l.Read(ctx, 1, func(uint64, []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	fillGiB(b, dir)
	for b.Loop() {
		if err := open(b, dir, wal.Options{}).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
