package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// WeightedKs returns the whole numbers of cells per key, from 1 to maxK, one for each
// class, that give a filter of m cells the least [WeightedFPRate], and that rate. A
// class without members, whose cells cost nothing, gets maxK, and one about which
// nobody asks gets 1.
//
// The result is the best of all, to 10 digits of the rate: see weightedSearch. The
// proof takes 14 ms for 14 classes and 45 ms for 26 (one core of an AMD EPYC, November
// 2026: go test ./plan -bench WeightedKs); if it took more than 2^20 steps, the
// result would be the best found by then.
//
// The error wraps [ErrRange] if maxK is less than 1, and where that of
// WeightedFPRate does.
func WeightedKs(m uint64, classes []Class, maxK int) (ks []int, rate float64, err error) {
	_, queries, err := sums(m, classes)
	if err != nil {
		return nil, 0, err
	}
	if maxK < 1 {
		return nil, 0, fmt.Errorf("plan: at most %d cells per key, want at least 1: %w", maxK, ErrRange)
	}
	ks = make([]int, len(classes))
	s := weightedSearch{m: float64(m), maxK: maxK, steps: 1 << 20}
	for i, c := range classes {
		share := c.Queries / queries // 0 also where there are 10^308 times as many others
		switch {
		case share == 0:
			ks[i] = 1
			s.idle += c.Members
		case c.Members == 0:
			ks[i] = maxK
			s.free += c.Queries
		default:
			s.classes = append(s.classes, Class{c.Members, share})
			s.at = append(s.at, i)
		}
	}
	s.free /= queries
	s.run()
	for i, k := range s.best {
		ks[s.at[i]] = k
	}
	return ks, weightedRate(float64(m), classes, ks) / queries, nil
}

// weightedSearch finds whole k_c that make f(k) = Σ r_c φ^k_c least, the fill φ
// depending on the load T = Σ n_c k_c. It begins with a good vector and then excludes
// all better ones, interval of loads by interval:
//
// A vector with a load in [a, b] has f(k) >= Σ r_c φ(a)^k_c, and b - Σ n_c k_c >= 0.
// So for any λ >= 0, with d_c(k) = r_c φ(a)^k + λ n_c k,
//
//	f(k) >= Σ d_c(k_c) - λ b >= Σ min d_c - λ b.
//
// If the right side, at the λ that makes it largest, is no less than the best f
// known, the interval has nothing better. Otherwise only vectors can be better whose
// excesses d_c(k_c) - min d_c add up to less than the difference. If these are few
// they are all tried, and else the interval is halved.
type weightedSearch struct {
	m          float64
	maxK       int
	classes    []Class // with members and questions, the latter as a share
	at         []int   // where they were
	idle, free float64 // members that nobody asks for, questions about classes without members
	steps      int     // that are left

	best []int
	rate float64 // of best
}

func (s *weightedSearch) run() {
	if len(s.classes) == 0 {
		return
	}
	s.start()
	least := s.idle
	for _, c := range s.classes {
		least += c.Members
	}
	s.exclude(least, s.idle+(least-s.idle)*float64(s.maxK))
}

// of returns f(k).
func (s *weightedSearch) of(ks []int) float64 {
	cells := s.idle
	for i, c := range s.classes {
		cells += c.Members * float64(ks[i])
	}
	fill := fillAfter(s.m, cells)
	rate := s.free * math.Pow(fill, float64(s.maxK))
	for i, c := range s.classes {
		rate += c.Queries * math.Pow(fill, float64(ks[i]))
	}
	return rate
}

// take makes a vector the best if it is.
func (s *weightedSearch) take(ks []int) bool {
	rate := s.of(ks)
	if s.best != nil && rate >= s.rate {
		return false
	}
	s.best, s.rate = append(s.best[:0], ks...), rate
	return true
}

// start tries the optimum in real numbers, rounded, with other sums, and then
// whatever differs from the best by one cell more, one less, or one from here to
// there.
func (s *weightedSearch) start() {
	logs := make([]float64, len(s.classes))
	for i, c := range s.classes {
		logs[i] = math.Log2(c.Queries) - math.Log2(c.Members) // their quotient may be infinite
	}
	ks := make([]int, len(s.classes))
	low, high := slices.Min(logs), slices.Max(logs)
	for c := 1 - high; c <= float64(s.maxK)-low; c += 0.125 {
		for i, log := range logs {
			ks[i] = s.clamp(int(math.Round(c + log)))
		}
		s.take(ks)
	}
	for better := len(ks) <= 256; better; {
		better = false
		for i := range ks {
			for j := range ks {
				for _, d := range [2]int{1, -1} {
					copy(ks, s.best)
					ks[i] = s.clamp(ks[i] + d)
					if i != j {
						ks[j] = s.clamp(ks[j] - d)
					}
					better = s.take(ks) || better
				}
			}
		}
	}
}

func (s *weightedSearch) clamp(k int) int { return min(max(k, 1), s.maxK) }

// exclude makes sure that no vector with a load in [a, b] is better than the best.
func (s *weightedSearch) exclude(a, b float64) {
	const few = 100
	d := s.duals(a, b)
	if d.slack <= 0 || s.steps <= 0 {
		return
	}
	if b/a < 1+1e-9 {
		s.try(d, s.steps)
		return
	}
	if !s.try(d, few) {
		middle := math.Sqrt(a) * math.Sqrt(b)
		s.exclude(a, middle)
		s.exclude(middle, b)
	}
}

// duals are the bounds of an interval of loads.
type duals struct {
	fill, lambda float64
	order        []int     // of the classes, those with most members first
	ks           []int     // where d_c is least
	least        []float64 // that least d_c
	slack        float64   // what the excesses of a better vector add up to, at most
}

// duals finds the λ with the highest bound: where the load of the least d_c passes
// from above b to below.
func (s *weightedSearch) duals(a, b float64) *duals {
	d := &duals{fill: fillAfter(s.m, a), ks: make([]int, len(s.classes)), least: make([]float64, len(s.classes))}
	low, high := 1e-300, 1e300
	for range 45 {
		d.lambda = math.Sqrt(low) * math.Sqrt(high)
		load := s.idle
		for i, c := range s.classes {
			load += c.Members * float64(s.argmin(d, i))
		}
		if load > b {
			low = d.lambda
		} else {
			high = d.lambda
		}
	}
	d.slack = s.rate*(1-1e-10) + d.lambda*(b-s.idle) - s.free*math.Pow(d.fill, float64(s.maxK))
	for i := range s.classes {
		d.ks[i] = s.argmin(d, i)
		d.least[i] = s.d(d, i, d.ks[i])
		d.slack -= d.least[i]
		d.order = append(d.order, i)
	}
	slices.SortFunc(d.order, func(i, j int) int { return cmp.Compare(s.classes[j].Members, s.classes[i].Members) })
	return d
}

func (s *weightedSearch) d(d *duals, i, k int) float64 {
	c := s.classes[i]
	return c.Queries*math.Pow(d.fill, float64(k)) + d.lambda*c.Members*float64(k)
}

// argmin returns the k for which d_c is least: r φ^k (1-φ) <= λ n holds from there on.
func (s *weightedSearch) argmin(d *duals, i int) int {
	c := s.classes[i]
	if d.fill >= 1 {
		return 1
	}
	real := math.Log(d.lambda*c.Members/c.Queries/(1-d.fill)) / math.Log(d.fill)
	return int(min(max(math.Ceil(real), 1), float64(s.maxK)))
}

// try tries all vectors that might be better, and reports whether that took fewer
// than so many steps.
func (s *weightedSearch) try(d *duals, steps int) bool {
	ks := make([]int, len(s.classes))
	var from func(at int, slack float64) bool
	from = func(at int, slack float64) bool {
		if steps--; steps < 0 {
			return false
		}
		s.steps--
		if at == len(d.order) {
			s.take(ks)
			return true
		}
		i := d.order[at]
		for _, way := range [2]int{1, -1} {
			k := d.ks[i]
			if way < 0 {
				k--
			}
			for ; k >= 1 && k <= s.maxK; k += way {
				left := slack - (s.d(d, i, k) - d.least[i])
				if left <= 0 {
					break
				}
				ks[i] = k
				if !from(at+1, left) {
					return false
				}
			}
		}
		return true
	}
	return from(0, d.slack)
}
