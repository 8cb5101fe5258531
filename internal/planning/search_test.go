package planning

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Least, LeastNear and Most find the number at which a condition changes, wherever it is, and from every guess.
func TestSearches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		high := uint64(math.Exp2(63 * r.Float64()))
		from := r.Uint64N(high+1) + 1 // the first that is ok; high+1 is none
		ok := func(x uint64) bool { return x >= from }
		guess := math.Exp2(70*r.Float64() - 2)
		x, found := Least(high, ok)
		near, foundNear := LeastNear(guess, high, ok)
		if want := from <= high; found != want || foundNear != want || want && (x != from || near != from) {
			t.Fatalf("least of %d up to %d: %d, %v; from guess %g %d, %v", from, high, x, found, guess, near, foundNear)
		}
		if got := Most(high, func(x uint64) bool { return x < from }); got != from-1 {
			t.Fatalf("most below %d, up to %d: %d", from, high, got)
		}
		end := r.Float64() * float64(high)
		if got := Crossing(0, float64(high), func(x float64) bool { return x >= end }); !(got >= end && got <= math.Nextafter(end, math.Inf(1))+float64(high)*0x1p-99) {
			t.Fatalf("crossing %g up to %d: %g", end, high, got)
		}
	}
	if _, found := Least(0, func(uint64) bool { return true }); found {
		t.Error("the least of no numbers was found")
	}
}
