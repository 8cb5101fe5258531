package plan

import (
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
)

func TestCompoundEdges(t *testing.T) {
	for _, c := range []struct {
		rates []float64
		want  float64
	}{{nil, 0}, {[]float64{0, 0}, 0}, {[]float64{1, 0.5}, 1}, {[]float64{0.5, 0.5}, 0.75}, {[]float64{1e-300, 1e-300}, 2e-300}} {
		if got := CompoundFPRate(c.rates...); !fixture.Near(got, c.want, 1e-12) {
			t.Errorf("%v: %g, want %g", c.rates, got, c.want)
		}
	}
}
