package number_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/number"
	"pgregory.net/rapid"
)

func TestPrimes(t *testing.T) {
	if got := number.Primes(30); !slices.Equal(got, []uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}) {
		t.Errorf("Primes(30) = %d", got)
	}
	for y, want := range map[uint64]int{0: 0, 1: 0, 2: 1, 1000: 168, 1e6: 78498} {
		if got := len(number.Primes(y)); got != want {
			t.Errorf("%d primes up to %d, want %d", got, y, want)
		}
	}
}

func TestIsPrime(t *testing.T) {
	primes := number.Primes(1 << 16)
	for m := range uint64(1 << 16) {
		if _, want := slices.BinarySearch(primes, m); number.IsPrime(m) != want {
			t.Errorf("IsPrime(%d) = %v", m, !want)
		}
	}
	// Strong pseudoprimes to the first 4, 8 and 11 prime bases (Jaeschke 1993).
	for _, m := range []uint64{3215031751, 341550071728321, 3825123056546413051} {
		if number.IsPrime(m) {
			t.Errorf("IsPrime(%d): it isn't", m)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64().Draw(t, "m") | 1
		if want := new(big.Int).SetUint64(m).ProbablyPrime(0); number.IsPrime(m) != want { // exact below 2^64
			t.Errorf("IsPrime(%d) = %v", m, !want)
		}
	})
}

func TestFactor(t *testing.T) {
	type powers = []number.Power
	for m, want := range map[uint64]powers{
		0: nil, 1: nil, 2: {{2, 1}}, 720720: {{2, 4}, {3, 2}, {5, 1}, {7, 1}, {11, 1}, {13, 1}},
		257 * 257: {{257, 2}}, 1000003 * 1000003 * 1000003: {{1000003, 3}},
		4294967279 * 4294967291: {{4294967279, 1}, {4294967291, 1}}, 4294967291 * 4294967291: {{4294967291, 2}},
		18446744073709551557: {{18446744073709551557, 1}}, 1 << 63: {{2, 63}},
		1<<64 - 1: {{3, 1}, {5, 1}, {17, 1}, {257, 1}, {641, 1}, {65537, 1}, {6700417, 1}},
	} {
		if got := number.Factor(m); !slices.Equal(got, want) {
			t.Errorf("Factor(%d) = %v, want %v", m, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Uint64Range(1, 1<<32-1).Draw(t, "a")
		m := a * rapid.Uint64Range(1, 1<<32-1).Draw(t, "b")
		product, last := uint64(1), uint64(1)
		for _, p := range number.Factor(m) {
			if p.Prime <= last || p.Exponent < 1 || !number.IsPrime(p.Prime) {
				t.Fatalf("Factor(%d) has %v after %d", m, p, last)
			}
			for range p.Exponent {
				product *= p.Prime
			}
			last = p.Prime
		}
		if product != m {
			t.Errorf("the factors of %d make %d", m, product)
		}
	})
}

func TestDivisors(t *testing.T) {
	for m := range uint64(3000) {
		var want []uint64
		for d := uint64(1); d <= m; d++ {
			if m%d == 0 {
				want = append(want, d)
			}
		}
		if got := number.Divisors(m); !slices.Equal(got, want) {
			t.Errorf("Divisors(%d) = %d, want %d", m, got, want)
		}
		if got := number.CountDivisors(m); got != uint64(len(want)) {
			t.Errorf("CountDivisors(%d) = %d, want %d", m, got, len(want))
		}
	}
	// The number below 2^64 with the most.
	if got := number.Divisors(18401055938125660800); len(got) != 184320 || !slices.IsSorted(got) || got[184319] != 18401055938125660800 {
		t.Errorf("%d divisors, sorted: %v", len(got), slices.IsSorted(got))
	}
}

func BenchmarkFactor(b *testing.B) {
	for name, m := range map[string]uint64{"smooth": 963761198400, "m=2^40": 1048573 * 1048571, "m=2^64": 4294967279 * 4294967291} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				number.Factor(m)
			}
		})
	}
}
