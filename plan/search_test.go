package plan

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/fixture"
)

// Recomputed from Mitzenmacher 2002, sections II and III, in the limit of many keys: the
// least rate for z bits sent and at most limit cells a key, k up to 16, and the largest
// number of cells for 10^4 keys.
func TestLeastRate(t *testing.T) {
	const n = 10_000_000
	for _, c := range []struct {
		z, limit        float64
		k               int
		perKey, used, p float64
		m               uint64
	}{
		{4, 4, 3, 4, 3.9911823, 0.1468916, 40000},
		{4, 5, 7, 4.9785684, 4, 0.13968973, 49785},
		{4, 6, 10, 5.8567183, 4, 0.13523613, 58567},
		{4, 7, 14, 6.9975037, 4, 0.13078171, 69975},
		{4, 8, 16, 7.5504511, 4, 0.12900284, 75504},
		{4, 12, 16, 7.5504511, 4, 0.12900284, 75504},
		{4, 16, 16, 7.5504511, 4, 0.12900284, 75504},
		{4, 32, 16, 7.5504511, 4, 0.12900284, 75504},
		{4, 64, 16, 7.5504511, 4, 0.12900284, 75504},
		{4, 256, 16, 7.5504511, 4, 0.12900284, 75504},
		{6, 6, 4, 6, 5.9968831, 0.056056671, 60000},
		{6, 7.5, 10, 7.3222554, 6, 0.052527208, 73222},
		{6, 9, 15, 8.7850775, 6, 0.049732363, 87850},
		{6, 10.5, 16, 9.0749906, 6, 0.049267241, 90749},
		{6, 12, 16, 9.0749906, 6, 0.049267241, 90749},
		{6, 18, 16, 9.0749906, 6, 0.049267241, 90749},
		{6, 24, 1, 24, 5.9039097, 0.040810543, 240000},
		{6, 48, 1, 25.55236, 6, 0.038379434, 255523},
		{6, 96, 1, 25.55236, 6, 0.038379434, 255523},
		{6, 384, 1, 25.55236, 6, 0.038379434, 255523},
		{8, 8, 6, 8, 7.9823646, 0.021577141, 80000},
		{8, 10, 14, 9.9571368, 8, 0.01951322, 99571},
		{8, 12, 16, 10.543174, 8, 0.01906534, 105431},
		{8, 14, 2, 14, 7.9231433, 0.017721494, 140000},
		{8, 16, 2, 14.336565, 8, 0.016954634, 143365},
		{8, 24, 2, 14.336565, 8, 0.016954634, 143365},
		{8, 32, 2, 14.336565, 8, 0.016954634, 143365},
		{8, 64, 1, 64, 7.3848652, 0.015503563, 640000},
		{8, 128, 1, 96.914657, 8, 0.010265305, 969146},
		{8, 512, 1, 96.914657, 8, 0.010265305, 969146},
		{10, 10, 7, 10, 9.9996636, 0.0081937221, 100000},
		{10, 12.5, 16, 12.010707, 10, 0.0074282856, 120107},
		{10, 15, 3, 14.27541, 10, 0.0068091535, 142754},
		{10, 17.5, 3, 14.27541, 10, 0.0068091535, 142754},
		{10, 20, 3, 14.27541, 10, 0.0068091535, 142754},
		{10, 30, 2, 26.827856, 10, 0.00516075, 268278},
		{10, 40, 2, 26.827856, 10, 0.00516075, 268278},
		{10, 80, 2, 26.827856, 10, 0.00516075, 268278},
		{10, 160, 2, 26.827856, 10, 0.00516075, 268278},
		{10, 640, 1, 380.15993, 10, 0.0026270152, 3801599},
		{12, 12, 8, 12, 11.993766, 0.0031423503, 120000},
		{12, 15, 16, 13.507729, 12, 0.0029025742, 135077},
		{12, 18, 4, 15.523749, 12, 0.0026622417, 155237},
		{12, 21, 3, 21, 11.884715, 0.0023591224, 210000},
		{12, 24, 3, 21.504848, 12, 0.0022076622, 215048},
		{12, 36, 3, 21.504848, 12, 0.0022076622, 215048},
		{12, 48, 2, 48, 11.807819, 0.0016655004, 480000},
		{12, 96, 2, 51.10472, 12, 0.001472981, 511047},
		{12, 192, 2, 51.10472, 12, 0.001472981, 511047},
		{12, 768, 1, 768, 11.020481, 0.001301236, 7680000},
		{16, 16, 11, 16, 15.99963, 0.00045871073, 160000},
		{16, 20, 6, 18.982008, 16, 0.00039615631, 189820},
		{16, 24, 5, 21.929108, 16, 0.00035228236, 219291},
		{16, 28, 4, 28, 15.846287, 0.00031405133, 280000},
		{16, 32, 4, 28.67313, 16, 0.00028745961, 286731},
		{16, 48, 3, 48, 15.828981, 0.00022240113, 480000},
		{16, 64, 3, 49.786489, 16, 0.00019997341, 497864},
		{16, 128, 3, 49.786489, 16, 0.00019997341, 497864},
		{16, 256, 2, 193.82931, 16, 0.00010537649, 1938293},
		{16, 1024, 2, 193.82931, 16, 0.00010537649, 1938293},
		{20, 20, 14, 20, 19.999327, 6.7137081e-05, 200000},
		{20, 25, 7, 24.891838, 20, 5.3191264e-05, 248918},
		{20, 30, 6, 28.55082, 20, 4.6364572e-05, 285508},
		{20, 35, 5, 35, 19.807858, 4.1807173e-05, 350000},
		{20, 40, 5, 35.841413, 20, 3.7430104e-05, 358414},
		{20, 60, 4, 53.655711, 20, 2.663334e-05, 536557},
		{20, 80, 4, 53.655711, 20, 2.663334e-05, 536557},
		{20, 160, 3, 118.88046, 20, 1.5474888e-05, 1188804},
		{20, 320, 3, 118.88046, 20, 1.5474888e-05, 1188804},
		{20, 1280, 2, 760.31986, 20, 6.9012089e-06, 7603198},
	} {
		cells := func(n float64) uint64 { return uint64(math.Round(c.limit * n)) }
		got, err := CompressedSearch{Keys: n, Cells: cells(n), Dense: true}.MinFPRate(c.z * n)
		if err != nil || got.K != c.k || !fixture.Near(float64(got.M)/n, c.perKey, 2e-6) || !fixture.Near(got.WireBits(n).Mean/n, c.used, 2e-6) || !fixture.Near(got.FPRate(n), c.p, 2e-6) {
			t.Errorf("z/n=%g, m/n<=%g: got %+v, %v, want k=%d, %g cells, %g bits, rate %g", c.z, c.limit, got, err, c.k, c.perKey, c.used, c.p)
		}
		few, err := CompressedSearch{Keys: 1e4, Cells: cells(1e4), Dense: true}.MinFPRate(c.z * 1e4)
		if err != nil || few.K != c.k || math.Abs(float64(few.M)-float64(c.m)) > 10+2e-5*float64(c.m) {
			t.Errorf("z/n=%g, m/n<=%g with 10^4 keys: got %+v, %v, want k=%d and %d cells", c.z, c.limit, few, err, c.k, c.m)
		}
	}
}

// TestLeastSent: the fewest bits per key that are sent for a rate, with at most limit cells per
// key (recomputed).
func TestLeastSent(t *testing.T) {
	const n = 10_000_000
	for _, c := range []struct {
		p, limit  float64
		k         int
		perKey, z float64
	}{
		{0.1, 16, 1, 9.4912216, 4.4513411},
		{0.1, 32, 1, 9.4912216, 4.4513411},
		{0.1, 64, 1, 9.4912216, 4.4513411},
		{0.1, 128, 1, 9.4912216, 4.4513411},
		{0.1, 256, 1, 9.4912216, 4.4513411},
		{0.1, 1024, 1, 9.4912216, 4.4513411},
		{0.1, 0, 1, 9.4912216, 4.4513411},
		{0.0216, 16, 2, 12.581794, 7.576806},
		{0.0216, 32, 2, 12.581794, 7.576806},
		{0.0216, 64, 1, 45.794477, 6.8843857},
		{0.0216, 128, 1, 45.794477, 6.8843857},
		{0.0216, 256, 1, 45.794477, 6.8843857},
		{0.0216, 1024, 1, 45.794477, 6.8843857},
		{0.0216, 0, 1, 45.794477, 6.8843857},
		{0.01, 16, 3, 12.364167, 9.2948823},
		{0.01, 32, 2, 18.982443, 8.9026822},
		{0.01, 64, 2, 18.982443, 8.9026822},
		{0.01, 128, 1, 99.499162, 8.0388494},
		{0.01, 256, 1, 99.499162, 8.0388494},
		{0.01, 1024, 1, 99.499162, 8.0388494},
		{0.01, 0, 1, 99.499162, 8.0388494},
		{0.001, 16, 6, 15.784057, 14.209313},
		{0.001, 32, 3, 28.473665, 13.354023},
		{0.001, 64, 2, 62.240198, 12.601514},
		{0.001, 128, 2, 62.240198, 12.601514},
		{0.001, 256, 2, 62.240198, 12.601514},
		{0.001, 1024, 1, 999.49992, 11.402053},
		{0.001, 0, 1, 999.49992, 11.402053},
		{0.000459, 16, 11, 15.998681, 15.998319},
		{0.000459, 32, 4, 25.275205, 15.182363},
		{0.000459, 64, 3, 37.371045, 14.650017},
		{0.000459, 128, 2, 92.348396, 13.793573},
		{0.000459, 256, 2, 92.348396, 13.793573},
		{0.000459, 1024, 2, 92.348396, 13.793573},
		{0.000459, 0, 1, 2178.1492, 12.528706},
		{0.0001, 32, 5, 28.976004, 18.27468},
		{0.0001, 64, 3, 63.121159, 17.104082},
		{0.0001, 128, 3, 63.121159, 17.104082},
		{0.0001, 256, 2, 198.99832, 16.077699},
		{0.0001, 1024, 2, 198.99832, 16.077699},
		{0.0001, 0, 1, 9999.5, 14.729599},
		{1e-06, 32, 12, 31.568114, 28.418627},
		{1e-06, 64, 6, 56.947329, 26.708047},
		{1e-06, 128, 4, 124.4804, 25.203027},
		{1e-06, 256, 4, 124.4804, 25.203027},
		{1e-06, 1024, 3, 298.49749, 24.116548},
		{1e-06, 0, 1, 999999.5, 21.374252},
	} {
		got, err := CompressedSearch{Keys: n, Cells: uint64(c.limit * n), Dense: true}.MinBits(c.p)
		if err != nil || got.K != c.k || !fixture.Near(float64(got.M)/n, c.perKey, 2e-6) || !fixture.Near(got.WireBits(n).Mean/n, c.z, 2e-6) || got.FPRate(n) > c.p {
			t.Errorf("rate %g, m/n<=%g: got %+v, %v, want k=%d, %g cells, %g bits", c.p, c.limit, got, err, c.k, c.perKey, c.z)
		}
	}
	if got, err := (CompressedSearch{Keys: n, Cells: 16 * n, Dense: true}).MinBits(1e-4); !errors.Is(err, ErrRange) {
		t.Errorf("rate 1e-4 with 16 cells a key: %+v, %v, want ErrRange", got, err)
	}
}

// bitsOf returns the size of deltas of n keys, or without churn that of whole filters, by filter.
func bitsOf(n uint64, churn float64, xor bool) func(f Filter) float64 {
	return func(f Filter) float64 {
		switch {
		case churn == 0:
			return f.WireBits(n).Mean
		case xor:
			return f.XORDeltaBits(n, churn).Mean
		}
		return f.DeltaBits(n, churn).Mean
	}
}

// Recomputed from Mitzenmacher 2002, section IV, and for deltas that are coded with
// the old filter: the least rate for z bits of delta, and the least delta for a rate.
func TestDeltaSearch(t *testing.T) {
	const n = 10_000_000
	type row struct {
		goal, churn, limit float64
		xor                bool
		k                  int
		perKey, z, p       float64
	}
	check := func(name string, c row, got Filter, err error) {
		t.Helper()
		if err != nil || got.K != c.k || !fixture.Near(float64(got.M)/n, c.perKey, 5e-6) || !fixture.Near(bitsOf(n, c.churn, c.xor)(got)/n, c.z, 5e-6) || !fixture.Near(got.FPRate(n), c.p, 5e-6) {
			t.Errorf("%s %+v: got %+v, %v", name, c, got, err)
		}
	}
	search := func(c row) CompressedSearch {
		return CompressedSearch{Keys: n, Cells: uint64(c.limit * n), Bits: bitsOf(n, c.churn, c.xor), Dense: true}
	}
	for _, c := range []row{
		{1.6713, 0.05, 12, true, 3, 12, 1.6532242, 0.010823077},
		{1.6713, 0.05, 12, false, 3, 12, 1.5893525, 0.010823077},
		{1.6713, 0.05, 32, true, 2, 32, 1.6606926, 0.003670777},
		{1.6713, 0.05, 32, false, 2, 32, 1.4576954, 0.003670777},
		{1.6713, 0.05, 64, true, 2, 32.957747, 1.6713, 0.0034667587},
		{1.6713, 0.05, 64, false, 2, 64, 1.5996227, 0.00094659386},
		{1.6713, 0.05, 256, true, 2, 32.957747, 1.6713, 0.0034667587},
		{1.6713, 0.05, 256, false, 2, 94.934744, 1.6713, 0.00043458663},
		{0.4624, 0.01, 16, true, 3, 13.747251, 0.4624, 0.0075359717},
		{0.4624, 0.01, 16, false, 3, 15.638867, 0.4624, 0.005318376},
		{0.4624, 0.01, 48, true, 2, 48, 0.45000973, 0.0016655004},
		{0.4624, 0.01, 48, false, 2, 48, 0.39858372, 0.0016655004},
		{0.4624, 0.01, 256, true, 2, 57.160105, 0.4624, 0.001182286},
		{0.4624, 0.01, 256, false, 2, 256, 0.45980736, 6.0560485e-05},
		{1, 0.05, 32, true, 1, 32, 0.94994452, 0.030766766},
		{1, 0.05, 32, false, 1, 32, 0.79981134, 0.030766766},
		{3, 0.1, 64, true, 2, 34.831125, 3, 0.0031139179},
		{3, 0.1, 64, false, 2, 64, 2.8026642, 0.00094659386},
	} {
		got, err := search(c).MinFPRate(c.goal * n)
		check("least rate", c, got, err)
	}
	for _, c := range []row{
		{0.0217, 0.05, 13, true, 2, 12.550336, 1.2977548, 0.0217},
		{0.0217, 0.05, 13, false, 2, 12.550336, 1.2117401, 0.0217},
		{0.0217, 0.05, 64, true, 1, 45.581121, 1.0076716, 0.0217},
		{0.0217, 0.05, 64, false, 1, 45.581121, 0.83207687, 0.0217},
		{0.0217, 0.01, 13, true, 2, 12.550336, 0.33962209, 0.0217},
		{0.0217, 0.01, 13, false, 2, 12.550336, 0.32263497, 0.0217},
		{0.0217, 0.01, 64, true, 1, 45.581121, 0.24706048, 0.0217},
		{0.0217, 0.01, 64, false, 1, 45.581121, 0.21219271, 0.0217},
		{0.0037, 0.05, 32, true, 2, 31.869339, 1.6592174, 0.0037},
		{0.0037, 0.05, 32, false, 2, 31.869339, 1.456778, 0.0037},
		{0.0037, 0.05, 300, true, 1, 269.76996, 1.279671, 0.0037},
		{0.0037, 0.05, 300, false, 1, 269.76996, 0.97484048, 0.0037},
		{0.001, 0.05, 64, true, 2, 62.240198, 1.8906261, 0.001},
		{0.001, 0.05, 64, false, 2, 62.240198, 1.5943492, 0.001},
		{0.001, 0.01, 1024, true, 1, 999.49992, 0.34071824, 0.001},
		{0.001, 0.01, 1024, false, 1, 999.49992, 0.26105398, 0.001},
	} {
		got, err := search(c).MinBits(c.goal)
		check("least sent", c, got, err)
	}
}

// The dense branch: with 8 bits a key, at most 16 cells and k up to 64 the optimum
// compresses because most cells are ones. Without Dense it isn't taken.
func TestDenseBranch(t *testing.T) {
	const n = 1_000_000
	s := CompressedSearch{Keys: n, Cells: 16 * n, MaxK: 64}
	for _, c := range []struct {
		dense bool
		k     int
		p     float64
	}{{true, 35, .0163366}, {false, 2, .0169546}} {
		s.Dense = c.dense
		got, err := s.MinFPRate(8 * n)
		if err != nil || got.K != c.k || !fixture.Near(got.FPRate(n), c.p, 1e-5) {
			t.Errorf("dense %v: %+v, %v, want k=%d and %g", c.dense, got, err, c.k, c.p)
		}
	}
}

// TestSearchHasNoBetterNeighbor: the result is inside the limits, one cell more exceeds them,
// and no other k is better.
func TestSearchHasNoBetterNeighbor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := CompressedSearch{
			Keys:  rapid.Uint64Range(1, 1<<40).Draw(t, "n"),
			Dense: rapid.Bool().Draw(t, "dense"),
			MaxK:  rapid.IntRange(1, 20).Draw(t, "max k"),
		}
		s.Bits = bitsOf(s.Keys, rapid.SampledFrom([]float64{0, 0, 0.001, 0.05, 1}).Draw(t, "churn"), rapid.Bool().Draw(t, "xor"))
		n := float64(s.Keys)
		s.Cells = uint64(n*rapid.Float64Range(1, 1000).Draw(t, "limit")) + 1
		bits := n*rapid.Float64Range(0.01, 30).Draw(t, "bits") + 4000
		got, err := s.MinFPRate(bits)
		if err != nil {
			t.Fatal(err)
		}
		if s.Bits(got) > bits || got.M > s.Cells || got.K > s.MaxK {
			t.Fatalf("%d keys in %v bits: %+v is beyond the limits", s.Keys, bits, got)
		}
		if got.M < s.Cells && s.Bits(Filter{got.M + 1, got.K}) <= bits {
			t.Fatalf("%d keys in %v bits: %+v, one cell more fits", s.Keys, bits, got)
		}
		p := got.FPRate(s.Keys)
		if p >= 1 {
			return
		}
		least, err := s.MinBits(p)
		if err != nil || least.FPRate(s.Keys) > p || least.M > s.Cells || s.Bits(least) > s.Bits(got)*(1+1e-9) {
			t.Fatalf("%d keys: %+v has that rate, MinBits gives %+v, %v", s.Keys, got, least, err)
		}
	})
}

// TestSizesRise: for each k the size rises with the number of cells, which the bisection
// requires.
func TestSizesRise(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		churn float64
		xor   bool
	}{{0, false}, {.05, false}, {.05, true}, {1, false}, {1, true}, {.001, true}, {.001, false}} {
		bitsOf := bitsOf(n, c.churn, c.xor)
		for k := 1; k <= 16; k++ {
			before := 0.0
			for m := uint64(n / 10); m < 1e12; m += m / 7 {
				bits := bitsOf(Filter{m, k})
				if bits < before*(1-1e-9) {
					t.Errorf("%+v: k=%d: %d cells take %g bits, fewer took %g", c, k, m, bits, before)
				}
				before = bits
			}
		}
	}
}

// TestPowersOfTwo: a search for powers of two finds the best of all of them.
func TestPowersOfTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<20).Draw(t, "n")
		s := CompressedSearch{Keys: n, PowerOfTwo: true, Cells: rapid.SampledFrom([]uint64{0, 64 * n}).Draw(t, "cells")}
		p := math.Exp(-rapid.Float64Range(.1, 12).Draw(t, "ln 1/p"))
		bits := float64(n)*rapid.Float64Range(1, 20).Draw(t, "bits") + 100
		fewest, lowest := math.Inf(1), math.Inf(1)
		for m := uint64(1); m != 0 && m <= s.cells(); m *= 2 {
			for k := 1; k <= min(s.maxK(), BestK(m, n)); k++ {
				f := Filter{m, k}
				if f.FPRate(n) <= p {
					fewest = min(fewest, f.WireBits(n).Mean)
				}
				if f.WireBits(n).Mean <= bits {
					lowest = min(lowest, f.FPRate(n))
				}
			}
		}
		check := func(f Filter, err error, got, want float64) {
			t.Helper()
			if math.IsInf(want, 1) {
				if err == nil {
					t.Fatalf("%+v, want an error", f)
				}
				return
			}
			if err != nil || f.M&(f.M-1) != 0 || !fixture.Near(got, want, 1e-9) {
				t.Fatalf("%+v with %v, %v, want %v", f, got, err, want)
			}
		}
		f, err := s.MinBits(p)
		check(f, err, s.bits(max1(f)), fewest)
		f, err = s.MinFPRate(bits)
		check(f, err, max1(f).FPRate(n), lowest)
	})
}

// max1 returns f, or a filter of one cell for none.
func max1(f Filter) Filter { return Filter{max(f.M, 1), max(f.K, 1)} }

func TestSearchErrors(t *testing.T) {
	for name, s := range map[string]CompressedSearch{
		"no keys":    {},
		"negative k": {Keys: 1, MaxK: -1},
		"few cells":  {Keys: 1000, Cells: 10},
	} {
		if f, err := s.MinBits(.01); !errors.Is(err, ErrRange) {
			t.Errorf("%s: %+v, %v, want ErrRange", name, f, err)
		}
	}
	for name, c := range map[string]struct {
		s    CompressedSearch
		bits float64
	}{
		"no bits": {CompressedSearch{Keys: 1000}, -1},
		"NaN":     {CompressedSearch{Keys: 1000}, math.NaN()},
		"no keys": {CompressedSearch{}, 100},
	} {
		if f, err := c.s.MinFPRate(c.bits); !errors.Is(err, ErrRange) {
			t.Errorf("%s: %+v, %v, want ErrRange", name, f, err)
		}
	}
	for _, p := range []float64{0, 1, math.NaN()} {
		if _, err := (CompressedSearch{Keys: 1}).MinBits(p); !errors.Is(err, ErrRange) {
			t.Errorf("rate %v: %v, want ErrRange", p, err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	b.Run("rate/n=10000", func(b *testing.B) {
		for b.Loop() {
			_, _ = CompressedSearch{Keys: 1e4}.MinFPRate(8e4)
		}
	})
	b.Run("sent/n=10000", func(b *testing.B) {
		for b.Loop() {
			_, _ = CompressedSearch{Keys: 1e4}.MinBits(.01)
		}
	})
}
