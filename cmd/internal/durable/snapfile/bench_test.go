package snapfile_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
)

// BenchmarkPut writes snapshots of 64 MiB of pieces.
func BenchmarkPut(b *testing.B) {
	dir, err := snapfile.OpenDir(b.TempDir(), snapfile.Options{})
	must(b, err)
	piece := make([]byte, snapfile.MaxPiece)
	for i := range piece {
		piece[i] = byte(rand.Uint32())
	}
	const pieces = 64
	b.SetBytes(pieces * snapfile.MaxPiece)
	number := uint64(0)
	for b.Loop() {
		for range pieces {
			_, err := dir.Put(piece)
			must(b, err)
		}
		number++
		must(b, dir.Publish(number, number, nil))
		must(b, dir.Sweep([]uint64{number}, func(uint64) bool { return false }))
	}
}

// BenchmarkOpen opens a directory of 20,000 pieces, those of a snapshot of 20 GiB.
func BenchmarkOpen(b *testing.B) {
	path := b.TempDir()
	dir, err := snapfile.OpenDir(path, snapfile.Options{})
	must(b, err)
	for range 20_000 {
		_, err := dir.Put([]byte("x"))
		must(b, err)
	}
	must(b, dir.Publish(1, 1, nil))
	for b.Loop() {
		_, err := snapfile.OpenDir(path, snapfile.Options{})
		must(b, err)
	}
}
