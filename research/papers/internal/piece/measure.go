package piece

import (
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// Measure is what trials gave.
type Measure struct {
	Value, Error float64 // Error is the standard deviation of Value; 0: an exact count
	Trials       int     // 0: nothing was measured
}

// Mean returns the mean of a tally.
func Mean(t trial.Tally) Measure { return Scaled(t, 1) }

// Scaled returns the mean of a tally, times a factor.
func Scaled(t trial.Tally, factor float64) Measure {
	return Measure{Value: factor * t.Mean(), Error: factor * t.Error(), Trials: int(t.N())}
}

// Counted returns a number that was counted in so many trials, and has no error.
func Counted(n, trials int) Measure { return Measure{Value: float64(n), Trials: trials} }

// On returns a series with the measured number at x. Scales are logarithmic: neither a
// point nor the end of its bar can be at zero.
func (m Measure) On(s chart.Series, x float64) chart.Series {
	if m.Value > 0 {
		s.Points = append(s.Points, chart.Point{X: x, Y: m.Value, Error: min(m.Error, m.Value/2)})
	}
	return s
}
