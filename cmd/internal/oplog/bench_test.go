package oplog_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

func noise(n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(b)
	return b
}

func openBench(b *testing.B) oplog.Log {
	b.Helper()
	l, err := oplog.Open(b.Context(), b.TempDir(), oplog.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

var sizes = []int{1 << 10, 64 << 10, 512 << 10}

func BenchmarkAppend(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			l := openBench(b)
			batch := noise(size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Append(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			l := openBench(b)
			const all = 64 << 20
			batch := noise(size)
			for range all / size / 4 {
				if _, err := l.Append(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(all / 4)
			b.ReportAllocs()
			for b.Loop() {
				if err := l.Read(b.Context(), 1, func(uint64, []byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens a log with 1 GiB in it.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	l, err := oplog.Open(b.Context(), dir, oplog.Options{})
	if err != nil {
		b.Fatal(err)
	}
	data := noise(512 << 10)
	for range 2048 {
		if _, err := l.Append(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(1 << 30)
	for b.Loop() {
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		if l, err = oplog.Open(b.Context(), dir, oplog.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	l.Close()
}
