package lipsin

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

func codewords(r *rand.Rand, n int) []inpacket.Codeword {
	cs := make([]inpacket.Codeword, n)
	for i := range cs {
		cs[i] = inpacket.Codeword{H1: r.Uint64(), H2: r.Uint64()}
	}
	return cs
}

func links(d Parameters, cs []inpacket.Codeword) [][]inpacket.BitString {
	ls := make([][]inpacket.BitString, len(cs))
	for i, c := range cs {
		ls[i] = d.Codewords(c)
	}
	return ls
}

func ones(b inpacket.BitString) []int {
	var at []int
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			at = append(at, w*64+bits.TrailingZeros64(word))
		}
	}
	return at
}

func TestCodewordsHaveExactlyKBits(t *testing.T) {
	for _, d := range []Parameters{
		LIPSIN(),
		{M: 1, K: 1, Sets: 2, MaxFill: 1},
		{M: 15, K: 15, Sets: 256, MaxFill: 1},
		{M: 16, K: 15, Sets: 8, MaxFill: 1},
		{M: 64, K: 5, Sets: 8, MaxFill: 1},
		{M: MaxBits, K: MaxK, Sets: 3, MaxFill: 1},
	} {
		t.Run(fmt.Sprintf("m=%d k=%d d=%d", d.M, d.K, d.Sets), func(t *testing.T) {
			for _, c := range append(codewords(rand.New(rand.NewPCG(1, 1)), 50), inpacket.Codeword{}) {
				l := d.Codewords(c)
				for s := range d.Sets {
					at := ones(l[s])
					if len(at) != d.K || at[len(at)-1] >= d.M {
						t.Fatalf("set %d of %x has the bits %v, want %d below %d", s, c, at, d.K, d.M)
					}
				}
			}
		})
	}
}

// TestCodewordsGolden: the bits of codewords never change, since senders and routers must agree
// on them. The values were computed independently, in big integers.
func TestCodewordsGolden(t *testing.T) {
	l := LIPSIN().Codewords(inpacket.Codeword{H1: 0x0123456789abcdef, H2: 0xfedcba9876543210})
	for s, want := range map[int][]int{
		0: {6, 33, 87, 110, 237},
		7: {5, 8, 32, 47, 214},
	} {
		if got := ones(l[s]); !slices.Equal(got, want) {
			t.Errorf("set %d has the bits %v, want %v", s, got, want)
		}
	}
}

// TestBitsAreEquallyLikely: each bit, and each pair of bits, is in equally many codewords.
func TestBitsAreEquallyLikely(t *testing.T) {
	d := Parameters{M: 10, K: 3, Sets: 4, MaxFill: 1}
	const trials = 20_000
	var single [10]int
	var pairs [10][10]int
	for _, c := range codewords(rand.New(rand.NewPCG(2, 2)), trials/d.Sets) {
		l := d.Codewords(c)
		for s := range d.Sets {
			at := ones(l[s])
			for i, a := range at {
				single[a]++
				for _, b := range at[i+1:] {
					pairs[a][b]++
				}
			}
		}
	}
	within := func(what string, got int, p float64) {
		t.Helper()
		mean, sd := trials*p, math.Sqrt(trials*p*(1-p))
		if math.Abs(float64(got)-mean) > 4.5*sd {
			t.Errorf("%s in %d of %d codewords, want %.0f ± %.0f", what, got, trials, mean, sd)
		}
	}
	for a := range single {
		within(fmt.Sprint("bit ", a), single[a], 3./10)
		for b := a + 1; b < 10; b++ {
			within(fmt.Sprint("bits ", a, " and ", b), pairs[a][b], 3./10*2/9)
		}
	}
}

// TestSetsAreIndependent: the codewords of a link in two sets share as many bits as those of two
// links: k²/m.
func TestSetsAreIndependent(t *testing.T) {
	d := LIPSIN()
	const trials = 4000
	common := 0
	for _, c := range codewords(rand.New(rand.NewPCG(3, 3)), trials) {
		l := d.Codewords(c)
		for w, word := range l[0] {
			common += bits.OnesCount64(word & l[1][w])
		}
	}
	mean := trials * 25. / 248
	if math.Abs(float64(common)-mean) > 4.5*math.Sqrt(mean) {
		t.Errorf("%d bits in common, want %.0f ± %.0f", common, mean, math.Sqrt(mean))
	}
}

func TestCheck(t *testing.T) {
	if err := LIPSIN().Check(); err != nil {
		t.Error(err)
	}
	for name, d := range map[string]Parameters{
		"no bits":        {M: 0, K: 1, Sets: 1, MaxFill: 0.5},
		"too many bits":  {M: MaxBits + 1, K: 5, Sets: 8, MaxFill: 0.5},
		"k 0":            {M: 248, K: 0, Sets: 8, MaxFill: 0.5},
		"k too large":    {M: 248, K: 16, Sets: 8, MaxFill: 0.5},
		"k above m":      {M: 4, K: 5, Sets: 8, MaxFill: 0.5},
		"no sets":        {M: 248, K: 5, Sets: 0, MaxFill: 0.5},
		"too many sets":  {M: 248, K: 5, Sets: 257, MaxFill: 0.5},
		"nothing may be": {M: 248, K: 5, Sets: 8},
		"all and more":   {M: 248, K: 5, Sets: 8, MaxFill: 1.01},
		"not a number":   {M: 248, K: 5, Sets: 8, MaxFill: math.NaN()},
	} {
		if err := d.Check(); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v, want an error that wraps %q", name, err, umbel.ErrGoal)
		}
		if _, err := d.Choose(nil, nil); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v by Choose, want an error that wraps %q", name, err, umbel.ErrGoal)
		}
	}
}
