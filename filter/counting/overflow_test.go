package counting

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/plan"
)

// TestFanOverflow: values of Fan et al. 2000, section V-C, and Verma 2015, section 3.2,
// recomputed independently in exact arithmetic.
func TestFanOverflow(t *testing.T) {
	for _, c := range []struct {
		m           uint64
		k           int
		n, j        uint64
		mean, power float64
	}{
		{80000, 5, 10000, 4, 310.141, 2603.44},
		{80000, 5, 10000, 8, 0.0265455, 0.330953},
		{80000, 5, 10000, 16, 1.14918e-12, 2.08911e-11},
		{80000, 6, 10000, 16, 1.8901e-11, 3.86244e-10},
		{1000000, 7, 100000, 8, 0.769322, 10.2428},
		{1000000, 7, 100000, 16, 8.22417e-11, 1.60089e-09},
		{64, 6, 8, 16, 1.13422e-15, 3.08996e-13},
		{1024, 6, 128, 16, 2.10086e-13, 4.94393e-12},
	} {
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"CounterOverflow", Shape{M: c.m, K: c.k}.Overflow(c.n, c.j), c.mean},
			{"CounterOverflowPower", Shape{M: c.m, K: c.k}.OverflowBound(c.n, c.j), c.power},
		} {
			if math.Abs(f.got/f.want-1) > 5e-6 {
				t.Errorf("%s of m=%d, k=%d, n=%d, j=%d is %.6g, want %.6g", f.name, c.m, c.k, c.n, c.j, f.got, f.want)
			}
		}
	}
}

// The mean number of counters is at most its bound.
func TestOverflowIsBelowItsBound(t *testing.T) {
	for _, m := range []uint64{1, 10, 64, 1000, 80000, 1 << 40} {
		for _, n := range []uint64{1, 8, 1000, 1 << 30} {
			for k := 1; k <= 16; k++ {
				for _, j := range []uint64{1, 2, 4, 8, 15, 16, 255} {
					mean, power := Shape{M: m, K: k}.Overflow(n, j), Shape{M: m, K: k}.OverflowBound(n, j)
					if !(mean >= 0 && mean <= float64(m)) || mean > power*(1+1e-9) {
						t.Errorf("m=%d, k=%d, n=%d, j=%d: mean %g, bound %g", m, k, n, j, mean, power)
					}
				}
			}
		}
	}
}

// TestOverflowSums: for j=1 the mean is that of the nonzero cells, and the sum over all j is the
// number of positions, for loads far below and far above j.
func TestOverflowSums(t *testing.T) {
	for _, c := range []struct {
		m uint64
		k int
		n uint64
	}{{100, 3, 7}, {100, 3, 1000}, {7, 2, 5000}, {1, 2, 3}, {1 << 20, 7, 100000}} {
		if got, want := (Shape{M: c.m, K: c.k}).Overflow(c.n, 1), float64(c.m)*(plan.Filter{M: c.m, K: c.k}).Fill(c.n); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("m=%d, k=%d, n=%d: %.12g counters above zero, want %.12g", c.m, c.k, c.n, got, want)
		}
		sum := 0.0
		for j := uint64(1); j <= uint64(c.k)*c.n && j < 3000; j++ {
			sum += Shape{M: c.m, K: c.k}.Overflow(c.n, j)
		}
		if want := float64(c.k) * float64(c.n); math.Abs(sum/want-1) > 1e-9 {
			t.Errorf("m=%d, k=%d, n=%d: the counters' mean sum is %.12g, want %.12g", c.m, c.k, c.n, sum, want)
		}
	}
}
