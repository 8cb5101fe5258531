package adaptive

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/internal/truncated"
	"github.com/umbel-filters/umbel/multicast/adaptive"
)

// search configures greedy. Its zero value is the paper's search.
type search struct {
	seed     uint64    // of the random moves
	steps    []float64 // the changes of a probability, each inside (0, 1), one after the other; nil: 0.1, 0.01, 0.001
	patience int       // successive moves without improvement before the next step; 0: 300
}

// greedy returns the design that the paper's random search finds, Algorithm 1. It starts
// with the probabilities of [heuristic]. A move raises or lowers by a step the
// probabilities of all positions up to a random one, or of all positions after it. A move
// that does not lower the mean length is undone. Another seed gives another design.
// [adaptive.Optimum] is better and faster.
//
// For Hashed, k is the sum of all probabilities rounded up. It changes during the search,
// so the requirements can't prescribe it. (The paper's (21) gives k as the sum of c_j,
// which is 1.)
//
// Algorithm 1 doesn't run as it is printed. These are the corrections:
//
//   - the start is that of section IV-A, not "Sec. V";
//   - k is both the random index and the variable of the loops, which end at an undefined
//     jj: here j is the index;
//   - loops begin at position 0, and the first position is 1;
//   - the best cost begins at infinity, so that the first move is always accepted: here it
//     begins with the cost of the start;
//   - no rule keeps probabilities inside (0, 1), and from the second move on steps of 0.1
//     leave that interval: here probabilities stay between the smallest step and 1/2. The
//     lower limit matters, because the search doesn't return from far too low values;
//   - a vector with which the largest filter doesn't reach the rate within the M positions
//     has no cost: here the cost is infinite.
//
// The last step, 0.001, is a fifth of the probabilities that are best for 200 links, so
// the search doesn't reach an optimum. At a rate of 0.1 and for equally frequent sizes it
// reaches 728 to 745 bits for Independent and 670 to 766 for Hashed, depending on the
// seed; the optima are 697 and 597.
//
// It returns an error wrapping [umbel.ErrGoal] if r or s is not valid.
func greedy(r adaptive.Requirements, s search) (*adaptive.Design, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.K != 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "k is %d, want 0: the search chooses it", r.K)
	}
	if s.steps == nil {
		s.steps = []float64{0.1, 0.01, 0.001}
	}
	if s.patience == 0 {
		s.patience = 300
	}
	if len(s.steps) == 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "no steps, want at least one, or nil for the paper's")
	}
	for _, step := range s.steps {
		if !(step > 0 && step < 1) || s.patience < 0 {
			return nil, sentinel.Errorf(umbel.ErrGoal, "step %v and patience %d, want a step inside (0, 1) and at least 1 move", step, s.patience)
		}
	}
	start, err := heuristic(len(r.Weights), r.Rate)
	if err != nil {
		return nil, err
	}
	w, ok := newWalk(r, start, s.steps)
	if !ok {
		return nil, sentinel.Errorf(umbel.ErrGoal, "%d draws with the formula's probabilities don't reach a rate of %v", draws(r, w.spare), r.Rate)
	}
	rng := rand.New(rand.NewPCG(s.seed, 0))
	for _, step := range s.steps {
		for failed := 0; failed < s.patience; {
			j := 1 + rng.IntN(w.ends[len(w.ends)-1])
			by, after := step, false
			switch rng.IntN(4) {
			case 1:
				by = -step
			case 2:
				after = true
			case 3:
				by, after = -step, true
			}
			if w.move(j, by, after) {
				failed = 0
			} else {
				failed++
			}
		}
	}
	return w.design()
}

// maxQ is the largest probability during the search: the best one for a single link.
const maxQ = 0.5

// stretch is a sequence of positions with the same probability, the paper's q. For Hashed
// the probability of one draw is q/k.
type stretch struct {
	positions int
	q         float64
}

// walk is the state of the search.
type walk struct {
	want  adaptive.Requirements
	tails []float64
	row   []stretch
	ends  []int
	cost  float64
	// Memory for the next row and its ends.
	spare []stretch
	next  []int
	least float64 // the smallest probability
}

// newWalk begins at a design, and reports whether its cost is finite.
func newWalk(r adaptive.Requirements, start *adaptive.Design, steps []float64) (w *walk, ok bool) {
	n := len(r.Weights)
	w = &walk{want: r, tails: r.Weights.Tails(), cost: math.Inf(1), ends: make([]int, n), next: make([]int, n), least: slices.Min(steps)}
	for _, r := range start.Runs {
		w.spare = append(w.spare, stretch{r.Positions, r.Fraction()})
	}
	return w, w.take()
}

// move changes the probabilities of the positions up to j, or of those after j, and
// reports whether that lowers the cost. If it doesn't, the row is unchanged.
func (w *walk) move(j int, by float64, after bool) bool {
	w.spare = w.spare[:0]
	m := 0
	for _, s := range w.row {
		upTo := min(max(j-m, 0), s.positions)
		m += s.positions
		moved := max(w.least, min(maxQ, s.q+by))
		front, back := moved, s.q
		if after {
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

// take makes the spare row the current one if it costs less.
func (w *walk) take() bool {
	p := truncated.Problem{K: draws(w.want, w.spare), Rate: w.want.Rate}
	cost, before, reached := 0.0, 0, 0
	for i, m := range ends(p, runsOf(p, w.spare), len(w.tails)) {
		// The cost if all larger filters were as long as this one:
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

// draws returns k. For Hashed it is the sum of all probabilities, rounded up.
func draws(r adaptive.Requirements, row []stretch) int {
	if r.Objective == adaptive.Independent {
		return 0
	}
	sum := 0.0
	for _, s := range row {
		sum += float64(s.positions) * s.q
	}
	return min(adaptive.MaxK, int(math.Ceil(sum)))
}

// runsOf returns the row as runs with integer odds.
func runsOf(p truncated.Problem, row []stretch) (runs []adaptive.Run) {
	for _, s := range row {
		runs = adaptive.AppendRun(runs, adaptive.Run{Positions: s.positions, Odds: adaptive.OddsOf(s.q / float64(max(1, p.K)))})
	}
	return runs
}

// design returns the design of the row, without the positions that no filter has.
func (w *walk) design() (*adaptive.Design, error) {
	p := truncated.Problem{K: draws(w.want, w.row), Rate: w.want.Rate}
	d := &adaptive.Design{Objective: w.want.Objective, K: p.K, Ends: w.ends, Method: adaptive.BySearch, Rate: w.want.Rate, Weights: w.want.Weights}
	left := d.Bits()
	for _, r := range runsOf(p, w.row) {
		r.Positions = min(r.Positions, left)
		left -= r.Positions
		d.Runs = adaptive.AppendRun(d.Runs, r)
	}
	if err := d.ChooseLeast(); err != nil {
		return nil, err
	}
	return d, nil
}

// ends yields the least lengths at which positions of these runs have the gain that
// filters of 1, 2, … links need: m_i = α(i, f, q) of section V. It ends before links if
// the runs are too short.
func ends(p truncated.Problem, runs []adaptive.Run, links int) iter.Seq2[int, int] {
	return func(yield func(i, m int) bool) {
		blocks := make([]block, len(runs))
		for r, run := range runs {
			q := run.Fraction()
			blocks[r] = block{float64(run.Positions), q, p.Zero(q, 1), 1}
		}
		need := p.Need()
		for i := 1; i <= links; i++ {
			for r := range blocks {
				blocks[r].zero *= blocks[r].link
			}
			m, ok := reach(p, need, blocks)
			if !ok || !yield(i, m) {
				return
			}
		}
	}
}

// block is a run during the computation of lengths: q is the probability of its
// positions, and link and zero are the probabilities that one link and that i links leave
// a position zero.
type block struct{ positions, q, link, zero float64 }

// reach returns the number of positions that have the gain that is missing.
func reach(p truncated.Problem, missing float64, blocks []block) (m int, ok bool) {
	for _, b := range blocks {
		gain := p.GainAt(b.q, b.zero)
		if missing <= gain*(b.positions+truncated.Slack) {
			return m + int(min(b.positions, math.Ceil(missing/gain-truncated.Slack))), true
		}
		missing -= gain * b.positions
		m += int(b.positions)
	}
	return 0, false
}
