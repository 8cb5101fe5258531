package cells

import (
	"fmt"
	"testing"
)

func TestDivisorsNear(t *testing.T) {
	for n := uint64(1); n <= 400; n++ {
		for r := uint64(0); r <= n+1; r++ {
			if r != 0 && n%r == 0 {
				continue
			}
			below, above := uint64(0), uint64(0)
			for d := uint64(1); d <= n; d++ {
				if n%d == 0 && d < r {
					below = d
				}
				if n%d == 0 && d > r && above == 0 {
					above = d
				}
			}
			want := fmt.Sprintf("%d and %d", below, above)
			switch {
			case below == 0:
				want = fmt.Sprint(above)
			case above == 0:
				want = fmt.Sprint(below)
			}
			if got := divisorsNear(n, r); got != want {
				t.Fatalf("divisorsNear(%d, %d) = %q, want %q", n, r, got, want)
			}
		}
	}
}

// TestDivisorsNearOfLargeSizes: for sizes above 2^32 divisorsNear finds the divisors up to 2^16
// and their cofactors.
func TestDivisorsNearOfLargeSizes(t *testing.T) {
	for _, c := range []struct {
		n, r uint64
		want string
	}{
		{1 << 50, 3, "2 and 4"},
		{1 << 50, 1e5, "65536 and 17179869184"},
		{1 << 50, 1 << 51, "1125899906842624"},
		{1<<61 - 1, 12345, "1 and 2305843009213693951"},
		{^uint64(0), 1e4, "9615 and 10897"},
	} {
		if got := divisorsNear(c.n, c.r); got != c.want {
			t.Errorf("divisorsNear(%d, %d) = %q, want %q", c.n, c.r, got, c.want)
		}
	}
}

func BenchmarkDivisorsNear(b *testing.B) {
	for b.Loop() {
		divisorsNear(1<<50, 3)
	}
}
