package probe

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
)

// TestStreamRates measures the rate of half-full filters of packet sizes and above, relative to the
// exact rate of independent random positions (Bose et al. 2008). It also measures plain double hashing,
// H1 + i·H2, to show that it can distinguish the two. go test -v prints this table, with the standard
// deviation of the last digits:
//
//	    m   k   cells in a group   stream       plain
//	   64   4                  1   1.006(3)      1.05
//	  256   5                  1   0.999(2)      1.03
//	  256   8                  1   0.999(2)      1.4
//	  256  16                  1   1.00(1)      50
//	 1024  10                  1   1.000(3)      1.3
//	 1440  16                  1   0.99(1)       9.7
//	10080  10                  1   1.004(5)      1.03
//	 8192   7                 64   1.002(2)      1.02
func TestStreamRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few seconds, and many more under the race detector")
	}
	for _, c := range []struct {
		m       uint64
		k       int
		log     uint8
		lots    int     // of 64 filters
		queries int     // of each filter
		plain   float64 // the least ratio of double hashing
	}{
		{64, 4, 0, 200, 4000, 1},
		{256, 5, 0, 300, 4000, 1},
		{256, 8, 0, 400, 4000, 1.2},
		{256, 16, 0, 1500, 4000, 30},
		{1024, 10, 0, 300, 6000, 1.2},
		{1440, 16, 0, 1000, 6000, 5},
		{10080, 10, 0, 24, 40000, 0},
		{8192, 7, WordLog, 20, 20000, 0},
	} {
		t.Run(fmt.Sprintf("m=%d,k=%d", c.m, c.k), func(t *testing.T) {
			mapping := Mapping{Groups: c.m >> c.log, Log: c.log}
			n := int(math.Round(float64(c.m) * math.Ln2 / float64(c.k)))
			exact := independent(int(c.m), c.k, n)

			got := measure(c.m, n, c.lots, c.queries, func(dst []uint64, d umbel.Digest) []uint64 {
				return mapping.Append(dst, d, c.k)
			}).relative(exact)
			t.Logf("stream %v, exact rate %.3g with %d keys", got, exact, n)
			if got.sigma > 0.02 {
				t.Errorf("a sigma of %.4f is too much to tell", got.sigma)
			}
			if math.Abs(got.mean-1) > 4*got.sigma {
				t.Errorf("the stream's rate is %.4f of the exact one, %.1f sigma off", got.mean, (got.mean-1)/got.sigma)
			}

			plain := measure(c.m, n, c.lots/4, c.queries/4, func(dst []uint64, d umbel.Digest) []uint64 {
				for i := range uint64(c.k) {
					dst = append(dst, mapping.At(d.H1+i*d.H2))
				}
				return dst
			}).relative(exact)
			t.Logf("plain  %v", plain)
			if c.m == 256 && c.k == 16 {
				wantOneFactorWorse(t, mapping, n, c.k, exact)
			}
			if plain.mean < c.plain {
				t.Errorf("plain double hashing has a rate of %.3f of the exact one, want at least %g", plain.mean, c.plain)
			}
		})
	}
}

// wantOneFactorWorse measures a stream with only the first factor moving: at 256 cells and 16 values
// its rate is 1.5 times the exact one.
func wantOneFactorWorse(t *testing.T, mapping Mapping, n, k int, exact float64) {
	t.Helper()
	got := measure(mapping.Groups, n, 400, 3000, func(dst []uint64, d umbel.Digest) []uint64 {
		x := d.H1
		for range k {
			high, low := bits.Mul64(x, d.H2|1)
			dst = append(dst, mapping.At(high^low))
			x += step1
		}
		return dst
	}).relative(exact)
	t.Logf("one moving factor %v", got)
	if got.mean < 1.2 {
		t.Errorf("one moving factor has a rate of %.3f of the exact one, want at least 1.2", got.mean)
	}
}

// sample is a mean with its standard error, and the numbers of queries and of filters behind it.
type sample struct {
	mean, sigma      float64
	queries, filters int
}

func (s sample) relative(to float64) sample {
	s.mean /= to
	s.sigma /= to
	return s
}

func (s sample) String() string {
	return fmt.Sprintf("%.4f with a sigma of %.4f, from %d queries of %d filters", s.mean, s.sigma, s.queries, s.filters)
}

// measure returns the mean rate of filters of m cells with n keys, and its standard error. It makes and
// queries 64 filters at a time: bit j of cell i is cell i of filter j, and a query of all 64 takes as
// many ANDs as one.
func measure(m uint64, n, lots, queries int, positions func([]uint64, umbel.Digest) []uint64) sample {
	rng := rand.NewPCG(2026, m)
	cells := make([]uint64, m)
	var at []uint64
	var sum, squares float64
	for range lots {
		clear(cells)
		for range n {
			for j := range 64 {
				at = positions(at[:0], umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()})
				for _, i := range at {
					cells[i] |= 1 << j
				}
			}
		}
		yes := 0
		for range queries {
			at = positions(at[:0], umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()})
			all := ^uint64(0)
			for _, i := range at {
				all &= cells[i]
			}
			yes += bits.OnesCount64(all)
		}
		r := float64(yes) / float64(queries*64)
		sum += r
		squares += r * r
	}
	l := float64(lots)
	mean := sum / l
	return sample{mean, math.Sqrt((squares/l - mean*mean) / (l - 1)), lots * queries * 64, lots * 64}
}

// independent returns the exact rate of n keys at k random positions each among m:
// the mean of (X/m)^k over the number X of set cells, which grows by one with probability 1-X/m at each
// position.
func independent(m, k, n int) float64 {
	p := make([]float64, m+1)
	p[0] = 1
	for drawn := range k * n {
		for x := min(drawn+1, m); x > 0; x-- {
			p[x] = p[x]*float64(x)/float64(m) + p[x-1]*float64(m-x+1)/float64(m)
		}
		p[0] = 0
	}
	var rate float64
	for x, px := range p {
		rate += px * math.Pow(float64(x)/float64(m), float64(k))
	}
	return rate
}

// TestStreamInARow tests both statements of Stream: pairs of consecutive values are like
// independent ones, and six consecutive values are not.
func TestStreamInARow(t *testing.T) {
	const trials = 1 << 20
	r := rand.New(rand.NewPCG(1, 2))
	var high [7]int // streams whose first values are all in the highest quarter, by their number
	for range trials {
		s := Start(umbel.Digest{H1: r.Uint64(), H2: r.Uint64()})
		for n := 1; n < len(high); n++ {
			var v uint64
			if v, s = s.Next(); v < 3<<62 {
				break
			}
			high[n]++
		}
	}
	for n, ones := range high[1:3] {
		want := math.Pow(0.25, float64(n+1))
		sigma := math.Sqrt(want * (1 - want) / trials)
		if got := float64(ones) / trials; math.Abs(got-want) > 4*sigma {
			t.Errorf("%d values in the highest quarter: %.5f, want %.5f ± %.5f", n+1, got, want, 4*sigma)
		}
	}
	if times := float64(high[6]) / trials * math.Pow(4, 6); times < 3.5 || times > 4.5 {
		t.Errorf("six values in the highest quarter %.2f times as often as independent ones, the comment says 4", times)
	}
}
