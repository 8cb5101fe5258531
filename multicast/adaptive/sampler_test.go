package adaptive

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

func mustSampler(t testing.TB, d *Design) *Sampler {
	t.Helper()
	s, err := d.Sampler()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func umbelCodeword(x uint64) inpacket.Codeword {
	return inpacket.Codeword{H1: x * 0x9e3779b97f4a7c15, H2: x*0xd6e8feb86659fd93 + 1}
}

// TestCodewordDefinition compares codewords with their definition, computed in integers, one
// position at a time.
func TestCodewordDefinition(t *testing.T) {
	for name, d := range designs(t) {
		s := mustSampler(t, d)
		redrawn := 0
		for x := range uint64(300) {
			c, set := umbelCodeword(x), int(x%7)
			values := probe.Start(umbel.Digest(c)).Skip(uint64(set) << 12)
			next := func() *big.Int {
				var v uint64
				v, values = values.Next()
				v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
				v = (v ^ v>>27) * 0x94d049bb133111eb
				return new(big.Int).SetUint64(v ^ v>>31)
			}
			var want []uint64
			for try := range attempts {
				want = slowly(d, next)
				ones := 0
				for j := range d.Ends[0] {
					ones += int(want[j/64] >> (j % 64) & 1)
				}
				if ones >= d.Least {
					break
				}
				if try == 0 {
					redrawn++
				}
			}
			if got := s.Codeword(c, set); !slices.Equal(got, want) {
				t.Fatalf("%s: codeword %d of %v is %x, want %x", name, set, c, got, want)
			}
		}
		if d.Objective == Independent {
			near(t, name+": the share that is drawn again", float64(redrawn)/300, d.Redrawn(), 0.06)
		}
	}
}

// slowly draws one codeword by the definition.
func slowly(d *Design, next func() *big.Int) []uint64 {
	w := make([]uint64, (d.Bits()+63)/64)
	one := new(big.Int).Lsh(big.NewInt(1), 64)
	var odds []*big.Int
	for _, r := range d.Runs {
		for range r.Positions {
			odds = append(odds, new(big.Int).SetUint64(r.Odds))
		}
	}
	for range d.K {
		v := next()
		for j, o := range odds {
			if v.Cmp(o) < 0 {
				w[j/64] |= 1 << (j % 64)
				break
			}
			v.Sub(v, o)
		}
	}
	if d.Objective == Hashed {
		return w
	}
	full := new(big.Int).Sub(one, big.NewInt(1))
	alive := new(big.Int).Set(full)
	u := new(big.Int).Rsh(new(big.Int).Mul(next(), full), 64)
	for j, o := range odds {
		dies := new(big.Int).Rsh(new(big.Int).Mul(alive, o), 64)
		alive.Sub(alive, dies.Add(dies, big.NewInt(1)))
		if alive.Sign() < 0 {
			alive.SetInt64(0)
		}
		hit := alive.Cmp(u) <= 0
		if hit {
			w[j/64] |= 1 << (j % 64)
		}
		segment := alive.BitLen() <= 44
		if segment {
			alive.Set(full)
		}
		if (hit || segment) && j+1 < len(odds) {
			u.Rsh(u.Mul(next(), alive), 64)
		}
	}
	return w
}

// These values must never change.
func TestCodewordGolden(t *testing.T) {
	c := inpacket.Key{1, 2, 3}.Codeword(4)
	for _, g := range []struct {
		name string
		d    *Design
		set  int
		want string
	}{
		{"hashed", &tiny, 0, "[0000000000000005]"},
		{"hashed, set 5", &tiny, 5, "[0000000000000001]"},
		{"independent", mustHeuristic(t, 5, 0.1), 0, "[000000000080b4c2]"},
		{"independent, set 65535", mustHeuristic(t, 5, 0.1), 65535, "[000000a0822822fd]"},
	} {
		if got := fmt.Sprintf("%016x", mustSampler(t, g.d).Codeword(c, g.set)); got != g.want {
			t.Errorf("%s: got %s, want %s", g.name, got, g.want)
		}
	}
}

// TestCodewordOdds: positions are set with their odds, separately and in pairs, also across the
// ends of segments.
func TestCodewordOdds(t *testing.T) {
	const codewords = 200_000
	d := mustHeuristic(t, 200, 0.1)
	d.Least = 0
	s := mustSampler(t, d)
	if got := len(s.ends); got != 4 {
		t.Errorf("%d segments, want 4", got)
	}
	rng := rand.NewPCG(1, 2)
	pairs := [][2]int{{4, 4}, {4, 5}, {4, 299}, {0, 8}, {100, 101}, {s.ends[0] - 1, s.ends[0]}, {s.ends[2] - 1, s.ends[2]}, {1500, 2070}}
	count, ones := make([]int, len(pairs)), 0
	var w []uint64
	for range codewords {
		w = s.AppendCodeword(w[:0], inpacket.Codeword{H1: rng.Uint64(), H2: rng.Uint64()}, 0)
		for i, p := range pairs {
			count[i] += int(w[p[0]/64] >> (p[0] % 64) & (w[p[1]/64] >> (p[1] % 64)) & 1)
		}
		for _, x := range w {
			ones += bits.OnesCount64(x)
		}
	}
	var q []float64
	var mean, variance float64
	for _, r := range d.Runs {
		for range r.Positions {
			f := r.Fraction()
			q = append(q, f)
			mean, variance = mean+f, variance+f*(1-f)
		}
	}
	near(t, "ones of a codeword", float64(ones)/codewords, mean, 4*math.Sqrt(variance/codewords))
	for i, p := range pairs {
		want := q[p[0]]
		if p[0] != p[1] {
			want *= q[p[1]]
		}
		near(t, fmt.Sprintf("the odds of positions %d and %d", p[0], p[1]), float64(count[i])/codewords, want, 4*math.Sqrt(want*(1-want)/codewords))
	}
}

// TestEnoughOnes: with enough ones among the first positions no link matches every filter.
// Without, some links do.
func TestEnoughOnes(t *testing.T) {
	d := mustOptimum(t, Requirements{Objective: Hashed, Rate: 0.1, Weights: Uniform(200)})
	front := func(w []uint64) (ones int) {
		for j := range d.Ends[0] {
			ones += int(w[j/64] >> (j % 64) & 1)
		}
		return ones
	}
	paper := *d
	paper.Least = 0
	none := 0
	for x := range uint64(5000) {
		if front(mustSampler(t, d).Codeword(umbelCodeword(x), 0)) < d.Least {
			t.Fatalf("codeword %d has fewer than %d ones at the front", x, d.Least)
		}
		if front(mustSampler(t, &paper).Codeword(umbelCodeword(x), 0)) == 0 {
			none++
		}
		if x == 200 && none == 0 {
			t.Error("of the paper's codewords all have a one at the front, want some that have none")
		}
	}
	near(t, "share of the paper's codewords without a one at the front", float64(none)/5000, d.Redrawn(), 0.015)
	// One that can't have enough is drawn 32 times, and kept.
	front = func(w []uint64) int { return int(w[0] & 0xff) }
	rare := Design{Rate: 0.5, Least: 8, Runs: []Run{{8, 1}, {1, 1 << 63}}, Ends: []int{8, 9}}
	if w := mustSampler(t, &rare).Codeword(umbelCodeword(3), 0); front(w) > 0 || len(w) != 1 {
		t.Errorf("a codeword of odds of 2^-64 is %x", w)
	}
}

func BenchmarkCodeword(b *testing.B) {
	for name, d := range map[string]*Design{
		"heuristic":           mustHeuristic(b, 200, 0.1),
		"optimum-independent": mustOptimum(b, Requirements{Rate: 0.1, Weights: Uniform(200)}),
		"optimum-hashed":      mustOptimum(b, Requirements{Objective: Hashed, Rate: 0.1, Weights: Uniform(200)}),
	} {
		b.Run(fmt.Sprintf("%s/n=200", name), func(b *testing.B) {
			s := mustSampler(b, d)
			var w []uint64
			var c inpacket.Codeword
			b.ReportAllocs()
			for b.Loop() {
				w = s.AppendCodeword(w[:0], c, 0)
				c.H1, c.H2 = c.H1+0x9e3779b97f4a7c15, c.H2+w[0]
			}
		})
	}
}

func TestCodewordAllocates(t *testing.T) {
	s := mustSampler(t, mustHeuristic(t, 50, 0.01))
	w := s.Codeword(umbelCodeword(1), 0)
	if n := testing.AllocsPerRun(100, func() { w = s.AppendCodeword(w[:0], umbelCodeword(2), 3) }); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
	if got := s.AppendCodeword([]uint64{7}, umbelCodeword(2), 3); got[0] != 7 || !slices.Equal(got[1:], w) {
		t.Error("what was there is overwritten, or the codeword is another")
	}
}
