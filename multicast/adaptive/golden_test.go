package adaptive

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"os"
	"testing"

	"github.com/umbel-filters/umbel/internal/truncated"
)

// golden returns a value that an independent program computed.
func golden[T any](t testing.TB, key string, args ...any) (v T) {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	key = fmt.Sprintf(key, args...)
	if err := json.Unmarshal(all[key], &v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return v
}

// near fails unless got is within a distance of want.
func near(t testing.TB, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %.6g, want %.6g within %g", what, got, want, within)
	}
}

// mustHeuristic returns the design of the paper's formula: equations (17) to (19).
func mustHeuristic(t testing.TB, n int, rate float64) *Design {
	t.Helper()
	q := make([]float64, n)
	for i := range q {
		q[i] = 1 / float64(i+2)
	}
	d := &Design{Method: ByFormula, Rate: rate}
	m := 0
	for i, l := range (truncated.Problem{Rate: rate}).Forward(q, true) {
		odds, _ := bits.Div64(1, 0, uint64(i+2))
		m += int(l)
		d.Ends = append(d.Ends, m)
		d.Runs = AppendRun(d.Runs, Run{int(l), odds})
	}
	if err := d.ChooseLeast(); err != nil {
		t.Fatal(err)
	}
	return d
}

// relax returns the optimum with lengths that need not be whole numbers.
func relax(t testing.TB, r Requirements) truncated.Relaxed {
	t.Helper()
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	return r.goal().Solve(false)
}
