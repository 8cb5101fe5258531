package plan

import (
	"math"
	"testing"
)

// Values made with exact arithmetic, apart from this package: Fan et al. 2000,
// section V-C; Verma 2015, section 3.2.
func TestFanOverflow(t *testing.T) {
	for _, c := range []struct {
		m                        uint64
		k                        int
		n, j                     uint64
		mean, choose, power, ln2 float64
	}{
		{80000, 5, 10000, 4, 310.141, 508.565, 2603.44, 3938.49},
		{80000, 5, 10000, 8, 0.0265455, 0.0461707, 0.330953, 0.757408},
		{80000, 5, 10000, 16, 1.14918e-12, 2.0678e-12, 2.08911e-11, 1.09418e-10},
		{80000, 6, 10000, 16, 1.8901e-11, 3.82456e-11, 3.86244e-10, 1.09418e-10},
		{1000000, 7, 100000, 8, 0.769322, 1.4297, 10.2428, 9.46759},
		{1000000, 7, 100000, 16, 8.22417e-11, 1.58809e-10, 1.60089e-09, 1.36773e-09},
		{64, 6, 8, 16, 1.13422e-15, 1.82145e-15, 3.08996e-13, 8.75345e-14},
		{1024, 6, 128, 16, 2.10086e-13, 4.19122e-13, 4.94393e-12, 1.40055e-12},
	} {
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"CounterOverflow", CounterOverflow(c.m, c.k, c.n, c.j), c.mean},
			{"CounterOverflowChoose", CounterOverflowChoose(c.m, c.k, c.n, c.j), c.choose},
			{"CounterOverflowPower", CounterOverflowPower(c.m, c.k, c.n, c.j), c.power},
			{"CounterOverflowLn2", CounterOverflowLn2(c.m, c.j), c.ln2},
		} {
			if math.Abs(f.got/f.want-1) > 5e-6 {
				t.Errorf("%s of m=%d, k=%d, n=%d, j=%d is %.6g, want %.6g", f.name, c.m, c.k, c.n, c.j, f.got, f.want)
			}
		}
	}
	if p := CounterOverflowLn2(1, 16); math.Abs(p/1.368e-15-1) > 1e-3 {
		t.Errorf("(e ln 2 / 16)^16 is %.4g, want 1.368e-15", p)
	}
}

// The bounds are in order, the last where its condition holds and not elsewhere.
func TestOverflowBoundsAreInOrder(t *testing.T) {
	for _, m := range []uint64{1, 10, 64, 1000, 80000, 1 << 40} {
		for _, n := range []uint64{1, 8, 1000, 1 << 30} {
			for k := 1; k <= 16; k++ {
				for _, j := range []uint64{1, 2, 4, 8, 15, 16, 255} {
					mean, choose := CounterOverflow(m, k, n, j), CounterOverflowChoose(m, k, n, j)
					power, ln2 := CounterOverflowPower(m, k, n, j), CounterOverflowLn2(m, j)
					const slack = 1 + 1e-9
					if !(mean >= 0 && mean <= float64(m)) || mean > choose*slack || choose > power*slack {
						t.Errorf("m=%d, k=%d, n=%d, j=%d: %g, %g and %g aren't in order", m, k, n, j, mean, choose, power)
					}
					if holds := float64(k) <= float64(m)/float64(n)*math.Ln2; holds != (power <= ln2*slack) && power != ln2 {
						t.Errorf("m=%d, k=%d, n=%d, j=%d: %g against %g, and k <= (m/n) ln 2 is %v", m, k, n, j, power, ln2, holds)
					}
				}
			}
		}
	}
}

// For j=1 the mean is that of the cells that aren't zero, and over all j the sum is
// the number of positions: loads far below and far above j.
func TestOverflowSums(t *testing.T) {
	for _, c := range []struct {
		m uint64
		k int
		n uint64
	}{{100, 3, 7}, {100, 3, 1000}, {7, 2, 5000}, {1, 2, 3}, {1 << 20, 7, 100000}} {
		if got, want := CounterOverflow(c.m, c.k, c.n, 1), float64(c.m)*Fill(c.m, c.k, c.n); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("m=%d, k=%d, n=%d: %.12g counters above zero, want %.12g", c.m, c.k, c.n, got, want)
		}
		sum := 0.0
		for j := uint64(1); j <= uint64(c.k)*c.n && j < 3000; j++ {
			sum += CounterOverflow(c.m, c.k, c.n, j)
		}
		if want := float64(c.k) * float64(c.n); math.Abs(sum/want-1) > 1e-9 {
			t.Errorf("m=%d, k=%d, n=%d: the counters' mean sum is %.12g, want %.12g", c.m, c.k, c.n, sum, want)
		}
	}
}
