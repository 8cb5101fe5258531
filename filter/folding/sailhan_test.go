package folding_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// folder is a base that folds.
type folder interface {
	umbel.Filter
	umbel.Folder
}

// bases returns makers of bases of 30·w cells of every width and group, which fold by
// 2, 3 and 5.
func bases(t *testing.T) map[string]func(m uint64) folder {
	t.Helper()
	must := func(f folder, err error) folder {
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	return map[string]func(m uint64) folder{
		"bits":            func(m uint64) folder { return must(bloom.NewShape(bloom.Shape{M: m, K: 3})) },
		"bits in words":   func(m uint64) folder { return must(bloom.NewShape(bloom.Shape{M: m * 64, K: 3, Group: 6})) },
		"counters of 4":   func(m uint64) folder { return must(counting.NewShape(counting.Shape{M: m, K: 3})) },
		"counters in 64s": func(m uint64) folder { return must(counting.NewShape(counting.Shape{M: m * 64, K: 3, Group: 6})) },
		"counters of 16":  func(m uint64) folder { return must(counting.NewShape(counting.Shape{M: m, K: 3, Width: 16})) },
	}
}

// filled returns a base of a size with 400 keys, some of them several times.
func filled(make1 func(uint64) folder, m uint64) folder {
	f := make1(m)
	for i, d := range fixture.Digests(1, 400) {
		for range 1 + i%3 {
			f.Add(d)
		}
	}
	return f
}

func folded(t *testing.T, f folder, rs ...uint64) cells.Array {
	t.Helper()
	for _, r := range rs {
		if err := f.Fold(r); err != nil {
			t.Fatal(err)
		}
	}
	return f.State().Arrays[0]
}

// Sailhan and Stehr 2012, section III-A, lemma, equation (5): two elementary foldings
// in sequence are the composite folding by the product.
func TestSailhanLemma(t *testing.T) {
	for name, make1 := range bases(t) {
		for _, p := range [][2]uint64{{2, 3}, {3, 2}, {2, 5}, {5, 2}, {3, 5}, {5, 3}} {
			sequence := folded(t, filled(make1, 900), p[0], p[1])
			composite := folded(t, filled(make1, 900), p[0]*p[1])
			if !sequence.Equal(composite) {
				t.Errorf("%s: folded by %v isn't folded by %d", name, p, p[0]*p[1])
			}
		}
	}
}

// Sailhan and Stehr 2012, section III-A, theorem: sequences of elementary foldings are
// commutative and associative. All six orders of 2, 3 and 5, and all ways to join two
// of them, are the folding by 30, which is the filter built at a thirtieth.
func TestSailhanTheorem(t *testing.T) {
	for name, make1 := range bases(t) {
		want := filled(make1, 30).State().Arrays[0]
		for _, order := range [][]uint64{
			{2, 3, 5}, {2, 5, 3}, {3, 2, 5}, {3, 5, 2}, {5, 2, 3}, {5, 3, 2},
			{6, 5}, {5, 6}, {10, 3}, {3, 10}, {15, 2}, {2, 15}, {30},
		} {
			if got := folded(t, filled(make1, 900), order...); !got.Equal(want) {
				t.Errorf("%s: folded by %v isn't built at a thirtieth", name, order)
			}
		}
	}
}

// The fold by every factor is the filter built small: folds of a base of bits and of a base of
// counters have the same bits.
func TestFoldedByIsBuiltSmall(t *testing.T) {
	bits, counts := mustNew(t, planned(t, 12, 0)), mustCounting(t, planned(t, 12, 8))
	ds := fixture.Digests(1, 700)
	for _, d := range ds {
		bits.Add(d)
		counts.Add(d)
	}
	for _, r := range []uint64{1, 2, 3, 4, 5, 6, 30, 36, 96, 120960} {
		a, err := bits.FoldedBy(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := counts.FoldedBy(r)
		if err != nil {
			t.Fatal(err)
		}
		small, err := bloom.NewShape(bloom.Shape{M: 120960 / r, K: 4})
		if err != nil {
			t.Fatal(err)
		}
		small.AddAll(nil, ds)
		want := small.State().Arrays[0]
		if !a.State().Arrays[0].Equal(want) || !b.State().Arrays[0].Equal(want) {
			t.Errorf("by %d: not the filter built with %d cells", r, 120960/r)
		}
	}
	if _, err := bits.FoldedBy(11); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("by 11: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
	a, err := bits.FoldedBy(bits.Shape().M / size(bits))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := bits.Folded(); err != nil || !a.State().Arrays[0].Equal(b.State().Arrays[0]) {
		t.Errorf("the folded filter is not the base folded by its own factor: %v", err)
	}
}

// Sailhan and Stehr 2012, sections III and IV-C: the size to fold to, for bases of
// 10,080 and 15,120 cells. For 750 keys no divisor is inside the interval, and the next larger
// one is chosen.
func TestSailhanStehrPlanning(t *testing.T) {
	for _, c := range []struct {
		shape folding.Shape
		want  map[uint64]uint64 // keys: cells
	}{
		{planned(t, 1, 0), map[uint64]uint64{1000: 10080, 750: 10080, 500: 5040, 333: 3360, 200: 2016, 100: 1008, 50: 504}},
		{kept(t, folding.Shape{M: 15120, K: 2}, 0.02, 0.005), map[uint64]uint64{1000: 15120, 750: 15120, 500: 7560, 333: 5040, 200: 2520, 100: 1260, 50: 630}},
	} {
		for n, want := range c.want {
			if got := c.shape.FoldedSize(n); got != want {
				t.Errorf("%d cells, %d keys: a folded filter of %d cells, want %d", c.shape.M, n, got, want)
			}
		}
	}
}

// Sailhan and Stehr 2012, equations (1) and (4), corrected: the folded filter has the rate of a
// filter of its size; a base of 12 times the size keeps it close to the interval for every
// number of keys, while a base of just the size wastes a quarter.
func TestSailhanStehrOversize(t *testing.T) {
	for _, c := range []struct {
		oversize uint64
		want     float64 // mean size, in sizes that would do
	}{{1, 1.264}, {2, 1.137}, {12, 1.040}} {
		s := planned(t, 1, 0)
		switch c.oversize {
		case 2:
			s.M = 20160
		case 12:
			s.M = 131040
		}
		sum := 0.0
		for n := uint64(1); n <= 1000; n++ {
			least, err := plan.SizeForK(n, 4, 0.012)
			if err != nil {
				t.Fatal(err)
			}
			sum += float64(s.FoldedSize(n)) / float64(least)
		}
		if mean := sum / 1000; math.Abs(mean-c.want) > 0.02 {
			t.Errorf("oversize %d: faces are %.3f times as large as would do, want %.3f", c.oversize, mean, c.want)
		}
	}
}

func TestKeepRefuses(t *testing.T) {
	s := folding.Shape{M: 10080, K: 4}
	for _, c := range [][2]float64{{0.01, 0.01}, {0.01, 0.02}, {0.01, 0}, {0.01, -1}, {0.9, 0.1}, {math.NaN(), 0.1}, {0.1, math.NaN()}, {math.Inf(1), 1}} {
		if _, err := s.Keep(c[0], c[1]); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%v: %v, want an error that wraps %q", c, err, umbel.ErrGoal)
		}
	}
	s, err := s.Keep(0.01, 0.002)
	if err != nil {
		t.Fatal(err)
	}
	if low, high := s.Interval(); math.Abs(low-0.008) > 1e-12 || math.Abs(high-0.012) > 1e-12 {
		t.Errorf("the interval is %v to %v, want .008 to .012", low, high)
	}
}

func TestShapeCheck(t *testing.T) {
	good := planned(t, 1, 0)
	for name, change := range map[string]func(*folding.Shape){
		"no cells":             func(s *folding.Shape) { s.M = 0 },
		"no k":                 func(s *folding.Shape) { s.K = 0 },
		"too many k":           func(s *folding.Shape) { s.K = bloom.MaxK + 1 },
		"counters":             func(s *folding.Shape) { s.Width = 4 },
		"parts of words":       func(s *folding.Shape) { s.Group = 6 },
		"no interval":          func(s *folding.Shape) { s.Low, s.High = 0, 0 },
		"interval from zero":   func(s *folding.Shape) { s.Low = 0 },
		"interval of a point":  func(s *folding.Shape) { s.Low = s.High },
		"interval upside down": func(s *folding.Shape) { s.Low, s.High = s.High, s.Low },
		"a bad hasher":         func(s *folding.Shape) { s.Hasher.Alg = 200 },
	} {
		s := good
		change(&s)
		if _, err := folding.NewShape(s); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v, want an error that wraps %q", name, err, umbel.ErrGoal)
		}
	}
	for _, width := range []uint{0, 3, 5, 32} {
		s := good
		s.Width = width
		if _, err := folding.NewCountingShape(s); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("NewCounting with width %d: %v, want an error that wraps %q", width, err, umbel.ErrGoal)
		}
	}
}

// States that no filter has, in addition to those of filtertest.
func TestOpenRefuses(t *testing.T) {
	bits, counts := mustNew(t, planned(t, 1, 0)), mustCounting(t, planned(t, 1, 4))
	for name, c := range map[string]struct {
		change   func(*umbel.State)
		sentinel error
	}{
		"a factor that doesn't divide": {func(s *umbel.State) { s.Params[0].Value = umbel.Uint(11) }, umbel.ErrCorrupt},
		"a fold by 0":                  {func(s *umbel.State) { s.Params[0].Value = umbel.Uint(0) }, umbel.ErrCorrupt},
		"low above high":               {func(s *umbel.State) { s.Params[1].Value = s.Params[2].Value }, umbel.ErrCorrupt},
		"low is 0":                     {func(s *umbel.State) { s.Params[1].Value = umbel.Uint(0) }, umbel.ErrCorrupt},
		"a face too":                   {func(s *umbel.State) { s.Parts = append(s.Parts, s.Parts[0].Clone()) }, umbel.ErrCorrupt},
		"a base that is folding":       {func(s *umbel.State) { s.Parts[0] = s.Clone() }, umbel.ErrCorrupt},
		"a base of bits and k = 0":     {func(s *umbel.State) { s.Parts[0].Params[0].Value = umbel.Uint(0) }, umbel.ErrCorrupt},
		"a base that counts":           {func(s *umbel.State) { s.Parts[0] = counts.State().Parts[0].Clone() }, umbel.ErrKind},
		"another kind":                 {func(s *umbel.State) { s.Kind = bloom.Name }, umbel.ErrKind},
	} {
		s := bits.State().Clone()
		c.change(&s)
		if _, err := folding.Open(s); !errors.Is(err, c.sentinel) {
			t.Errorf("%s: %v, want an error that wraps %q", name, err, c.sentinel)
		}
	}
	if _, err := folding.OpenCounting(bits.State()); !errors.Is(err, umbel.ErrKind) {
		t.Errorf("OpenCounting of a base of bits: %v, want an error that wraps %q", err, umbel.ErrKind)
	}
	// The folded filter may have a size that this library would not choose.
	s := counts.State().Clone()
	s.Params[0].Value = umbel.Uint(10080)
	f, err := folding.OpenCounting(s)
	if err != nil {
		t.Fatal(err)
	}
	ds := fixture.Digests(1, 1000)
	for _, d := range ds {
		f.Add(d)
	}
	if !slices.ContainsFunc([]uint64{10080, 5040}, func(m uint64) bool { return m == size(f) }) || f.Stats().FPRate > 0.0121 {
		t.Errorf("a folded filter of %d cells with a rate of %v", size(f), f.Stats().FPRate)
	}
}

// Fold, then compress: one base of 192 cells per key with k = 2 serves all rates, each better
// than a plain filter of as many bits (docs/kinds/folding.md).
func TestFoldThenCompress(t *testing.T) {
	const n = 10_000
	for _, c := range []struct {
		r          uint64
		bits, rate float64
		gain       float64
	}{{1, 15.97, 1.07e-4, 4.3}, {2, 13.91, 4.25e-4, 3.0}, {4, 11.81, 0.001666, 2.07}, {6, 10.55, 0.00367, 1.72}, {12, 8.35, 0.0138, 1.31}, {24, 6.10, 0.0489, 1.09}} {
		m := 192 * n / c.r
		bits, rate := plan.Filter{M: m, K: 2}.WireBits(n).Mean/n, plan.Filter{M: m, K: 2}.FPRate(n)
		plain := math.Pow(0.5, bits*math.Ln2) // the least at a size, over all k
		t.Logf("by %2d: %3d cells and %5.2f bits a key, rate %.6f, %.2f times lower than plain", c.r, m/n, bits, rate, plain/rate)
		if math.Abs(bits-c.bits) > 0.006 || math.Abs(rate/c.rate-1) > 0.005 || math.Abs(plain/rate/c.gain-1) > 0.02 {
			t.Errorf("by %d: %.3f bits, rate %.3g, gain %.3f; want %.2f, %.3g, %.2f", c.r, bits, rate, plain/rate, c.bits, c.rate, c.gain)
		}
	}
}
