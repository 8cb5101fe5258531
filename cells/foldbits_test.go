package cells_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
)

// sparse returns an array in which some cells are not zero.
func sparse(t testing.TB, n uint64, width uint, every uint64) cells.Array {
	t.Helper()
	a, err := cells.New(n, width)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(n, uint64(width)))
	for range n / every {
		a.Put(rng.Uint64N(n), 1+rng.Uint64N(a.Limit()))
	}
	return a
}

// The bits of FoldToBits are the cells of the fold that are not zero.
func TestFoldToBits(t *testing.T) {
	for _, width := range []uint{1, 2, 4, 8, 16, 32, 64} {
		for _, group := range []uint64{1, 2, 3, 20, 64, 128, 192, 640} {
			a := sparse(t, 30*group*7, width, 5)
			for _, r := range []uint64{1, 2, 3, 5, 6, 10, 15, 30, 210} {
				got, err := a.FoldToBits(r, group)
				if err != nil {
					t.Fatalf("width %d, group %d, by %d: %v", width, group, r, err)
				}
				sum, err := a.Fold(r, group)
				if err != nil {
					t.Fatal(err)
				}
				if err := got.Check(); err != nil || got.Len != sum.Len || got.Width != 1 {
					t.Fatalf("width %d, group %d, by %d: %d cells of %d bits, %v; want %d of 1", width, group, r, got.Len, got.Width, err, sum.Len)
				}
				for i := range sum.Len {
					if got.Bit(i) != (sum.Get(i) != 0) {
						t.Fatalf("width %d, group %d, by %d: bit %d is %v, and the sum %d", width, group, r, i, got.Bit(i), sum.Get(i))
					}
				}
			}
			for _, bad := range []uint64{0, 4, 1 << 60} {
				if _, err := a.FoldToBits(bad, group); !errors.Is(err, cells.ErrShape) {
					t.Errorf("by %d: %v, want an error that wraps %q", bad, err, cells.ErrShape)
				}
			}
		}
	}
}

// BenchmarkFoldToBits folds 32 MiB of cells, of which one in twelve is not zero. For comparison it
// also copies the same cells to new memory. With -short it folds 1 MiB.
func BenchmarkFoldToBits(b *testing.B) {
	bits := uint64(1 << 28)
	if testing.Short() {
		bits = 1 << 23
	}
	for _, c := range []struct {
		width uint
		group uint64
	}{{1, 64}, {4, 64}, {8, 64}, {1, 1}, {4, 1}} {
		a := sparse(b, bits/uint64(c.width)/768*768, c.width, 12)
		b.Run(fmt.Sprintf("width=%d/copy", c.width), func(b *testing.B) {
			b.SetBytes(int64(a.Bytes()))
			for b.Loop() {
				a.Clone()
			}
		})
		for _, r := range []uint64{1, 2, 3, 12} {
			b.Run(fmt.Sprintf("width=%d/group=%d/r=%d", c.width, c.group, r), func(b *testing.B) {
				b.SetBytes(int64(a.Bytes()))
				for b.Loop() {
					if _, err := a.FoldToBits(r, c.group); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
