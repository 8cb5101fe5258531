package plan

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/fixture"
)

func drawGoal(t *rapid.T, mostKeys uint64) (n uint64, p float64) {
	n = rapid.Uint64Range(1, mostKeys).Draw(t, "n")
	p = math.Exp(-rapid.Float64Range(0.001, 30).Draw(t, "ln 1/p"))
	return n, p
}

func TestBestKHasNoBetterNeighbor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		m := uint64(float64(n)*rapid.Float64Range(0.01, 30).Draw(t, "m/n")) + 1
		best := BestK(m, n)
		for k := max(1, best-3); k <= best+3; k++ {
			if FPRate(m, k, n) < FPRate(m, best, n)*(1-1e-12) {
				t.Fatalf("k=%d has %g, k=%d has %g", best, FPRate(m, best, n), k, FPRate(m, k, n))
			}
		}
	})
}

// TestBroderMitzenmacherBestK: Broder and Mitzenmacher 2004: (m/n) ln 2, rounded to the better
// neighbor.
func TestBroderMitzenmacherBestK(t *testing.T) {
	const n = 1_000_000
	for _, c := range []struct{ bitsPerKey, k int }{{2, 1}, {3, 2}, {4, 3}, {6, 4}, {8, 6}, {10, 7}, {16, 11}, {32, 22}} {
		if got := BestK(uint64(c.bitsPerKey)*n, n); got != c.k {
			t.Errorf("m/n=%d: k=%d, want %d", c.bitsPerKey, got, c.k)
		}
	}
}

func TestBestKEdges(t *testing.T) {
	for _, c := range []struct {
		name string
		m, n uint64
		want int
	}{
		{"no keys", 100, 0, 1},
		{"one cell", 1, 1, 1},
		{"more keys than cells", 100, 1000, 1},
		{"rates below any float64", 1 << 20, 64, 11357},
		{"more than an int32", 1 << 63, 1, math.MaxInt32},
	} {
		if got := BestK(c.m, c.n); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	fixture.WantPanic(t, "m=0", func() { BestK(0, 1) })
}

func TestSizeHasNoBetterNeighbor(t *testing.T) {
	check := func(t rapid.TB, n uint64, p float64) {
		t.Helper()
		m, k, err := Size(n, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := FPRate(m, k, n); got > p {
			t.Fatalf("Size(%d, %g) = %d, %d: rate %g is too high", n, p, m, k, got)
		}
		for other := 1; m > 1 && other < 2*k+8; other++ {
			if got := FPRate(m-1, other, n); got <= p {
				t.Fatalf("Size(%d, %g) = %d, %d; but %d cells with k=%d have %g", n, p, m, k, m-1, other, got)
			}
			if other < k && FPRate(m, other, n) <= p {
				t.Fatalf("Size(%d, %g) = %d, %d; but k=%d is enough", n, p, m, k, other)
			}
		}
		if same, err := SizeForK(n, k, p); same != m || err != nil {
			t.Fatalf("SizeForK(%d, %d, %g) = %d, %v, Size has %d", n, k, p, same, err, m)
		}
	}
	for n := range uint64(40) {
		for _, p := range []float64{0.999, 0.9, 0.6, 0.5, 0.3, 0.25, 0.1, 0.01, 1e-3, 1e-6, 1e-12} {
			check(t, n+1, p)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n, p := drawGoal(t, 1<<45)
		check(t, n, p)
	})
}

// Printed in nearly every text on the subject: 9.585 bits per key and k=7 for one
// percent. The least m is 9.593 n, since k is whole.
func TestBloomOnePercent(t *testing.T) {
	m, k, err := Size(1_000_000, 0.01)
	if err != nil || k != 7 || m < 9_592_900 || m > 9_593_000 {
		t.Errorf("got m=%d k=%d %v, want 9592956 and 7", m, k, err)
	}
}

func TestSizeForKClosedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p := drawGoal(t, 1<<30)
		k := rapid.IntRange(1, 40).Draw(t, "k")
		got, err := SizeForK(n, k, p)
		want := -1 / math.Expm1(math.Log1p(-math.Pow(p, 1/float64(k)))/(float64(k)*float64(n)))
		if want > maxCells/2 {
			t.Skip("too large")
		}
		if err != nil || float64(got) < want*(1-1e-9)-1 {
			t.Fatalf("got %d, %v, want at least %g", got, err, want)
		}
		if n > uint64(100*k) && float64(got) > 1+want*(1+1e-9) {
			t.Fatalf("got %d, want about %g", got, want)
		}
	})
}

func TestSizeErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"no keys", func() error { _, _, err := Size(0, 0.1); return err }},
		{"p=0", func() error { _, _, err := Size(1, 0); return err }},
		{"p=1", func() error { _, _, err := Size(1, 1); return err }},
		{"p=2", func() error { _, _, err := Size(1, 2); return err }},
		{"p<0", func() error { _, _, err := Size(1, -0.1); return err }},
		{"p=NaN", func() error { _, _, err := Size(1, math.NaN()); return err }},
		{"p=Inf", func() error { _, _, err := Size(1, math.Inf(1)); return err }},
		{"too many keys", func() error { _, _, err := Size(math.MaxUint64, 0.01); return err }},
		{"too many cells for k=1", func() error { _, err := SizeForK(1e12, 1, 1e-9); return err }},
		{"k=0", func() error { _, err := SizeForK(1, 0, 0.1); return err }},
		{"partitioned, no keys", func() error { _, _, err := PartitionedSize(0, 0.1); return err }},
		{"partitioned, k=-1", func() error { _, err := PartitionedSizeForK(1, -1, 0.1); return err }},
		{"partitioned, too many", func() error { _, _, err := PartitionedSize(math.MaxUint64, 0.01); return err }},
		{"blocked, p=NaN", func() error { _, _, err := BlockedDesignForRate(math.NaN()); return err }},
		{"blocked, too many", func() error { _, err := BlockedSize(math.MaxUint64, 3, 2, 0.01); return err }},
		{"split block, p=1", func() error { _, err := SplitBlockSize(1, 1); return err }},
		{"split block, too many", func() error { _, err := SplitBlockSize(math.MaxUint64, 1e-9); return err }},
	} {
		if err := c.call(); !errors.Is(err, ErrRange) {
			t.Errorf("%s: %v, want ErrRange", c.name, err)
		}
	}
}

func TestCapacityHasNoBetterNeighbor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, 1<<45).Draw(t, "m")
		k := rapid.IntRange(1, 40).Draw(t, "k")
		p := math.Exp(-rapid.Float64Range(0.001, 30).Draw(t, "ln 1/p"))
		n := Capacity(m, k, p)
		if got := FPRate(m, k, n); got > p {
			t.Fatalf("%d keys have a rate of %g", n, got)
		}
		if got := FPRate(m, k, n+1); got <= p {
			t.Fatalf("%d keys have a rate of %g", n+1, got)
		}
	})
}

func TestCapacityUndoesSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p := drawGoal(t, 1<<40)
		m, k, err := Size(n, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := Capacity(m, k, p); got < n || float64(got) > float64(n)*1.0001+10 {
			t.Fatalf("m=%d k=%d for %d keys, Capacity has %d", m, k, n, got)
		}
	})
}

func TestCapacityEdges(t *testing.T) {
	for _, c := range []struct {
		name string
		m    uint64
		p    float64
		want uint64
	}{
		{"p=0", 1000, 0, 0},
		{"p=NaN", 1000, math.NaN(), 0},
		{"not even one key", 10, 1e-9, 0},
		{"p=1", 1000, 1, math.MaxUint64},
		{"2^63 cells, most of them set", 1 << 63, 0.9, math.MaxUint64},
	} {
		if got := Capacity(c.m, 1, c.p); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	fixture.WantPanic(t, "m=0", func() { Capacity(0, 1, 0.1) })
}

func BenchmarkSize(b *testing.B) {
	for _, n := range []uint64{1e3, 1e6, 1e9} {
		b.Run(fmt.Sprintf("plain/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				Size(n, 0.001)
			}
		})
		b.Run(fmt.Sprintf("partitioned/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				PartitionedSize(n, 0.001)
			}
		})
		b.Run(fmt.Sprintf("blocked/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				BlockedSize(n, 4, 2, 0.001)
			}
		})
	}
}

// Almeida et al. 2007: the rate of k slices, and the capacities of the
// slices of a scalable filter (recomputed).
func TestAlmeidaSlices(t *testing.T) {
	if got := PartitionedFPRate(64, 4, 8); !fixture.Near(got, .02645020268, 1e-9) {
		t.Errorf("m=64 k=4 n=8: %.11g, want .02645020268", got)
	}
	slice, p := uint64(1000), 0.005
	for i, want := range []uint64{724, 1442, 2873, 5728, 11426, 22799, 45509, 90864} {
		k := 8 + i
		if got := PartitionedCapacity(slice*uint64(k), k, p); got != want {
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
		r, slice := newRand(2), newBits(c.m/uint64(c.k))
		var rate sample
		for range c.trials {
			product := 1.0
			for range c.k {
				slice.clear()
				slice.addKeys(r, 1, c.n)
				product *= float64(slice.ones) / float64(len(slice.cells))
			}
			rate.add(product)
		}
		rate.wantMean(t, PartitionedFPRate(c.m, c.k, c.n), 0)
	}
}

func TestPartitionedSizeHasNoBetterNeighbor(t *testing.T) {
	check := func(t rapid.TB, n uint64, p float64) {
		t.Helper()
		m, k, err := PartitionedSize(n, p)
		if err != nil {
			t.Fatal(err)
		}
		if m%uint64(k) != 0 || PartitionedFPRate(m, k, n) > p {
			t.Fatalf("PartitionedSize(%d, %g) = %d, %d: rate %g", n, p, m, k, PartitionedFPRate(m, k, n))
		}
		for other := 1; other < 5*k+8; other++ {
			smaller := (m - 1) / uint64(other) * uint64(other)
			if smaller > 0 && PartitionedFPRate(smaller, other, n) <= p {
				t.Fatalf("PartitionedSize(%d, %g) = %d, %d; but %d cells with k=%d are enough", n, p, m, k, smaller, other)
			}
		}
		if same, err := PartitionedSizeForK(n, k, p); same != m || err != nil {
			t.Fatalf("PartitionedSizeForK(%d, %d, %g) = %d, %v, want %d", n, k, p, same, err, m)
		}
		if got := PartitionedCapacity(m, k, p); got < n {
			t.Fatalf("PartitionedCapacity(%d, %d, %g) = %d, want at least %d", m, k, p, got, n)
		}
	}
	for n := range uint64(60) {
		for _, p := range []float64{0.999, 0.9, 0.5, 0.3, 0.1, 0.02, 0.01, 1e-3, 1e-6, 1e-12} {
			check(t, n+1, p)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n, p := drawGoal(t, 1<<45)
		check(t, n, p)
	})
}

func TestPartitionedEdges(t *testing.T) {
	if got := PartitionedFPRate(4, 4, 1); got != 1 {
		t.Errorf("slices of one cell with a key: %g, want 1", got)
	}
	if got := PartitionedFPRate(4, 4, 0); got != 0 {
		t.Errorf("no keys: %g, want 0", got)
	}
	if got := PartitionedCapacity(4000, 4, 1); got != math.MaxUint64 {
		t.Errorf("p=1: %d, want 2^64-1", got)
	}
	fixture.WantPanic(t, "m<k", func() { PartitionedFPRate(3, 4, 1) })
	fixture.WantPanic(t, "k=0", func() { PartitionedCapacity(3, 0, 0.1) })
}
