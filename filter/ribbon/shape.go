package ribbon

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Shape is the parameters that are fixed when a filter is made. The memory follows from the
// keys.
type Shape struct {
	// Steps determine the rate, in 1/256 bits of the fingerprint, 1 to 8192: 256 more steps
	// halve it. With s steps a key has ⌊s/256⌋ columns, and one more in s mod 256 of 256 cases.
	Steps  int
	Hasher umbel.Hasher
}

// Plan returns the shape that meets g: from a rate with keys or bytes, the fewest steps with
// that rate; from keys and bytes, the most steps with which the keys fit. The error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// Check returns an error wrapping umbel.ErrGoal if no filter can have the shape.
func (s Shape) Check() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	if s.Steps < 1 || s.Steps > maxSteps {
		return fmt.Errorf("ribbon: %d steps, want 1 to %d", s.Steps, maxSteps)
	}
	return s.Hasher.Check()
}

// Forecast describes a filter of this shape that is sealed with n keys. The actual memory may
// differ by a few slots in a thousand: see [Slots]. More than 2^53 keys are forecast as 2^53. Forecast panics if
// no filter can have the shape.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	if n == 0 {
		return umbel.Forecast{K: s.k()}
	}
	solved := min(n, maxKeys)
	bits, table := sizeOf(solved, s.Steps), shardsFor(solved)
	return umbel.Forecast{
		Keys: n, FPRate: fpRate(solved, s.Steps),
		Cells: bits - (table+1)/2*word + table, Bytes: bits / 8, K: s.k(),
	}
}

// k is the average number of bits of the fingerprint, and of cells per key.
func (s Shape) k() float64 { return float64(s.Steps) / columnSteps }

// NewShape returns an empty filter of shape s. The error wraps umbel.ErrGoal if no filter can
// have that shape.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Filter{shape: s}, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "ribbon filter: least memory for receivers that only query, computed once from all keys (Dillinger and Walzer 2021)",
	Params: []umbel.ParamDoc{
		{Name: "steps", Doc: "columns, bits of the fingerprint, in steps of 1/256", Min: 1, Max: maxSteps},
	},
	Plan: planWith,
	New:  NewShape,
	Open: Open,
}.Kind()

// maxKeys is the largest number of keys, and of bytes, in a plan.
const maxKeys = 1 << 53

// planWith is Plan with parameters. It also returns the number of keys that the shape is
// planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	steps, n, err := solve(g, int(ps.Uint("steps")))
	if err != nil {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "ribbon: %w", err)
	}
	s := Shape{Steps: steps, Hasher: g.Hasher}
	return s, n, s.Check()
}

// solve returns the steps and the keys for a goal. Its errors wrap no sentinel of umbel.
func solve(g umbel.Goal, steps int) (int, uint64, error) {
	switch {
	case !(g.FPRate >= 0 && g.FPRate < 1):
		return 0, 0, fmt.Errorf("false-positive rate %v must lie between 0 and 1, both excluded", g.FPRate)
	case g.Keys > maxKeys || g.Bytes > maxKeys:
		return 0, 0, fmt.Errorf("%d keys and %d bytes, want at most 2^53", g.Keys, g.Bytes)
	case steps == 0 && g.FPRate == 0 && (g.Keys == 0 || g.Bytes == 0):
		return 0, 0, fmt.Errorf("give a rate, keys and bytes, or steps")
	case g.Keys == 0 && g.Bytes == 0:
		return 0, 0, fmt.Errorf("give the number of keys, or bytes")
	}
	if err := g.Hasher.Check(); err != nil {
		return 0, 0, err
	}
	n := g.Keys
	fits := func(n uint64, steps int) bool { return g.Bytes == 0 || sizeOf(n, steps)/8 <= g.Bytes }
	if steps == 0 && g.FPRate == 0 {
		steps = int(last(maxSteps, func(s uint64) bool { return fits(n, int(s)) }))
		if steps == 0 {
			return 0, 0, fmt.Errorf("%d bytes are too few for %d keys at any rate below 1", g.Bytes, n)
		}
		return steps, n, nil
	}
	if g.FPRate != 0 {
		need, err := stepsFor(g.FPRate)
		if err != nil {
			return 0, 0, err
		}
		if steps == 0 {
			steps = need
		}
		if steps < need {
			return 0, 0, fmt.Errorf("a rate of %.3g takes %d steps, %d are given: leave one out", g.FPRate, need, steps)
		}
	}
	if n == 0 {
		n = last(maxKeys, func(n uint64) bool { return fits(n, steps) })
	}
	if n == 0 || !fits(n, steps) {
		return 0, 0, fmt.Errorf("%d bytes are too few for %d keys with %d steps: allow more, or a higher rate", g.Bytes, max(n, 1), steps)
	}
	return steps, n, nil
}

// last returns the largest x from 1 to high with ok(x), and 0 if there is none. If ok is
// false for an x, it is false for all larger ones.
func last(high uint64, ok func(x uint64) bool) uint64 {
	low := uint64(0)
	for low < high {
		if mid := high - (high-low)/2; ok(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
