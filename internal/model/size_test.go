package model_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/model"
)

// entropyOf returns the entropy, in bits, of as many draws as counts sum to, by the
// frequencies in which they came: what a coder that is told them spends.
func entropyOf(counts map[uint64]int) float64 {
	total, h := 0, 0.0
	for _, n := range counts {
		total += n
	}
	for _, n := range counts {
		h -= float64(n) * math.Log2(float64(n)/float64(total))
	}
	return h
}

// given returns the entropy of the values of a, given those of b.
func given(a, b cells.Array) float64 {
	counts := map[uint64]map[uint64]int{}
	for i := range a.Len {
		if counts[b.Get(i)] == nil {
			counts[b.Get(i)] = map[uint64]int{}
		}
		counts[b.Get(i)][a.Get(i)]++
	}
	h := 0.0
	for _, c := range counts {
		h += entropyOf(c)
	}
	return h
}

// TestCounterSize holds counting filters against the entropy of a Poisson counter,
// recomputed for the tables of Mitzenmacher 2002.
func TestCounterSize(t *testing.T) {
	for _, test := range []struct {
		cells uint64
		k     int
		want  float64 // bits per counter
	}{{8, 5, 1.505}, {16, 11, 1.579}, {14, 2, .617}, {48, 3, .342}, {92, 1, .0866}} {
		t.Run(fmt.Sprintf("m/n=%d,k=%d", test.cells, test.k), func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, uint64(test.k)))
			const m, trials = 1 << 17, 10 // 64 KiB
			var c model.Coder
			var bits, entropy float64
			for range trials {
				a := newArray(t, m, 4)
				throw(r, a, m/test.cells*uint64(test.k))
				bits += 8 * float64(len(c.Append(nil, a)))
				entropy += given(a, newArray(t, m, 1))
			}
			t.Logf("%.4f bits per counter, entropy %.4f, %.2f bytes more", bits/trials/m, entropy/trials/m, (bits-entropy)/trials/8)
		})
	}
}

func TestDeltaSize(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const m, n, k, changed, trials = 320000, 10000, 2, 500, 60
	var c model.Coder
	bytes, entropy := 0.0, 0.0
	for range trials {
		rest, gone, come := newArray(t, m, 1), newArray(t, m, 1), newArray(t, m, 1)
		throw(r, rest, (n-changed)*k)
		throw(r, gone, changed*k)
		throw(r, come, changed*k)
		if err := gone.Max(rest); err != nil {
			t.Fatal(err)
		}
		if err := come.Max(rest); err != nil {
			t.Fatal(err)
		}
		bytes += float64(len(c.AppendDelta(nil, gone, come)))
		entropy += given(come, gone) / 8
	}
	t.Logf("%.2f bytes, entropy %.2f", bytes/trials, entropy/trials)
}

func TestCounterDeltaSize(t *testing.T) {
	for _, test := range []struct {
		cells, k uint64
		churn    float64
	}{{8, 5, .05}, {8, 5, .01}, {8, 5, .5}, {14, 2, .05}, {48, 3, .01}} {
		r := rand.New(rand.NewPCG(6, 6))
		const m, trials = 1 << 17, 5
		n := m / test.cells
		changed := uint64(test.churn * float64(n))
		var c model.Coder
		bytes, entropy, alone := 0.0, 0.0, 0.0
		for range trials {
			old, now, come := newArray(t, m, 4), newArray(t, m, 4), newArray(t, m, 4)
			throw(r, now, (n-changed)*test.k)
			throw(r, old, changed*test.k)
			throw(r, come, changed*test.k)
			old.Sum(now)
			now.Sum(come)
			bytes += float64(len(c.AppendDelta(nil, old, now)))
			alone += float64(len(c.Append(nil, now)))
			entropy += given(now, old) / 8
		}
		t.Logf("%+v: %.2f bytes, entropy %.2f, alone %.2f", test, bytes/trials, entropy/trials, alone/trials)
	}
}

func TestRefinementSize(t *testing.T) {
	for _, test := range []struct{ cells, k, r uint64 }{
		{192, 2, 2}, {96, 2, 2}, {32, 2, 2}, {96, 1, 2}, {64, 3, 2}, {192, 2, 3}, {192, 2, 4}, {192, 2, 6}, {192, 2, 12}, {32, 2, 5},
	} {
		r := rand.New(rand.NewPCG(7, 6))
		const trials = 5
		m := uint64(1<<19) / (64 * test.r) * (64 * test.r)
		n := m / test.cells
		var c model.Coder
		bytes, entropy := 0.0, 0.0
		for range trials {
			full := newArray(t, m, 1)
			throw(r, full, n*test.k)
			fold, _ := full.Fold(test.r, 64)
			bytes += float64(len(c.AppendRefinement(nil, full, test.r, 64, 0, fold.Len)))
			h := func(a cells.Array) float64 { return given(a, newArray(t, a.Len, 2)) / 8 }
			entropy += h(full) - h(fold)
		}
		t.Logf("%+v: %.2f bytes, entropy %.2f, %.4f bits a key", test, bytes/trials, entropy/trials, bytes/trials/float64(n)*8)
	}
}
