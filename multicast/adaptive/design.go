package adaptive

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Limits of a design.
const (
	MaxLinks = 4096      // number of links of the largest filter
	MaxBits  = 1<<16 - 1 // positions of a codeword: the length field of a header has 16 bits
	MaxK     = 255       // draws of a codeword of the objective Hashed
)

// Objective is the problem of the paper that a design solves. It determines how
// codewords are drawn.
type Objective uint8

const (
	// Independent sets each position of a codeword with its own probability. The rate is
	// that of Theorem 2: equations (8) and (16), section V-A.
	Independent Objective = iota
	// Hashed draws K positions of a codeword, all from one distribution. The rate is
	// about that of Theorem 1: equations (3) and (21), section V-B.
	Hashed
)

var objectives = [...]string{"independent", "hashed"}

// String returns "independent" or "hashed".
func (o Objective) String() string {
	if int(o) < len(objectives) {
		return objectives[o]
	}
	return fmt.Sprintf("objective %d", uint8(o))
}

// Method is how a design was found. It is information only.
type Method uint8

const (
	Other     Method = iota // any other method
	ByFormula               // the paper's formula, equations (17) to (19)
	BySearch                // the paper's random search, Algorithm 1
	ByOptimum               // [Optimum]
)

var methods = [...]string{"other", "heuristic", "greedy", "optimum"}

// String returns "other", "heuristic", "greedy" or "optimum".
func (m Method) String() string {
	if int(m) < len(methods) {
		return methods[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// Run is a sequence of positions with the same probability.
type Run struct {
	Positions int // at least 1
	// Odds is the probability of one position in units of 2^-64, above zero. With the
	// objective Hashed it is the probability that one draw selects the position; the
	// sum over all positions is then at most one, and the rest is the share of draws
	// that set no position.
	Odds uint64
}

// Fraction returns the probability as a fraction.
func (r Run) Fraction() float64 { return math.Ldexp(float64(r.Odds), -64) }

// OddsOf returns the largest value of [Run.Odds] that is at most q, for q inside (0, 1),
// and at least 1.
func OddsOf(q float64) uint64 { return max(1, uint64(math.Ldexp(q, 64))) }

// AppendRun appends r to runs, as part of the last run if the probabilities are equal.
// If r has no positions it returns runs unchanged.
func AppendRun(runs []Run, r Run) []Run {
	switch n := len(runs); {
	case r.Positions == 0:
	case n > 0 && runs[n-1].Odds == r.Odds:
		runs[n-1].Positions += r.Positions
	default:
		runs = append(runs, r)
	}
	return runs
}

// Design determines how codewords are drawn and where filters of them are cut.
// Everything that determines bits is an integer, so that a design means the same on
// every machine. A design is not changed after it is made. It is safe to read
// concurrently.
type Design struct {
	Objective Objective
	K         int // draws of a codeword; 0 if Objective is Independent
	// Least is the number of ones that a codeword must have among the first Ends[0]
	// positions; a codeword with fewer is redrawn, see [Sampler]. If it is 0 no codeword
	// is redrawn, as in the paper, and some links match every filter that is cut short.
	Least int
	Runs  []Run // from the first position on; neighbors differ in their odds
	Ends  []int // Ends[i-1] is m_i, the length of a filter of i links; not decreasing

	// What the design was made for. These fields do not influence codewords.
	Method  Method
	Rate    float64 // at which links that are not in the filter may match
	Weights Weights // how frequent 1, 2, … links are; nil if the method doesn't use them
}

// Links returns the largest number of links that the design is for.
func (d *Design) Links() int { return len(d.Ends) }

// Bits returns the number of positions of a codeword, which is the length of a filter
// of d.Links() links.
func (d *Design) Bits() int {
	if len(d.Ends) == 0 {
		return 0
	}
	return d.Ends[len(d.Ends)-1]
}

// Truncate returns m_n, the number of positions to which a filter of n links is cut.
// It returns 0 for n = 0, and ok is false if n is outside 0 to d.Links().
func (d *Design) Truncate(n int) (m int, ok bool) {
	switch {
	case n == 0:
		return 0, true
	case n < 0 || n > len(d.Ends):
		return 0, false
	}
	return d.Ends[n-1], true
}

// Lengths returns m_1, m_2, … as numbers of bits.
func (d *Design) Lengths() Lengths {
	l := make(Lengths, len(d.Ends))
	for i, m := range d.Ends {
		l[i] = float64(m)
	}
	return l
}

// Check returns an error wrapping [umbel.ErrGoal] if a field violates its comment. It
// does not compute rates.
func (d *Design) Check() error {
	switch {
	case int(d.Objective) >= len(objectives):
		return sentinel.Errorf(umbel.ErrGoal, "%v, want 0 or 1", d.Objective)
	case int(d.Method) >= len(methods):
		return sentinel.Errorf(umbel.ErrGoal, "%v, want at most %d", d.Method, len(methods)-1)
	case d.Objective == Independent && d.K != 0:
		return sentinel.Errorf(umbel.ErrGoal, "k is %d with independent positions, want 0", d.K)
	case d.Objective == Hashed && (d.K < 1 || d.K > MaxK):
		return sentinel.Errorf(umbel.ErrGoal, "k is %d, want 1 to %d", d.K, MaxK)
	}
	if err := checkRate(d.Rate); err != nil {
		return err
	}
	if err := d.checkEnds(); err != nil {
		return err
	}
	if err := d.checkRuns(); err != nil {
		return err
	}
	if d.Least < 0 || d.Least > d.mostOnes() {
		return sentinel.Errorf(umbel.ErrGoal, "codewords need %d ones among their first %d positions, want at most %d", d.Least, d.Ends[0], d.mostOnes())
	}
	if d.Weights == nil {
		return nil
	}
	if len(d.Weights) != len(d.Ends) {
		return sentinel.Errorf(umbel.ErrGoal, "%d weights in a design for %d links, want %d or none", len(d.Weights), len(d.Ends), len(d.Ends))
	}
	return d.Weights.Check()
}

// mostOnes returns the largest number of ones that a codeword can have among its first
// m_1 positions.
func (d *Design) mostOnes() int {
	if d.Objective == Hashed {
		return min(d.K, d.Ends[0])
	}
	return d.Ends[0]
}

func (d *Design) checkEnds() error {
	if len(d.Ends) < 1 || len(d.Ends) > MaxLinks {
		return sentinel.Errorf(umbel.ErrGoal, "a design for %d links, want 1 to %d", len(d.Ends), MaxLinks)
	}
	before := 1
	for i, m := range d.Ends {
		if m < before || m > MaxBits {
			return sentinel.Errorf(umbel.ErrGoal, "a filter of %d links has %d bits, want %d to %d", i+1, m, before, MaxBits)
		}
		before = m
	}
	return nil
}

func (d *Design) checkRuns() error {
	positions := 0
	var all, ones uint64 // the sum of the odds is ones·2^64 + all
	for i, r := range d.Runs {
		switch {
		case r.Positions < 1 || r.Positions > d.Bits()-positions:
			return sentinel.Errorf(umbel.ErrGoal,
				"run %d has %d positions, want 1 to %d, since %d are left of %d",
				i, r.Positions, d.Bits()-positions, d.Bits()-positions, d.Bits())
		case r.Odds == 0:
			return sentinel.Errorf(umbel.ErrGoal, "run %d has odds of 0, want more", i)
		case i > 0 && r.Odds == d.Runs[i-1].Odds:
			return sentinel.Errorf(umbel.ErrGoal, "runs %d and %d have the same odds, want one run", i-1, i)
		}
		positions += r.Positions
		if d.Objective == Hashed {
			high, low := bits.Mul64(r.Odds, uint64(r.Positions))
			var carry uint64
			all, carry = bits.Add64(all, low, 0)
			if ones += high + carry; ones > 1 || ones == 1 && all > 0 {
				return sentinel.Errorf(umbel.ErrGoal, "the probabilities of the first %d positions sum to more than 1", positions)
			}
		}
	}
	if positions != d.Bits() {
		return sentinel.Errorf(umbel.ErrGoal, "the runs have %d positions, want %d, the length of a filter of %d links", positions, d.Bits(), len(d.Ends))
	}
	return nil
}

func checkRate(rate float64) error {
	if !(rate > 0 && rate < 1) {
		return sentinel.Errorf(umbel.ErrGoal, "rate %v, want a fraction between 0 and 1, for example 0.01", rate)
	}
	return nil
}

// checkGoal returns an error wrapping [umbel.ErrGoal] if no design exists for n links at
// the rate.
func checkGoal(n int, rate float64) error {
	if n < 1 || n > MaxLinks {
		return sentinel.Errorf(umbel.ErrGoal, "a design for %d links, want 1 to %d", n, MaxLinks)
	}
	return checkRate(rate)
}

// ChooseLeast sets d.Least so that at most an eighth of all codewords are redrawn and
// every codeword has at least one one among the first m_1 positions. It is for designs
// that are not made by this package. It returns an error wrapping [umbel.ErrGoal] if d is
// not valid; see [Design.Check].
func (d *Design) ChooseLeast() error {
	if m := d.Bits(); m > MaxBits {
		return sentinel.Errorf(umbel.ErrGoal,
			"filters of %d links at a rate of %v have more than %d bits; accept a higher rate or fewer links", len(d.Ends), d.Rate, MaxBits)
	}
	d.Least = 0
	if err := d.Check(); err != nil {
		return err
	}
	d.Least = leastFor(d)
	return nil
}
