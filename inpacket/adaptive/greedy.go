package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
)

// Search is how [Greedy] searches. Its zero value is the paper's way.
type Search struct {
	Seed     uint64    // of the random moves
	Steps    []float64 // by how much odds are moved, one after the other, each inside (0, 1); nil: 0.1, 0.01, 0.001
	Patience int       // moves in a row that don't help until the next step; 0: 300
}

// Greedy returns the design that the paper's random search finds, Algorithm 1: from
// [Heuristic]'s odds on, those of all positions up to a random one, or of all behind
// it, are moved up or down by a step, and what doesn't lower the mean length is taken
// back. With another seed the design is another. [Optimum] is better and faster; this
// is here to compare.
//
// For Hashed k is the sum of all odds rounded up, so it changes during the search, and
// the goal can't say it; the paper's (21) says k is the sum of c_j, which is 1.
//
// As printed Algorithm 1 doesn't run. What was mended:
//
//   - the start is that of section IV-A, not "Sec. V";
//   - k is the random index and the variable of the loops, which end at an undefined jj:
//     here j is the index;
//   - loops begin at position 0, and there is none before 1;
//   - the best cost begins at infinity, so that any first move is taken, however bad:
//     here it begins with the cost of the start;
//   - nothing keeps odds inside (0, 1), and from the second move on steps of 0.1 leave
//     it: here odds stay between the smallest step and 1/2. The lower end matters,
//     since the search doesn't find back from far too low odds;
//   - a vector with which the largest filter doesn't reach the rate within the M
//     positions has no cost: here that is infinity.
//
// Its last step, 0.001, is a fifth of the odds that are best for 200 links, so an
// optimum isn't reached: at a rate of 0.1 and all sizes alike it comes to 728 to 745
// bits for Independent and 670 to 766 for Hashed, by seed, where 697 and 597 are best.
//
// The error wraps [umbel.ErrGoal]: see [Goal.Check] and Search.
func Greedy(g Goal, s Search) (*Design, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if g.K != 0 {
		return nil, fmt.Errorf("adaptive: k is %d, want 0: during the search it is the sum of all odds: %w", g.K, umbel.ErrGoal)
	}
	if s.Steps == nil {
		s.Steps = []float64{0.1, 0.01, 0.001}
	}
	if s.Patience == 0 {
		s.Patience = 300
	}
	if len(s.Steps) == 0 {
		return nil, fmt.Errorf("adaptive: no steps, want at least one, or nil for the paper's: %w", umbel.ErrGoal)
	}
	for _, step := range s.Steps {
		if !(step > 0 && step < 1) || s.Patience < 0 {
			return nil, fmt.Errorf("adaptive: a step of %v and a patience of %d, want a step inside (0, 1) and at least 1 move: %w", step, s.Patience, umbel.ErrGoal)
		}
	}
	start, err := Heuristic(len(g.Weights), g.Rate)
	if err != nil {
		return nil, err
	}
	w, ok := newWalk(g, start, s.Steps)
	if !ok {
		return nil, fmt.Errorf("adaptive: a rate of %v isn't reached by %d draws with the formula's odds: %w", g.Rate, drawn(g, w.spare), umbel.ErrGoal)
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0))
	for _, step := range s.Steps {
		for failed := 0; failed < s.Patience; {
			j := 1 + rng.IntN(w.ends[len(w.ends)-1])
			by, behind := step, false
			switch rng.IntN(4) {
			case 1:
				by = -step
			case 2:
				behind = true
			case 3:
				by, behind = -step, true
			}
			if w.move(j, by, behind) {
				failed = 0
			} else {
				failed++
			}
		}
	}
	return w.design()
}

// mostOdds are the highest odds during the search, those that are best for one link.
const mostOdds = 0.5

// stretch is a row of positions with the same odds, those that the paper calls q: of
// Hashed q/k is the share of draws.
type stretch struct {
	positions int
	q         float64
}

// walk is where the search is.
type walk struct {
	goal  Goal
	tails []float64
	row   []stretch
	ends  []int
	cost  float64
	// Where the next row is made, and its ends.
	spare []stretch
	next  []int
	least float64 // that odds may have
}

// newWalk begins at a design, and reports whether it has a cost.
func newWalk(g Goal, start *Design, steps []float64) (w *walk, ok bool) {
	n := len(g.Weights)
	w = &walk{goal: g, tails: g.Weights.tails(), cost: math.Inf(1), ends: make([]int, n), next: make([]int, n), least: slices.Min(steps)}
	for _, r := range start.Runs {
		w.spare = append(w.spare, stretch{r.Positions, r.fraction()})
	}
	return w, w.take()
}

// move changes the odds of the positions up to j, or of those behind it, and reports
// whether that lowers the cost; otherwise it takes it back.
func (w *walk) move(j int, by float64, behind bool) bool {
	w.spare = w.spare[:0]
	m := 0
	for _, s := range w.row {
		upTo := min(max(j-m, 0), s.positions)
		m += s.positions
		moved := max(w.least, min(mostOdds, s.q+by))
		front, back := moved, s.q
		if behind {
			front, back = s.q, moved
		}
		w.spare = appendStretch(w.spare, upTo, front)
		w.spare = appendStretch(w.spare, s.positions-upTo, back)
	}
	return w.take()
}

func appendStretch(row []stretch, positions int, q float64) []stretch {
	switch n := len(row); {
	case positions == 0:
	case n > 0 && row[n-1].q == q:
		row[n-1].positions += positions
	default:
		row = append(row, stretch{positions, q})
	}
	return row
}

// take makes the spare row the row if it costs less.
func (w *walk) take() bool {
	p := w.goal.problem(drawn(w.goal, w.spare))
	cost, before, reached := 0.0, 0, 0
	for i, m := range p.ends(runsOf(p, w.spare), len(w.tails)) {
		// With those to come as long as this one it would be:
		if cost += float64(m-before) * w.tails[i-1]; cost >= w.cost {
			return false
		}
		before, reached, w.next[i-1] = m, i, m
	}
	if reached < len(w.tails) {
		return false
	}
	w.row, w.spare = w.spare, w.row
	w.ends, w.next = w.next, w.ends
	w.cost = cost
	return true
}

// drawn returns k: of Hashed the sum of all odds, rounded up.
func drawn(g Goal, row []stretch) int {
	if g.Objective == Independent {
		return 0
	}
	sum := 0.0
	for _, s := range row {
		sum += float64(s.positions) * s.q
	}
	return min(MaxK, int(math.Ceil(sum)))
}

// runsOf returns the row as runs of whole odds.
func runsOf(p problem, row []stretch) (runs []Run) {
	for _, s := range row {
		runs = appendRun(runs, s.positions, oddsOf(s.q/max(1, p.k)))
	}
	return runs
}

// design returns the design of the row, without the positions that no filter has.
func (w *walk) design() (*Design, error) {
	p := w.goal.problem(drawn(w.goal, w.row))
	all := &Design{Objective: p.objective, K: int(p.k), Runs: runsOf(p, w.row), Ends: w.ends}
	d := &Design{Objective: p.objective, K: int(p.k), Ends: w.ends, Method: BySearch, Rate: w.goal.Rate, Weights: w.goal.Weights}
	all.upTo(d.Bits(), func(r Run) { d.Runs = appendRun(d.Runs, r.Positions, r.Odds) })
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d, nil
}
