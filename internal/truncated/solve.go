package truncated

import "math"

// Relaxed is the solution of a problem whose lengths need not be whole numbers. No
// design has a smaller mean length.
type Relaxed struct {
	K      int       // draws per codeword; 0 for independent positions
	Odds   []float64 // Odds[t-1] is the chance of the positions of block t; with draws, the chance of one draw
	Blocks []float64 // Blocks[t-1] is the length of block t: the positions of filters of t links that smaller filters lack
	Mean   float64   // mean length
	Bound  float64   // lower bound on the mean length, by duality; it equals Mean except for rounding
}

// Lengths returns m_1, m_2, …
func (r Relaxed) Lengths() []float64 {
	l := make([]float64, len(r.Blocks))
	sum := 0.0
	for t, b := range r.Blocks {
		sum += b
		l[t] = sum
	}
	return l
}

// mass returns the sum of the chances of all positions.
func (r Relaxed) mass() (sum float64) {
	for t, b := range r.Blocks {
		sum += b * r.Odds[t]
	}
	return sum
}

// Goal is what a solution is required for.
type Goal struct {
	Hashed bool      // section V-B: codewords have K draws
	K      int       // with Hashed: draws per codeword, or 0 for the best number up to MaxK
	MaxK   int       // with Hashed: the largest number of draws
	Rate   float64   // at which links that are not in the filter may match, inside (0, 1)
	Tails  []float64 // Tails[t-1] is C_t, the share of filters with at least t links
}

// Solve returns the solution with the least mean length; if whole is set, that with the
// least mean of lengths that are rounded up to whole numbers.
//
// Block t consists of the positions that filters of t links have and smaller filters
// lack. It has L_t positions, each with chance q_t, and C_t is the share of filters that
// have the block. The mean length is the sum of L_t·C_t. A filter of i links requires
// that the sum of L_t·g_i(q_t) over t up to i is ln(1/f), with g_i(q) = -ln(1-q(1-q)^i),
// or 1-f^(1/k), with g_i(q) = q(1-q)^(ik). This is linear in L. Its dual has a price y_i
// for each requirement, and is solved from the last one to the first:
//
//	y_t = min over q of (C_t + μq - sum over i>t of y_i·g_i(q)) / g_t(q)
//
// q_t is the q of the minimum. L_1, L_2, … then follow from the requirements, which all
// hold with equality. The L_t are positive, because a block has less gain for more
// links. So the primal and the dual solution agree and both are optimal, for any
// weights. μ is the price of odds: 0 for independent positions; with draws, the price at
// which the chances of all positions sum to one. The search for the best k starts at
// 1.8·log2(1/f), which is about the best k if all sizes are equally frequent; if c_i is
// proportional to 1/i, the best k is about twice that.
func (g Goal) Solve(whole bool) Relaxed {
	if !g.Hashed {
		s, _ := g.solve(0, whole, 0)
		return s
	}
	if g.K != 0 {
		s, _ := g.solve(g.K, whole, 1)
		return s
	}
	// Compare k by the bounds. Near the best k the price hardly changes.
	start := min(g.MaxK, max(1, int(math.Round(-1.8*math.Log2(g.Rate)))))
	first, price := g.solve(start, false, 1)
	best, at := first, price
	for _, step := range []int{1, -1} {
		near := price
		for k, worse := start+step, 0; k >= 1 && k <= g.MaxK && worse < 2; k += step {
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
	// If lengths are small, rounding may make a neighbor of k better.
	about := best.K
	best.Mean = math.Inf(1)
	for k := max(1, about-2); k <= min(g.MaxK, about+2); k++ {
		if s, _ := g.solve(k, true, at); s.Mean < best.Mean {
			best = s
		}
	}
	return best
}

// solve returns the solution for one k, and the price of odds that it uses. With draws
// this is the least price at which the chances of all positions sum to at most one; the
// search for it starts at near.
func (g Goal) solve(k int, whole bool, near float64) (best Relaxed, price float64) {
	s := newSolver(Problem{k, g.Rate}, g.Tails, whole)
	best = s.at(0)
	if !g.Hashed || best.mass() <= 1 {
		return best, 0
	}
	// Bracket the price by one that is too low, cheap, and one that is high enough,
	// dear. Prices and masses are logarithms.
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
		share := cheap.mass / (cheap.mass - dear.mass) // the zero of the line through both
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

// solver holds what the solutions for all prices of odds share.
type solver struct {
	Problem
	tails []float64 // C_t, at t-1
	grid  []float64 // the chances among which the first search is done
	gains []float64 // gains[t·len(grid)+j] is the gain of grid[j] for t+1 links
	whole bool
}

// ratio is the quotient of neighbors in the grid. A parabola through three neighbors
// then finds the minimum to a thousandth of a bit.
const ratio = 1.015

func newSolver(p Problem, tails []float64, whole bool) *solver {
	s := &solver{Problem: p, tails: tails, whole: whole}
	n := len(tails)
	for q := 0.75; q > 1/(64*float64(max(1, p.K))*float64(n)); q /= ratio {
		s.grid = append(s.grid, q)
	}
	size := len(s.grid)
	s.gains = make([]float64, n*size)
	for j, q := range s.grid {
		link := p.Zero(q, 1)
		zero := 1.0
		for at := j; at < len(s.gains); at += size {
			zero *= link
			s.gains[at] = p.GainAt(q, zero)
		}
	}
	return s
}

// at returns the solution for one price of odds.
func (s *solver) at(price float64) Relaxed {
	n, size := len(s.tails), len(s.grid)
	r := Relaxed{K: s.K, Odds: make([]float64, n)}
	y := make([]float64, n)
	paid := make([]float64, size) // sum over i>t of y_i·g_i(q)
	for t := n - 1; t >= 0; t-- {
		gains := s.gains[t*size:][:size]
		cost := func(j int) float64 {
			if gains[j] < 1e-290 { // with this many links the position has no effect
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
	r.Blocks = s.Forward(r.Odds, s.whole)
	for t, l := range r.Blocks {
		r.Mean += l * s.tails[t]
		r.Bound += s.Need() * y[t]
	}
	r.Bound -= price // of all positions, whose chances sum to one; 0 if they are independent
	return r
}

// exact returns the cost of a chance q that is not in the grid, by the prices after t.
func (s *solver) exact(t int, price, q float64, y []float64) float64 {
	paid := 0.0
	link, zero := s.Zero(q, 1), s.Zero(q, t+1)
	first := s.GainAt(q, zero)
	for _, price := range y[t+1:] {
		zero *= link
		paid += price * s.GainAt(q, zero)
	}
	return (s.tails[t] + price*q - paid) / first
}

// valley returns the position of the minimum of the parabola through three points, at
// -1, 0 and 1. The middle one is the lowest.
func valley(left, middle, right float64) float64 {
	bend := left - 2*middle + right
	if !(bend > 0) || math.IsInf(bend, 1) {
		return 0
	}
	return (left - right) / bend / 2
}
