package adaptive

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
)

// Limits of a design, the same for those that are made and those that are read.
const (
	MaxLinks = 4096      // links that a filter may be for
	MaxBits  = 1<<16 - 1 // positions of a codeword: the length field of a header has 16 bits
	MaxK     = 255       // positions that a codeword of the objective Hashed draws
)

// Objective is which of the paper's two problems a design is for, and with it how
// codewords are drawn.
type Objective uint8

const (
	// Independent: each position of a codeword is set by odds of its own, and the
	// rate is that of Theorem 2: equations (8) and (16), section V-A.
	Independent Objective = iota
	// Hashed: a codeword has K positions, each drawn from one distribution, and the
	// rate is about that of Theorem 1: equations (3) and (21), section V-B.
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

// Method is how a design was found. It changes nothing about the design.
type Method uint8

const (
	Other     Method = iota // by somebody else
	ByFormula               // [Heuristic]
	BySearch                // [Greedy]
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

// Run is a row of positions with the same odds.
type Run struct {
	Positions int // at least 1
	// Odds are those of one position in units of 2^-64, above zero. Of a design with
	// the objective Hashed they are those that one of the K draws falls there; the
	// odds of all positions are then at most one together, and what is missing to
	// one is the share of draws that set nothing.
	Odds uint64
}

// Design is how codewords are drawn, and where filters of them are cut. All that
// bits depend on is a whole number, so it means the same on every machine. It isn't
// changed once it is made, and may then be read by many goroutines.
type Design struct {
	Objective Objective
	K         int // draws of a codeword; 0 if Objective is Independent
	// Least is the number of ones that a codeword has to have among the first
	// Ends[0] positions: one with fewer is drawn again, see [Sampler]. With 0 none
	// is, as in the paper, and some links match every filter that is cut short.
	Least int
	Runs  []Run // from the first position on; neighbours differ in their odds
	Ends  []int // Ends[i-1] is m_i, the length of a filter of i links; they don't fall

	// What the design was made for. It takes no part in drawing codewords.
	Method  Method
	Rate    float64 // at which other links may match
	Weights Weights // how often there are 1, 2, … links; nil if the method doesn't ask
}

// Links returns the largest number of links that the design is for.
func (d *Design) Links() int { return len(d.Ends) }

// Bits returns the number of positions of a codeword, which is the length of a filter
// of as many links as the design is for.
func (d *Design) Bits() int {
	if len(d.Ends) == 0 {
		return 0
	}
	return d.Ends[len(d.Ends)-1]
}

// Truncate returns m_n, the number of positions that a filter of n links is cut to;
// ok is false if the design isn't for so many. Without links it is zero.
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

// Check returns an error that wraps [umbel.ErrGoal] if no codewords can be drawn by
// the design or it isn't in its one form; see the fields. It doesn't compute rates.
func (d *Design) Check() error {
	switch {
	case int(d.Objective) >= len(objectives):
		return fmt.Errorf("adaptive: %v, want 0 or 1: %w", d.Objective, umbel.ErrGoal)
	case int(d.Method) >= len(methods):
		return fmt.Errorf("adaptive: %v, want at most %d: %w", d.Method, len(methods)-1, umbel.ErrGoal)
	case d.Objective == Independent && d.K != 0:
		return fmt.Errorf("adaptive: k is %d with independent positions, want 0: %w", d.K, umbel.ErrGoal)
	case d.Objective == Hashed && (d.K < 1 || d.K > MaxK):
		return fmt.Errorf("adaptive: k is %d, want 1 to %d: %w", d.K, MaxK, umbel.ErrGoal)
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
	if d.Least < 0 || d.Least > d.Ends[0] || d.Objective == Hashed && d.Least > d.K {
		return fmt.Errorf("adaptive: codewords are to have %d ones among their first %d positions, want 0 up to what they can have: %w", d.Least, d.Ends[0], umbel.ErrGoal)
	}
	if d.Weights == nil {
		return nil
	}
	if len(d.Weights) != len(d.Ends) {
		return fmt.Errorf("adaptive: %d weights in a design for %d links, want as many or none: %w", len(d.Weights), len(d.Ends), umbel.ErrGoal)
	}
	return d.Weights.Check()
}

func (d *Design) checkEnds() error {
	if len(d.Ends) < 1 || len(d.Ends) > MaxLinks {
		return fmt.Errorf("adaptive: a design for %d links, want 1 to %d: %w", len(d.Ends), MaxLinks, umbel.ErrGoal)
	}
	before := 1
	for i, m := range d.Ends {
		if m < before || m > MaxBits {
			return fmt.Errorf("adaptive: a filter of %d links has %d bits, want %d to %d: %w", i+1, m, before, MaxBits, umbel.ErrGoal)
		}
		before = m
	}
	return nil
}

func (d *Design) checkRuns() error {
	positions := 0
	var all, ones uint64 // the odds of all positions, and how often these passed 2^64
	for i, r := range d.Runs {
		switch {
		case r.Positions < 1 || r.Positions > d.Bits()-positions:
			return fmt.Errorf("adaptive: run %d has %d positions, want 1 to the %d that are left of %d: %w", i, r.Positions, d.Bits()-positions, d.Bits(), umbel.ErrGoal)
		case r.Odds == 0:
			return fmt.Errorf("adaptive: run %d has odds of 0, want more: %w", i, umbel.ErrGoal)
		case i > 0 && r.Odds == d.Runs[i-1].Odds:
			return fmt.Errorf("adaptive: runs %d and %d have the same odds, want them to be one run: %w", i-1, i, umbel.ErrGoal)
		}
		positions += r.Positions
		if d.Objective == Hashed {
			high, low := bits.Mul64(r.Odds, uint64(r.Positions))
			var carry uint64
			all, carry = bits.Add64(all, low, 0)
			if ones += high + carry; ones > 1 || ones == 1 && all > 0 {
				return fmt.Errorf("adaptive: the odds of the positions up to %d are above one together: %w", positions, umbel.ErrGoal)
			}
		}
	}
	if positions != d.Bits() {
		return fmt.Errorf("adaptive: runs of %d positions, want the %d of a filter of %d links: %w", positions, d.Bits(), len(d.Ends), umbel.ErrGoal)
	}
	return nil
}

func checkRate(rate float64) error {
	if !(rate > 0 && rate < 1) {
		return fmt.Errorf("adaptive: rate %v, want more than 0 and less than 1, 0.01 for one percent: %w", rate, umbel.ErrGoal)
	}
	return nil
}

// checkGoal returns an error that wraps [umbel.ErrGoal] unless there is a design for so
// many links at such a rate.
func checkGoal(n int, rate float64) error {
	if n < 1 || n > MaxLinks {
		return fmt.Errorf("adaptive: a design for %d links, want 1 to %d: %w", n, MaxLinks, umbel.ErrGoal)
	}
	return checkRate(rate)
}

// finish chooses how many ones codewords have at the front, if the design is one.
func (d *Design) finish() error {
	if m := d.Bits(); m > MaxBits {
		return fmt.Errorf("adaptive: filters of %d links at a rate of %v have more than %d bits; accept a higher rate or fewer links: %w", len(d.Ends), d.Rate, MaxBits, umbel.ErrGoal)
	}
	if err := d.Check(); err != nil {
		return err
	}
	d.Least = leastFor(d)
	return nil
}

// appendRun appends positions with odds, to the last run if those are its odds.
func appendRun(runs []Run, positions int, odds uint64) []Run {
	switch n := len(runs); {
	case positions == 0:
	case n > 0 && runs[n-1].Odds == odds:
		runs[n-1].Positions += positions
	default:
		runs = append(runs, Run{positions, odds})
	}
	return runs
}

// oddsOf returns the largest odds, in units of 2^-64, that are at most q, for q
// inside (0, 1), and at least one.
func oddsOf(q float64) uint64 { return max(1, uint64(math.Ldexp(q, 64))) }

// fraction returns the odds as a fraction.
func (r Run) fraction() float64 { return math.Ldexp(float64(r.Odds), -64) }
