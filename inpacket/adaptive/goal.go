package adaptive

import (
	"fmt"

	"github.com/umbel-filters/umbel"
)

// Goal is what a design is wanted for.
type Goal struct {
	Objective Objective
	Rate      float64 // at which other links may match, with any number of links
	Weights   Weights // how often there are 1, 2, … links, and how many at most
	K         int     // draws, of Hashed; 0: the best number
}

// Check returns an error that wraps [umbel.ErrGoal] if there is no such design.
func (g Goal) Check() error {
	switch {
	case int(g.Objective) >= len(objectives):
		return fmt.Errorf("adaptive: %v, want 0 or 1: %w", g.Objective, umbel.ErrGoal)
	case g.K < 0 || g.K > MaxK:
		return fmt.Errorf("adaptive: k is %d, want 1 to %d, or 0 for the best: %w", g.K, MaxK, umbel.ErrGoal)
	case g.Objective == Independent && g.K != 0:
		return fmt.Errorf("adaptive: k is %d with independent positions, want 0: %w", g.K, umbel.ErrGoal)
	}
	if err := checkRate(g.Rate); err != nil {
		return err
	}
	return g.Weights.Check()
}
