package partitioned

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/planning"
	"pgregory.net/rapid"
)

// capacity returns the largest number of keys with a rate of at most p.
func capacity(m uint64, k int, p float64) uint64 {
	return planning.Most(math.MaxUint64, func(n uint64) bool { return fpRate(m, k, n) <= p })
}

// Almeida et al. 2007: the rate of k slices, and the capacities of the
// slices of a scalable filter (recomputed).
func TestAlmeidaSlices(t *testing.T) {
	if got := fpRate(64, 4, 8); !fixture.Near(got, .02645020268, 1e-9) {
		t.Errorf("m=64 k=4 n=8: %.11g, want .02645020268", got)
	}
	slice, p := uint64(1000), 0.005
	for i, want := range []uint64{724, 1442, 2873, 5728, 11426, 22799, 45509, 90864} {
		k := 8 + i
		if got := capacity(slice*uint64(k), k, p); got != want {
			t.Errorf("slices of %d, k=%d, p=%g: %d keys, want %d", slice, k, p, got, want)
		}
		slice, p = slice*2, p/2
	}
}

func TestPartitionedFPRateAgainstSimulation(t *testing.T) {
	for _, c := range []struct {
		m      uint64
		k      int
		n      uint64
		trials int
	}{{64, 4, 8, 40_000}, {1000, 5, 150, 2000}, {7000, 7, 800, 300}} {
		r, slice := fixture.Rand(2), fixture.NewCells(c.m/uint64(c.k))
		var rate fixture.Sample
		for range c.trials {
			product := 1.0
			for range c.k {
				slice.Clear()
				slice.AddKeys(r, 1, c.n)
				product *= slice.Fill()
			}
			rate.Add(product)
		}
		rate.WantMean(t, fpRate(c.m, c.k, c.n), 0)
	}
}

func TestPartitionedSizeHasNoBetterNeighbor(t *testing.T) {
	check := func(t rapid.TB, n uint64, p float64) {
		t.Helper()
		m, k, err := size(n, p)
		if err != nil {
			t.Fatal(err)
		}
		if m%uint64(k) != 0 || fpRate(m, k, n) > p {
			t.Fatalf("size(%d, %g) = %d, %d: rate %g", n, p, m, k, fpRate(m, k, n))
		}
		for other := 1; other < 5*k+8; other++ {
			smaller := (m - 1) / uint64(other) * uint64(other)
			if smaller > 0 && fpRate(smaller, other, n) <= p {
				t.Fatalf("size(%d, %g) = %d, %d; but %d cells with k=%d are enough", n, p, m, k, smaller, other)
			}
		}
		if same, err := sizeForK(n, k, p); same != m || err != nil {
			t.Fatalf("sizeForK(%d, %d, %g) = %d, %v, want %d", n, k, p, same, err, m)
		}
		if got := capacity(m, k, p); got < n {
			t.Fatalf("capacity(%d, %d, %g) = %d, want at least %d", m, k, p, got, n)
		}
	}
	for n := range uint64(60) {
		for _, p := range []float64{0.999, 0.9, 0.5, 0.3, 0.1, 0.02, 0.01, 1e-3, 1e-6, 1e-12} {
			check(t, n+1, p)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n, p := rapid.Uint64Range(1, 1<<45).Draw(t, "n"), math.Pow(10, -rapid.Float64Range(0.01, 15).Draw(t, "-log10 p"))
		check(t, n, p)
	})
}

func TestPartitionedEdges(t *testing.T) {
	if got := fpRate(4, 4, 1); got != 1 {
		t.Errorf("slices of one cell with a key: %g, want 1", got)
	}
	if got := fpRate(4, 4, 0); got != 0 {
		t.Errorf("no keys: %g, want 0", got)
	}
	if got := capacity(4000, 4, 1); got != math.MaxUint64 {
		t.Errorf("p=1: %d, want 2^64-1", got)
	}
	fixture.WantPanic(t, "m<k", func() { fpRate(3, 4, 1) })
	fixture.WantPanic(t, "k=0", func() { capacity(3, 0, 0.1) })
}
