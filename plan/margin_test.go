package plan

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSigmas(t *testing.T) {
	for _, c := range []struct{ tail, want float64 }{
		{.5, 0}, {.15865525393145707, 1}, {.02275013194817921, 2}, {1e-6, 4.753424308822899}, {1e-20, 9.262340089798408}, {1 - .15865525393145707, -1},
	} {
		if got := NormalQuantile(c.tail); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g: %.12f, want %.12f", c.tail, got, c.want)
		}
	}
	for _, tail := range []float64{0, 1, -1, math.NaN()} {
		wantPanic(t, "tail", func() { NormalQuantile(tail) })
	}
}

// Mitzenmacher 2002, section III: 10^4 keys, at most 10,000 bytes. The paper chooses
// m=140,000 and k=2 by 0.99 of the size; the largest of 100,000 filters took 9971. With
// 1e-6 for the tail there is room for some more cells, and what a container adds.
func TestSizeWithinPaper(t *testing.T) {
	const n, k, limit, tail = 10_000, 2, 8 * (10_000 + ContainerBytes), 1e-6
	m, err := SizeWithin(n, k, limit, tail)
	if err != nil || m < 140_900 || m > 141_400 {
		t.Errorf("%d cells, %v, want from 140,900 to 141,400", m, err)
	}
	if n := CapacityWithin(140_000, k, limit, tail); n < 10_000 || n > 10_200 {
		t.Errorf("%d keys in 140,000 cells, want a few more than 10,000", n)
	}
	margin := SnapshotBits(140_000, k, n, tail) - SnapshotBits(140_000, k, n, .5)
	if want := NormalQuantile(tail) * 8 * 11.34; !near(margin, want, .001) {
		t.Errorf("margin of %g bits, want %g", margin, want)
	}
}

func TestWithinHasNoBetterNeighbour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		tail := rapid.SampledFrom([]float64{.5, .01, 1e-9}).Draw(t, "tail")
		bits := float64(n)*rapid.Float64Range(.1, 20).Draw(t, "bits") + 8*(ContainerBytes+BlockBytes) + 1
		m, err := SizeWithin(n, k, bits, tail)
		if err != nil {
			t.Fatal(err)
		}
		if SnapshotBits(m, k, n, tail) > bits || SnapshotBits(m+1, k, n, tail) <= bits {
			t.Fatalf("%d cells take %g of %g bits, one more %g", m, SnapshotBits(m, k, n, tail), bits, SnapshotBits(m+1, k, n, tail))
		}
		most := CapacityWithin(m, k, bits, tail)
		if most == math.MaxUint64 {
			if !(float64(m)+8*ContainerBytes <= bits) {
				t.Fatalf("%d cells as they are don't fit %g bits", m, bits)
			}
			return
		}
		if SnapshotBits(m, k, most, tail) > bits || SnapshotBits(m, k, most+1, tail) <= bits {
			t.Fatalf("%d cells, %d keys: %g of %g bits, one more %g", m, most, SnapshotBits(m, k, most, tail), bits, SnapshotBits(m, k, most+1, tail))
		}
	})
}

func TestWithinEdges(t *testing.T) {
	if got := CapacityWithin(1000, 1, 100, .5); got != 0 {
		t.Errorf("no room: %d keys, want 0", got)
	}
	if got := CapacityWithin(1000, 1, 1e5, .5); got != math.MaxUint64 {
		t.Errorf("room for all cells: %d keys, want 2^64-1", got)
	}
	for _, c := range []struct {
		n    uint64
		k    int
		bits float64
		tail float64
	}{{0, 1, 1e6, .5}, {1, 0, 1e6, .5}, {1000, 2, 100, .5}, {1000, 2, 1e6, 1}, {1000, 2, 1e6, 0}, {1000, 2, math.NaN(), .5}} {
		if m, err := SizeWithin(c.n, c.k, c.bits, c.tail); !errors.Is(err, ErrRange) {
			t.Errorf("%+v: %d, %v, want ErrRange", c, m, err)
		}
	}
}
