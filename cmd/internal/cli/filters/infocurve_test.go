package filters

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// The curve of each kind that has one rises, and its marks are at the present and planned keys.
func TestRateCurve(t *testing.T) {
	const keys = 1000
	for name := range shapes {
		k, err := filter.All.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := k.New(umbel.Goal{Keys: keys, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			present           float64
			planned           uint64
			atPresent, atGoal int // columns, -1 for none
		}{
			{keys, 0, curveColumns/2 - 1, -1},
			{keys / 2, keys, curveColumns/4 - 1, curveColumns/2 - 1},
			{2 * keys, keys, curveColumns/2 - 1, curveColumns/4 - 1},
			{0, keys, 0, curveColumns/2 - 1},
		} {
			lines := rateCurve(f, name, c.present, c.planned)
			if len(lines) != 2 {
				t.Fatalf("%s: %q", name, lines)
			}
			curve, marks := []rune(lines[0])[:curveColumns], []rune(lines[1])[:curveColumns]
			if !slices.IsSorted(curve) || curve[curveColumns-1] != '█' || curve[0] == '█' {
				t.Errorf("%s: the curve %q does not rise", name, lines[0])
			}
			if slices.Index(marks, '▲') != c.atPresent || slices.Index(marks, '△') != c.atGoal {
				t.Errorf("%s: %v present and %d planned keys are at %q", name, c.present, c.planned, string(marks))
			}
		}
		for _, present := range []float64{0, math.Inf(1), math.NaN()} {
			if lines := rateCurve(f, name, present, 0); lines != nil {
				t.Errorf("%s: %v keys have the curve %q", name, present, strings.Join(lines, "\n"))
			}
		}
	}
}
