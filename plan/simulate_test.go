package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// newRand returns a generator with a fixed seed.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x756d62656c)) }

// bits is a filter of the simulations. A cell is nonzero if it contains the number of the trial,
// so that a new trial starts empty.
type bits struct {
	cells []uint32
	trial uint32
	ones  uint64
}

func newBits(m uint64) *bits { return &bits{cells: make([]uint32, m)} }

func (b *bits) clear() { b.trial, b.ones = b.trial+1, 0 }

func (b *bits) set(i uint64) {
	if b.cells[i] != b.trial {
		b.cells[i] = b.trial
		b.ones++
	}
}

// hasAll reports whether all these cells are set.
func (b *bits) hasAll(key []uint64) bool {
	for _, i := range key {
		if b.cells[i] != b.trial {
			return false
		}
	}
	return true
}

// addKeys sets k independent uniform cells for each of n keys.
func (b *bits) addKeys(r *rand.Rand, k int, n uint64) {
	for range uint64(k) * n {
		b.set(r.Uint64N(uint64(len(b.cells))))
	}
}

// sample accumulates the mean of measurements and its standard error.
type sample struct {
	count, sum, squares float64
}

func (s *sample) add(x float64) {
	s.count++
	s.sum += x
	s.squares += x * x
}

func (s *sample) mean() float64 { return s.sum / s.count }

// sd returns the standard deviation of one measurement.
func (s *sample) sd() float64 {
	return math.Sqrt(max(0, s.squares/s.count-s.mean()*s.mean()))
}

// wantMean fails unless the measured mean agrees with got to the fraction within, or to three
// standard errors.
func (s *sample) wantMean(t *testing.T, got, within float64) {
	t.Helper()
	sigma := s.sd() / math.Sqrt(s.count)
	if math.Abs(got-s.mean()) > max(within*s.mean(), 3*sigma) {
		t.Errorf("formula gives %.6g, simulation %.6g with a standard deviation of %.2g in %.0f trials", got, s.mean(), sigma, s.count)
	}
}
