package folds

import (
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/number"
	"pgregory.net/rapid"
)

func TestSmooth(t *testing.T) {
	for _, c := range []struct {
		low, high, y uint64
		want         []uint64
	}{
		{100, 150, 5, []uint64{100, 108, 120, 125, 128, 135, 144, 150}},
		{1000, 1100, 5, []uint64{1000, 1024, 1080}},
		{1000, 1100, 7, []uint64{1000, 1008, 1024, 1029, 1050, 1080}},
		{10000, 10200, 7, []uint64{10000, 10080, 10125}},
		{10000, 10200, 13, []uint64{10000, 10010, 10080, 10125, 10140, 10164, 10192}},
		{65536, 66536, 7, []uint64{65536, 65610, 65625, 65856, 66150}},
		{139500, 140500, 7, []uint64{139968, 140000}},
		{139500, 140500, 13, []uint64{139755, 139776, 139968, 140000, 140140, 140400}},
		{480000, 482000, 11, []uint64{480000, 480200, 480249, 481140, 481250}},
		{1000000, 1010000, 7, []uint64{1000000, 1000188, 1003520, 1008000, 1008420}},
		// The paper requires x < z, for which its threshold fails: 60 is not 3-smooth.
		{10, 70, 3, []uint64{12, 16, 18, 24, 27, 32, 36, 48, 54, 64}},
		{0, 3, 1, []uint64{1}}, {0, 3, 0, []uint64{1}}, {1, 4, math.MaxUint64, []uint64{1, 2, 3, 4}}, {0, 0, 5, nil}, {9, 8, 5, nil},
		{1<<64 - 6, 1<<64 - 1, 19, nil},
	} {
		if got := smoothNumbers(c.low, c.high, c.y); !slices.Equal(got, c.want) {
			t.Errorf("smoothNumbers(%d, %d, %d) = %d, want %d", c.low, c.high, c.y, got, c.want)
		}
		if got := sieveSmooth(c.low, c.high, c.y); !slices.Equal(got, c.want) {
			t.Errorf("sieveSmooth(%d, %d, %d) = %d, want %d", c.low, c.high, c.y, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Uint64Range(0, 1e6).Draw(t, "low")
		high := low + rapid.Uint64Range(0, 1e4).Draw(t, "length")
		y := rapid.Uint64Range(0, 120).Draw(t, "y")
		products, sieved := smoothNumbers(low, high, y), sieveSmooth(low, high, y)
		if !slices.Equal(products, sieved) {
			t.Errorf("in [%d, %d], y=%d: %d as products, %d by the sieve", low, high, y, products, sieved)
		}
	})
}

// Algorithm IV-B of Sailhan and Stehr 2012 as printed finds none of the smooth numbers,
// even if its test, which is outside any loop, is inside. With a sum in line 12 it finds
// too many, because it marks each multiple once for each smaller multiple.
func TestSailhanAlgorithm(t *testing.T) {
	find := func(x, z, y uint64, line12 func(w *float64, p uint64)) int {
		w := make([]float64, z+1)
		for _, p := range number.Primes(y) {
			for i := range z + 1 {
				for power := p; power <= x+z; power *= p {
					if (x+i)%power != 0 {
						continue
					}
					for l := i; l <= z; l += power {
						line12(&w[l], p)
					}
				}
			}
		}
		found := 0
		for _, sum := range w {
			if sum >= math.Log(float64(x))-1e-9 {
				found++
			}
		}
		return found
	}
	set := func(w *float64, p uint64) { *w = math.Log(float64(p)) }
	add := func(w *float64, p uint64) { *w += math.Log(float64(p)) }
	for _, c := range []struct {
		x, z, y         uint64
		right, set, add int
	}{{100, 50, 5, 8, 0, 33}, {1000, 100, 7, 6, 0, 71}, {10, 60, 3, 10, 0, 38}} {
		if got := len(sieveSmooth(c.x, c.x+c.z, c.y)); got != c.right {
			t.Errorf("[%d, %d], y=%d: %d numbers, want %d", c.x, c.x+c.z, c.y, got, c.right)
		}
		if s, a := find(c.x, c.z, c.y, set), find(c.x, c.z, c.y, add); s != c.set || a != c.add {
			t.Errorf("[%d, %d], y=%d: %d as printed and %d with a sum, want %d and %d", c.x, c.x+c.z, c.y, s, a, c.set, c.add)
		}
	}
}

// Equation (11) of Sailhan and Stehr 2012 compared with the exact count.
func TestPsi(t *testing.T) {
	for _, c := range []struct {
		x, y, psi uint64
		u, rho    float64
	}{
		{1e4, 5, 175, 5.7227062, 4.4874e-05}, {1e4, 7, 338, 4.7331786, 0.00073575}, {1e4, 13, 733, 3.5908469, 0.013153},
		{1e4, 100, 3716, 2, 0.30685}, {1e5, 7, 694, 5.9164733, 2.5244e-05}, {1e5, 13, 1848, 4.4885586, 0.001412},
		{1e6, 5, 507, 8.5840593, 4.3642e-09}, {1e6, 7, 1273, 7.099768, 6.3434e-07}, {1e6, 13, 4106, 5.3862703, 0.00011939},
		{1e6, 100, 72271, 3, 0.048608}, {1e6, 1000, 344299, 2, 0.30685}, {1e7, 7, 2155, 8.2830626, 1.2328e-08},
		{1e7, 13, 8289, 6.283982, 8.2887e-06},
	} {
		if got := psi(c.x, c.y); got != c.psi {
			t.Errorf("psi(%d, %d) = %d, want %d", c.x, c.y, got, c.psi)
		}
		u := math.Log(float64(c.x)) / math.Log(float64(c.y))
		if rho := dickman(u); math.Abs(u-c.u) > 1e-6 || math.Abs(rho/c.rho-1) > 5e-5 {
			t.Errorf("rho(%v) = %v, want rho(%v) = %v", u, rho, c.u, c.rho)
		}
	}
	for x := range uint64(50) {
		for y := range uint64(60) {
			if got, want := psi(x, y), uint64(len(smoothNumbers(0, x, y))); got != want {
				t.Errorf("psi(%d, %d) = %d, want %d", x, y, got, want)
			}
		}
	}
	if got := psi(math.MaxUint64, 2); got != 64 {
		t.Errorf("%d powers of 2 below 2^64", got)
	}
}

func TestDickman(t *testing.T) {
	for u, want := range map[float64]float64{ // 17 digits, from the same series with 80 digits
		-1: 0, 0: 1, 1: 1, 1.5: 0.59453489189183562, 2: 0.30685281944005469, 3: 0.048608388291131567,
		4: 0.0049109256477608324, 5: 0.00035472470045603973, 10: 2.770171837725959e-11, 20: 2.4617828287649181e-29, 200: 0,
	} {
		if got := dickman(u); math.Abs(got-want) > 1e-12*want {
			t.Errorf("dickman(%v) = %v, want %v", u, got, want)
		}
	}
	// Equation (12), by Simpson's rule on both sides of the ends of the series.
	integral := func(from, to float64) float64 {
		const steps = 1000
		h, sum := (to-from)/steps, 0.0
		for i := range steps {
			a := from + float64(i)*h
			sum += h / 6 * (dickman(a) + 4*dickman(a+h/2) + dickman(a+h))
		}
		return sum
	}
	for u := 1.25; u < 9; u += 0.5 {
		mean := integral(u-1, math.Floor(u)) + integral(math.Floor(u), u)
		if got := dickman(u); math.Abs(got*u/mean-1) > 1e-9 {
			t.Errorf("rho(%v) = %v, want %v", u, got, mean/u)
		}
	}
}

func BenchmarkSmooth(b *testing.B) {
	const low, high, y = 139500, 140500, 13
	b.Run("products", func(b *testing.B) {
		for b.Loop() {
			smoothNumbers(low, high, y)
		}
	})
	b.Run("sieve", func(b *testing.B) {
		for b.Loop() {
			sieveSmooth(low, high, y)
		}
	})
}
