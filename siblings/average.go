package siblings

import (
	"math"
	"sync/atomic"
)

// average is an exponential average, in which the last ten values have two thirds of the weight. Its zero
// value has none. It is safe for concurrent use.
type average struct{ bits atomic.Uint64 }

// add adds a value of at least 0.
func (a *average) add(v float64) {
	for {
		old := a.bits.Load()
		next := v
		if old != 0 {
			mean := math.Float64frombits(old)
			next = mean + (v-mean)/10
		}
		if a.bits.CompareAndSwap(old, math.Float64bits(max(next, 1e-9))) {
			return
		}
	}
}

// value returns the average, or first if there are no values.
func (a *average) value(first float64) float64 {
	if b := a.bits.Load(); b != 0 {
		return math.Float64frombits(b)
	}
	return first
}
