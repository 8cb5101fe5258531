package plan

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/planning"
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
			if (Filter{m, k}).FPRate(n) < (Filter{m, best}).FPRate(n)*(1-1e-12) {
				t.Fatalf("k=%d has %g, k=%d has %g", best, Filter{m, best}.FPRate(n), k, Filter{m, k}.FPRate(n))
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
		f, err := Size(n, p)
		m, k := f.M, f.K
		if err != nil {
			t.Fatal(err)
		}
		if got := (Filter{m, k}).FPRate(n); got > p {
			t.Fatalf("Size(%d, %g) = %d, %d: rate %g is too high", n, p, m, k, got)
		}
		for other := 1; m > 1 && other < 2*k+8; other++ {
			if got := (Filter{m - 1, other}).FPRate(n); got <= p {
				t.Fatalf("Size(%d, %g) = %d, %d; but %d cells with k=%d have %g", n, p, m, k, m-1, other, got)
			}
			if other < k && (Filter{m, other}).FPRate(n) <= p {
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
	f, err := Size(1_000_000, 0.01)
	m, k := f.M, f.K
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
		if want > planning.MaxCells/2 {
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
		{"no keys", func() error { _, err := Size(0, 0.1); return err }},
		{"p=0", func() error { _, err := Size(1, 0); return err }},
		{"p=1", func() error { _, err := Size(1, 1); return err }},
		{"p=2", func() error { _, err := Size(1, 2); return err }},
		{"p<0", func() error { _, err := Size(1, -0.1); return err }},
		{"p=NaN", func() error { _, err := Size(1, math.NaN()); return err }},
		{"p=Inf", func() error { _, err := Size(1, math.Inf(1)); return err }},
		{"too many keys", func() error { _, err := Size(math.MaxUint64, 0.01); return err }},
		{"too many cells for k=1", func() error { _, err := SizeForK(1e12, 1, 1e-9); return err }},
		{"k=0", func() error { _, err := SizeForK(1, 0, 0.1); return err }},
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
		n := Filter{m, k}.Capacity(p)
		if got := (Filter{m, k}).FPRate(n); got > p {
			t.Fatalf("%d keys have a rate of %g", n, got)
		}
		if got := (Filter{m, k}).FPRate(n + 1); got <= p {
			t.Fatalf("%d keys have a rate of %g", n+1, got)
		}
	})
}

func TestCapacityUndoesSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p := drawGoal(t, 1<<40)
		f, err := Size(n, p)
		m, k := f.M, f.K
		if err != nil {
			t.Fatal(err)
		}
		if got := (Filter{m, k}).Capacity(p); got < n || float64(got) > float64(n)*1.0001+10 {
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
		if got := (Filter{c.m, 1}).Capacity(c.p); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	fixture.WantPanic(t, "m=0", func() { Filter{0, 1}.Capacity(0.1) })
}

func BenchmarkSize(b *testing.B) {
	for _, n := range []uint64{1e3, 1e6, 1e9} {
		b.Run(fmt.Sprintf("plain/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				Size(n, 0.001)
			}
		})
	}
}
