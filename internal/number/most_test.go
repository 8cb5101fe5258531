package number_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/number"
	"pgregory.net/rapid"
)

// TestMostDivisors compares the best number of each interval with counting the divisors of all
// its numbers.
func TestMostDivisors(t *testing.T) {
	const limit = 1 << 20
	divisors := make([]int, limit+1)
	for d := 1; d <= limit; d++ {
		for m := d; m <= limit; m += d {
			divisors[m]++
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Uint64Range(0, limit-1).Draw(t, "low")
		high := rapid.Uint64Range(max(low, 1), min(limit, low+rapid.SampledFrom([]uint64{1, 100, 5000, limit}).Draw(t, "length"))).Draw(t, "high")
		want := max(low, 1)
		for m := want; m <= high; m++ {
			if divisors[m] > divisors[want] {
				want = m
			}
		}
		if got, ok := number.MostDivisors(low, high); got != want || !ok {
			t.Errorf("MostDivisors(%d, %d) = %d with %d divisors, want %d with %d", low, high, got, divisors[got], want, divisors[want])
		}
	})
}

// TestMostDivisorsFar: for large numbers the result is in the interval, and no multiple nearby
// has more divisors.
func TestMostDivisorsFar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := uint64(1) << rapid.IntRange(20, 62).Draw(t, "log low")
		low += rapid.Uint64Range(0, low-1).Draw(t, "rest")
		length := rapid.SampledFrom([]uint64{0, 1, 4095, 4096, 1 << 14, low / 1000, low / 10}).Draw(t, "length")
		got, ok := number.MostDivisors(low, low+length)
		if !ok || got < low || got > low+length {
			t.Fatalf("MostDivisors(%d, %d) = %d, %v", low, low+length, got, ok)
		}
		for _, unit := range []uint64{1, 12, 360, 5040, 720720} {
			if m := (low + unit - 1) / unit * unit; m <= low+length && number.CountDivisors(m) > number.CountDivisors(got) {
				t.Errorf("MostDivisors(%d, %d) = %d with %d divisors, %d has %d", low, low+length, got, number.CountDivisors(got), m, number.CountDivisors(m))
			}
		}
	})
}

func TestMostDivisorsEnds(t *testing.T) {
	for _, c := range []struct {
		low, high, want uint64
		ok              bool
	}{
		{0, 0, 0, false}, {5, 4, 0, false}, {0, 1, 1, true}, {7, 7, 7, true},
		{1, 1 << 63, 9200527969062830400, true}, {0, math.MaxUint64, 18401055938125660800, true},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64, true},
	} {
		if got, ok := number.MostDivisors(c.low, c.high); got != c.want || ok != c.ok {
			t.Errorf("MostDivisors(%d, %d) = %d, %v, want %d, %v", c.low, c.high, got, ok, c.want, c.ok)
		}
	}
}

func BenchmarkMostDivisors(b *testing.B) {
	for name, c := range map[string][2]uint64{
		"m=2^40/wide":   {1 << 40, 1<<40 + 1<<37},
		"m=2^40/narrow": {1 << 40, 1<<40 + 1<<13},
		"m=2^40/short":  {1 << 40, 1<<40 + 4095},
		"m=2^62/wide":   {1 << 62, 1<<62 + 1<<59},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				number.MostDivisors(c[0], c[1])
			}
		})
	}
}
