package trial

import (
	"maps"
	"math"
	"slices"
)

// Tally maps each value to the number of its occurrences. The sum of integers does not depend on
// their order, so a result does not depend on which goroutine made which trial.
type Tally map[int64]int64

// N returns the number of values.
func (t Tally) N() (n int64) {
	for _, times := range t {
		n += times
	}
	return n
}

// Mean returns the arithmetic mean, NaN if there are no values.
func (t Tally) Mean() float64 {
	return t.MeanOf(func(v int64) float64 { return float64(v) })
}

// MeanOf returns the mean of f over the values, NaN if there are none. It adds in the
// order of the values, so the result is always the same.
func (t Tally) MeanOf(f func(v int64) float64) float64 {
	var sum float64
	for _, v := range t.values() {
		sum += f(v) * float64(t[v])
	}
	return sum / float64(t.N())
}

// SDOf returns the standard deviation of f over the values, with n-1 in the
// denominator; NaN if there are fewer than two values.
func (t Tally) SDOf(f func(v int64) float64) float64 {
	mean := t.MeanOf(f)
	var squares float64
	for _, v := range t.values() {
		d := f(v) - mean
		squares += d * d * float64(t[v])
	}
	return math.Sqrt(squares / float64(t.N()-1))
}

// SD returns the standard deviation: see SDOf.
func (t Tally) SD() float64 { return t.SDOf(func(v int64) float64 { return float64(v) }) }

// Error returns the standard deviation of the mean.
func (t Tally) Error() float64 { return t.SD() / math.Sqrt(float64(t.N())) }

// Min returns the smallest value, 0 if there are none.
func (t Tally) Min() int64 {
	if len(t) == 0 {
		return 0
	}
	return t.values()[0]
}

// Max returns the largest value, 0 if there are none.
func (t Tally) Max() int64 {
	if len(t) == 0 {
		return 0
	}
	vs := t.values()
	return vs[len(vs)-1]
}

// Share returns the fraction of values for which f returns true.
func (t Tally) Share(f func(v int64) bool) float64 {
	return t.MeanOf(func(v int64) float64 {
		if f(v) {
			return 1
		}
		return 0
	})
}

func (t Tally) values() []int64 { return slices.Sorted(maps.Keys(t)) }

func (t Tally) add(u Tally) {
	for v, times := range u {
		t[v] += times
	}
}
