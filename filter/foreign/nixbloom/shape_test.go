package nixbloom_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

func digests(seed uint64, n int) []umbel.Digest {
	rng := rand.NewPCG(seed, 1)
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	return ds
}

// TestNixShape: m and k are those that a program in Python computes in doubles.
func TestNixShape(t *testing.T) {
	type goal struct {
		n uint64
		p float64
	}
	for g, want := range map[goal][2]uint64{
		{1, 0.5}:            {8, 6},
		{1, 0.01}:           {16, 11},
		{3, 0.1}:            {16, 4},
		{7, 1e-9}:           {304, 30},
		{10, 0.01}:          {96, 7},
		{100, 0.001}:        {1440, 10},
		{1000, 0.01}:        {9592, 7},
		{1000, 0.0001}:      {19176, 13},
		{12345, 0.003}:      {149264, 8},
		{100000, 0.0001}:    {1917016, 13},
		{1000000, 0.01}:     {9585064, 7},
		{1000000, 0.0001}:   {19170120, 13},
		{10000000, 0.0001}:  {191701168, 13},
		{300000000, 0.0001}: {5751035032, 13},
		{300000000, 0.01}:   {2875517520, 7},
		{1000000000, 1e-06}: {28755175136, 20},
	} {
		s, err := nixbloom.NixShape(g.n, g.p)
		if want := (nixbloom.Shape{M: want[0], K: int(want[1]), Hasher: nixbloom.NixHasher}); err != nil || s != want {
			t.Errorf("%d paths at %v: %+v, %v, want %+v", g.n, g.p, s, err, want)
		}
	}
	for _, g := range []goal{{0, 0.01}, {1, 0}, {1, 1}, {1, -1}, {1, math.NaN()}, {1, math.Inf(1)}, {1 << 62, 0.01}, {1, 1e-300}} {
		if s, err := nixbloom.NixShape(g.n, g.p); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%d paths at %v: %+v, %v, want ErrGoal", g.n, g.p, s, err)
		}
	}
}

// TestNew: New has the hasher of Nix, and sizes that fold.
func TestNew(t *testing.T) {
	f := fixture.Must(nixbloom.Kind.New(umbel.Goal{Keys: 1000, FPRate: 0.0001, Hasher: nixbloom.NixHasher}, nil)).(*nixbloom.Filter)
	if f.Hasher() != nixbloom.NixHasher || f.Shape().Forecast(1000).FPRate > 0.0001 {
		t.Errorf("%+v with a rate of %v", f.Shape(), f.Shape().Forecast(1000).FPRate)
	}
	if err := f.Fold(2); err != nil {
		t.Errorf("%+v: %v", f.Shape(), err)
	}
}

// TestRates: filters of Nix' shape have the forecast rate, within 3 % or 3 sigma. It is above the planned rate in
// small filters.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		n                uint64
		p                float64
		filters, queries int
	}{{100, 0.01, 1000, 5000}, {1000, 0.01, 100, 50_000}, {10_000, 0.001, 10, 200_000}} {
		s := fixture.Must(nixbloom.NixShape(c.n, c.p))
		var sum, squares float64
		for i := range c.filters {
			f := fixture.Must(nixbloom.NewShape(s))
			f.AddAll(nil, digests(uint64(2*i), int(c.n)))
			yes := 0
			for _, d := range digests(uint64(2*i+1), c.queries) {
				if f.Has(d) {
					yes++
				}
			}
			p := float64(yes) / float64(c.queries)
			sum, squares = sum+p, squares+p*p
		}
		n := float64(c.filters)
		got := sum / n
		sigma := max(math.Sqrt((squares/n-got*got)/(n-1)), math.Sqrt(got/n/float64(c.queries)))
		want := s.Forecast(c.n).FPRate
		t.Logf("%d paths at %v: measured %.4g, sigma %.2g, forecast %.4g", c.n, c.p, got, sigma, want)
		if math.Abs(got-want) > max(0.03*want, 3*sigma) {
			t.Errorf("%d paths at %v: measured %.4g with a sigma of %.2g, forecast %.4g", c.n, c.p, got, sigma, want)
		}
	}
}

// TestMergeOfSizes: filters of which one size divides the other merge at the smaller one.
func TestMergeOfSizes(t *testing.T) {
	make := func(m uint64) *nixbloom.Filter {
		return fixture.Must(nixbloom.NewShape(nixbloom.Shape{M: m, K: 3, Hasher: nixbloom.NixHasher}))
	}
	for _, sizes := range [][2]uint64{{240, 24}, {24, 240}, {240, 240}} {
		f, g, want := make(sizes[0]), make(sizes[1]), make(min(sizes[0], sizes[1]))
		f.AddAll(nil, digests(1, 3))
		g.AddAll(nil, digests(2, 3))
		want.AddAll(nil, append(digests(1, 3), digests(2, 3)...))
		if err := f.Merge(g.State()); err != nil || !f.State().Equal(want.State()) {
			t.Errorf("%d and %d cells: %v, or other cells", sizes[0], sizes[1], err)
		}
	}
	if err := make(240).Merge(make(160).State()); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("240 and 160 cells: %v, want ErrMismatch", err)
	}
}
