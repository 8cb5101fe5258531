package adaptive

import "math"

// Relaxed is the solution of a problem of which lengths needn't be whole numbers: no
// design costs less.
type Relaxed struct {
	K      int       // draws, of Hashed
	Odds   []float64 // of the positions of block t, those that filters of t links have and smaller ones lack, at t-1; of Hashed those of one draw
	Blocks []float64 // numbers of these positions
	Mean   float64   // mean length
	Bound  float64   // less isn't possible: by duality. Mean and Bound agree but for rounding.
}

// Lengths returns m_1, m_2, …
func (r Relaxed) Lengths() Lengths {
	l := make(Lengths, len(r.Blocks))
	sum := 0.0
	for t, b := range r.Blocks {
		sum += b
		l[t] = sum
	}
	return l
}

// Optimum returns the design with the least mean length of all that there are for a
// goal, but for rounding positions to whole ones, which costs half a bit. It is what
// the paper's random search ([Greedy]) looks for.
//
// Take block t to be the positions that filters of t links have and smaller ones lack,
// L_t of them with odds q_t, and C_t the share of filters that have the block. The mean
// length is the sum of L_t·C_t, and filters of i links need that the sum of
// L_t·g_i(q_t) over t up to i is ln 1/f (Independent, g_i(q) = -ln(1-q(1-q)^i)) or
// 1-f^(1/k) (Hashed, g_i(q) = q(1-q)^(ik)). That is linear in L; its dual has a price
// y_i of each of these needs, and is solved from the last one down:
//
//	y_t = min over q of (C_t + μq - sum over i>t of y_i·g_i(q)) / g_t(q)
//
// q_t is where the minimum is, and then L_1, L_2, … follow from the needs, all met with
// equality. They are positive, since a block does less for more links; so primal and
// dual solution agree and both are best, whatever the weights are. μ is the price of
// odds: 0 for Independent, and for Hashed such that the odds of all positions together
// are one. For Hashed k is tried up and down from 1.8·log2(1/f), which is about the best
// if all sizes are as frequent; if c_i is as 1/i it is twice that.
//
// For 200 links it takes 5 ms (Independent) or 0.12 s (Hashed), for 4096 a fifth of a
// second or 11 s (one core of an AMD EPYC, November 2026).
//
// The error wraps [umbel.ErrGoal]: see [Goal.Check]; or codewords would have more than
// [MaxBits] positions.
func Optimum(g Goal) (*Design, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	s := g.best(true)
	odds := make([]uint64, len(s.Odds))
	for t, q := range s.Odds {
		odds[t] = oddsOf(q)
	}
	d := g.problem(s.K).design(ByOptimum, s.Blocks, odds)
	d.Weights = g.Weights
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d, nil
}

// Relax returns the optimum with parts of positions, and the bound that shows that
// nothing is less: see [Optimum], and there too for errors.
func Relax(g Goal) (Relaxed, error) {
	if err := g.Check(); err != nil {
		return Relaxed{}, err
	}
	return g.best(false), nil
}

func (g Goal) problem(k int) problem { return problem{g.Objective, float64(k), g.Rate} }

// best solves for the best k, or the one that is wanted.
func (g Goal) best(whole bool) Relaxed {
	if g.Objective == Independent {
		s, _ := g.solve(0, whole, 0)
		return s
	}
	if g.K != 0 {
		s, _ := g.solve(g.K, whole, 1)
		return s
	}
	// By the bounds, which hardly change with the price near the best one.
	start := min(MaxK, max(1, int(math.Round(-1.8*math.Log2(g.Rate)))))
	first, price := g.solve(start, false, 1)
	best, at := first, price
	for _, step := range []int{1, -1} {
		near := price
		for k, worse := start+step, 0; k >= 1 && k <= MaxK && worse < 2; k += step {
			var s Relaxed
			if s, near = g.solve(k, false, near); s.Bound < best.Bound {
				best, at, worse = s, near, 0
			} else {
				worse++
			}
		}
	}
	if !whole {
		return best
	}
	// Where lengths are small, rounding them may tip the scale.
	about := best.K
	best.Mean = math.Inf(1)
	for k := max(1, about-2); k <= min(MaxK, about+2); k++ {
		if s, _ := g.solve(k, true, at); s.Mean < best.Mean {
			best = s
		}
	}
	return best
}

// solve solves for one k: of Hashed for the least price of odds with which these are at
// most one together, which is looked for from near on, and returned too.
func (g Goal) solve(k int, whole bool, near float64) (best Relaxed, price float64) {
	s := newSolver(g.problem(k), g.Weights, whole)
	best = s.at(0)
	if g.Objective == Independent || best.mass() <= 1 {
		return best, 0
	}
	// Prices and masses as logarithms: too cheap, and dear enough.
	type point struct{ price, mass float64 }
	try := func(price float64) (Relaxed, point) {
		x := s.at(math.Exp(price))
		return x, point{price, math.Log(x.mass())}
	}
	_, cheap := try(math.Log(max(near, 1e-9)))
	dear := cheap
	for cheap.mass <= 0 {
		dear = cheap
		_, cheap = try(cheap.price - 1)
	}
	for dear.mass > 0 {
		cheap = dear
		_, dear = try(dear.price + 1)
	}
	best, _ = try(dear.price)
	for i := 0; i < 50 && dear.mass < -1e-6; i++ {
		share := cheap.mass / (cheap.mass - dear.mass) // where a line through both is zero
		if i%3 == 2 {
			share = 0.5
		}
		x, p := try(cheap.price + max(0.02, min(0.98, share))*(dear.price-cheap.price))
		if p.mass > 0 {
			cheap = p
		} else {
			best, dear = x, p
		}
	}
	return best, math.Exp(dear.price)
}

// mass returns the odds of all positions together.
func (r Relaxed) mass() (sum float64) {
	for t, b := range r.Blocks {
		sum += b * r.Odds[t]
	}
	return sum
}

// solver has what the solutions for all prices of odds have in common.
type solver struct {
	problem
	tails []float64 // C_t, at t-1
	grid  []float64 // odds among which the best are looked for first
	gains []float64 // gains[t·len(grid)+j] is the gain of grid[j] for t+1 links
	whole bool
}

// ratio is that of neighbours in the grid. Between them the minimum is found by a
// parabola, of which the rest of a thousandth of a bit.
const ratio = 1.015

func newSolver(p problem, w Weights, whole bool) *solver {
	s := &solver{problem: p, tails: w.tails(), whole: whole}
	n := len(w)
	for q := 0.75; q > 1/(64*max(1, p.k)*float64(n)); q /= ratio {
		s.grid = append(s.grid, q)
	}
	size := len(s.grid)
	s.gains = make([]float64, n*size)
	for j, q := range s.grid {
		link := p.zero(q, 1)
		zero := 1.0
		for at := j; at < len(s.gains); at += size {
			zero *= link
			s.gains[at] = p.gainAt(q, zero)
		}
	}
	return s
}

// at solves for one price of odds.
func (s *solver) at(price float64) Relaxed {
	n, size := len(s.tails), len(s.grid)
	r := Relaxed{K: int(s.k), Odds: make([]float64, n)}
	y := make([]float64, n)
	paid := make([]float64, size) // sum over i>t of y_i·g_i(q)
	for t := n - 1; t >= 0; t-- {
		gains := s.gains[t*size:][:size]
		cost := func(j int) float64 {
			if gains[j] < 1e-290 { // so many links that such odds do nothing
				return math.Inf(1)
			}
			return (s.tails[t] + price*s.grid[j] - paid[j]) / gains[j]
		}
		least, at := math.Inf(1), 0
		for j := range size {
			if c := cost(j); c < least {
				least, at = c, j
			}
		}
		r.Odds[t], y[t] = s.grid[at], least
		if at > 0 && at < size-1 {
			q := s.grid[at] * math.Pow(ratio, -valley(cost(at-1), least, cost(at+1)))
			if c := s.exact(t, price, q, y); c < least {
				r.Odds[t], y[t] = q, c
			}
		}
		y[t] = max(0, y[t])
		for j, g := range gains {
			paid[j] += y[t] * g
		}
	}
	r.Blocks = s.forward(r.Odds, s.whole)
	for t, l := range r.Blocks {
		r.Mean += l * s.tails[t]
		r.Bound += s.need() * y[t]
	}
	r.Bound -= price // of all odds, which are one together; 0 for Independent
	return r
}

// exact returns the cost of odds that aren't in the grid, by the prices after t.
func (s *solver) exact(t int, price, q float64, y []float64) float64 {
	paid := 0.0
	link, zero := s.zero(q, 1), s.zero(q, t+1)
	first := s.gainAt(q, zero)
	for _, price := range y[t+1:] {
		zero *= link
		paid += price * s.gainAt(q, zero)
	}
	return (s.tails[t] + price*q - paid) / first
}

// valley returns where the parabola through three points, at -1, 0 and 1, is least,
// given that the middle one is least.
func valley(left, middle, right float64) float64 {
	bend := left - 2*middle + right
	if !(bend > 0) || math.IsInf(bend, 1) {
		return 0
	}
	return (left - right) / bend / 2
}
