package model_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
)

// entropyOf returns the entropy of a's cells given those of b, in bytes, for their actual
// frequencies. A coder that knows these frequencies needs as many bytes. Cells have at most 4
// bits.
func entropyOf(a, b cells.Array) float64 {
	var counts [16][16]float64
	if a.Width == 1 {
		for i, w := range a.Words {
			counts[0][1] += float64(bits.OnesCount64(w &^ b.Words[i]))
			counts[1][0] += float64(bits.OnesCount64(b.Words[i] &^ w))
			counts[1][1] += float64(bits.OnesCount64(w & b.Words[i]))
		}
		counts[0][0] = float64(a.Len) - counts[0][1] - counts[1][0] - counts[1][1]
	} else {
		for i := range a.Len {
			counts[b.Get(i)][a.Get(i)]++
		}
	}
	h := 0.0
	for _, row := range counts {
		total := 0.0
		for _, n := range row {
			total += n
		}
		for _, n := range row {
			if n > 0 {
				h += n * math.Log2(total/n)
			}
		}
	}
	return h / 8
}

// alone returns the entropy of a's cells, in bytes.
func alone(a cells.Array) float64 {
	return entropyOf(a, cells.Array{Len: a.Len, Words: make([]uint64, len(a.Words))})
}

// size compares the means of code length and entropy.
type size struct{ trials, got, entropy float64 }

func (s *size) add(code []byte, entropy float64) {
	s.trials++
	s.got += float64(len(code))
	s.entropy += entropy
}

// check fails if the mean code length exceeds the entropy by more than a fraction of it and some
// bytes.
func (s *size) check(t *testing.T, part, bytes float64) {
	t.Helper()
	got, entropy := s.got/s.trials, s.entropy/s.trials
	t.Logf("%.1f bytes, entropy %.1f", got, entropy)
	if want := entropy*(1+part) + bytes; got > want {
		t.Errorf("%.1f bytes on average, want %.1f at most; the entropy is %.1f", got, want, entropy)
	}
}

// TestCounterSize compares codes of counting filters with the entropy of a Poisson counter of
// mean kn/m, for designs of Mitzenmacher 2002, tables I and II.
func TestCounterSize(t *testing.T) {
	const m, trials = 1 << 17, 4
	for _, test := range []struct {
		cells uint64 // per key
		k     uint64
		want  float64 // bits per counter, recomputed
	}{{8, 5, 1.505}, {16, 11, 1.579}, {14, 2, .617}, {48, 3, .342}, {92, 1, .0866}} {
		t.Run(fmt.Sprintf("m/n=%d,k=%d", test.cells, test.k), func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, test.k))
			var c model.Modeler
			var s size
			for range trials {
				a := newArray(t, m, 4)
				throw(r, a, m/test.cells*test.k)
				s.add(c.Append(nil, a), alone(a))
			}
			s.check(t, 1e-4, 8)
			if got := s.got / trials * 8 / m; math.Abs(got-test.want) > .002 {
				t.Errorf("%.4f bits per counter, want %.4f ± 0.002", got, test.want)
			}
		})
	}
}

// TestCounterSizeOfTails: no array takes much more than raw.
func TestCounterSizeOfTails(t *testing.T) {
	var c model.Modeler
	for _, content := range contents {
		for _, width := range []uint{2, 4, 8, 16, 32, 64} {
			r := rand.New(rand.NewPCG(4, 4))
			a := newArray(t, 1<<18/uint64(width), width)
			content.fill(r, a)
			if got, raw := len(c.Append(nil, a)), int(a.Bytes()); got > raw+raw/50 {
				t.Errorf("%s, %d bits: %d bytes, raw %d", content.name, width, got, raw)
			}
		}
	}
	// A few counters far above the others cost about what their bits do.
	r := rand.New(rand.NewPCG(4, 5))
	a := newArray(t, 1<<14, 32)
	throw(r, a, a.Len/2)
	without := len(c.Append(nil, a))
	for range 10 {
		a.Put(r.Uint64N(a.Len), r.Uint64()&a.Limit())
	}
	if got, want := len(c.Append(nil, a)), without+10*4+80; got > want {
		t.Errorf("ten large counters: %d bytes, want %d at most; without them %d", got, want, without)
	}
}

// churned returns an array before and after a fraction of its keys is replaced.
func churned(t *testing.T, r *rand.Rand, m uint64, width uint, n, changed, k uint64) (base, now cells.Array) {
	base, now = newArray(t, m, width), newArray(t, m, width)
	both := newArray(t, m, width)
	throw(r, both, (n-changed)*k)
	throw(r, base, changed*k)
	throw(r, now, changed*k)
	for _, a := range []cells.Array{base, now} {
		if err := a.Sum(both); err != nil {
			t.Fatal(err)
		}
	}
	return base, now
}

// TestDeltaSize replaces 5 % of the keys of a filter of Mitzenmacher 2002, table VI. Its
// exclusive-or takes 2090 bytes there; its entropy is 2077 bytes.
func TestDeltaSize(t *testing.T) {
	const trials = 30
	r := rand.New(rand.NewPCG(5, 5))
	var c model.Modeler
	var s size
	for range trials {
		base, now := churned(t, r, 320000, 1, 10000, 500, 2)
		s.add(c.AppendDelta(nil, base, now), entropyOf(now, base))
	}
	s.check(t, 1e-4, 4)
	// The standard deviation of one trial is 9.1 bytes: three sigmas are 5.
	if got := s.got / trials; math.Abs(got-1825) > 5 {
		t.Errorf("%.1f bytes, want 1825 ± 5", got)
	}
}

func TestCounterDeltaSize(t *testing.T) {
	const m, trials = 1 << 17, 4
	for _, test := range []struct {
		cells, k uint64
		churn    float64
		part     float64
	}{{8, 5, .01, .002}, {8, 5, .05, .003}, {8, 5, .5, .01}, {14, 2, .05, .002}, {48, 3, .01, .002}} {
		t.Run(fmt.Sprintf("m/n=%d,k=%d,churn=%v", test.cells, test.k, test.churn), func(t *testing.T) {
			r := rand.New(rand.NewPCG(6, test.k))
			var c model.Modeler
			var s size
			for range trials {
				n := m / test.cells
				base, now := churned(t, r, m, 4, n, uint64(test.churn*float64(n)), test.k)
				s.add(c.AppendDelta(nil, base, now), entropyOf(now, base))
			}
			s.check(t, test.part, 12)
		})
	}
}

// TestRefinementSize: a fold and its refinement together take as many bytes as the array. The
// refinement takes H(array) - H(fold), which for independent cells is H(array | fold).
func TestRefinementSize(t *testing.T) {
	const trials = 3
	for _, test := range []struct {
		cells, k, r uint64
		least, most float64 // bits per key, recomputed; 0 if not known
	}{
		{192, 2, 2, 2.05, 2.23}, {96, 2, 2, 2.1, 2.23}, {32, 2, 2, 2.1, 2.23}, {96, 1, 2, 1.03, 1.08}, {64, 3, 2, 3.2, 3.4},
		{192, 2, 3, 0, 9}, {192, 2, 4, 0, 9}, {192, 2, 12, 0, 9}, {32, 2, 5, 0, 9},
	} {
		t.Run(fmt.Sprintf("m/n=%d,k=%d,r=%d", test.cells, test.k, test.r), func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, test.r))
			m := model.RefinementCells(test.r) * test.r
			n := m / test.cells
			var c model.Modeler
			var s size
			for range trials {
				full := newArray(t, m, 1)
				throw(r, full, n*test.k)
				fold, err := full.Fold(test.r, 64)
				if err != nil {
					t.Fatal(err)
				}
				s.add(c.AppendRefinement(nil, full, test.r, 64, 0, fold.Len), alone(full)-alone(fold))
			}
			s.check(t, 1e-3, float64(test.r)+1)
			if got := s.got / trials * 8 / float64(n); got < test.least || got > test.most {
				t.Errorf("%.3f bits per key, want %.2f to %.2f", got, test.least, test.most)
			}
		})
	}
}
