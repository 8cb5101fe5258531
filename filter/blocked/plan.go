package blocked

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "blocked Bloom filter: one cache miss per query, a few percent more memory (Putze et al. 2010)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (bits), rounded up to whole blocks of 512", Min: 1, Max: 1 << 55},
		{Name: "words", Doc: "words of a block that a key uses: up to 8, or up to 5 with two bits in each", Min: 1, Max: blockWords},
		{Name: "bits", Doc: "bits that it sets in each of them", Min: 1, Max: maxBits},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
	Locator:  func(s umbel.State) (umbel.Locator, error) { return Open(s.WithoutWords()) },
}.Kind()

// Plan returns the shape that meets the goal: for keys and rate, the least memory; for keys and bytes,
// the lowest rate; for rate and bytes, the most keys. It uses fewer words if they cost hardly more: at most 1 %
// of the memory or 3 % of the rate. Sizes are whole blocks. A size for keys and rate is
// rounded up, by less than 1 %, to one that folds well (plan.RoundFoldable). It returns an error wrapping
// umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// planWith is Plan with some parameters fixed; it also returns the number of keys that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	s := Shape{M: ps.Uint("m"), Words: int(ps.Uint("words")), Bits: int(ps.Uint("bits")), Hasher: g.Hasher}
	if err := s.design(g); err != nil {
		return Shape{}, 0, fmt.Errorf("blocked: %w", err)
	}
	m, _, n, err := s.sizing().Solve(g, s.M, 1)
	if err != nil {
		return Shape{}, 0, fmt.Errorf("blocked: %w", err)
	}
	s.M = m
	return s, n, s.checkGoal()
}

// many is a number of keys from which on the smallest size for a rate is proportional to it.
const many = 1 << 20

// design sets those of the words and bits of s that are zero, for a goal.
func (s *Shape) design(g umbel.Goal) error {
	m := s.M
	if m == 0 {
		m = min(g.Bytes, 1<<53) * 8
	}
	if m != 0 {
		m = max(m, BlockBits)
	}
	sized := m != 0 && m <= 1<<55 && g.Keys != 0
	rated := g.FPRate > 0 && g.FPRate < 1
	switch {
	case s.Words != 0 && s.Bits != 0:
		return sentinel.Wrap(umbel.ErrGoal, s.checkDesign())
	case !sized && !rated && m != 0:
		return sentinel.Errorf(umbel.ErrGoal, "a size alone doesn't determine the words and bits of a key: give both, or the number of keys, or a rate")
	case !sized && !rated:
		// The goal is incomplete: Solve returns the error for any design.
		s.Words, s.Bits = 1, 1
		return nil
	case s.Words != 0 || s.Bits != 0:
		return s.complete(func(words, bits int) float64 {
			if sized {
				return fpRate(m, words, bits, g.Keys)
			}
			m, err := size(many, words, bits, g.FPRate)
			if err != nil {
				return math.Inf(1)
			}
			return float64(m)
		})
	case sized:
		s.Words, s.Bits = bestLayout(m, g.Keys)
		return nil
	default:
		words, bits, err := layoutForRate(g.FPRate)
		if err != nil {
			return sentinel.Wrap(umbel.ErrGoal, err)
		}
		s.Words, s.Bits = words, bits
		return nil
	}
}

// complete sets the one of words and bits that is zero so that the cost is lowest.
func (s *Shape) complete(cost func(words, bits int) float64) error {
	least, best := math.Inf(1), *s
	for bits := 1; bits <= maxBits; bits++ {
		for words := range len(shifts[bits]) + 1 {
			if words == 0 || s.Words != 0 && words != s.Words || s.Bits != 0 && bits != s.Bits {
				continue
			}
			if c := cost(words, bits); c < least {
				least, best.Words, best.Bits = c, words, bits
			}
		}
	}
	if least == math.Inf(1) {
		return sentinel.Errorf(umbel.ErrGoal, "no filter with words = %d and bits = %d (0: any) has the required rate", s.Words, s.Bits)
	}
	*s = best
	return nil
}

// sizing returns the formulas for filters with the words and bits of s.
func (s *Shape) sizing() kinds.Sizing {
	words, bits := s.Words, s.Bits
	return kinds.Sizing{
		MaxK:   1,
		Width:  1,
		Design: fmt.Sprintf("%d bits in each of %d words", bits, words),
		Step:   func(int) uint64 { return BlockBits },
		Unit:   func(uint64, int) uint64 { return BlockBits },
		FPRate: func(m uint64, _ int, n uint64) float64 {
			return fpRate(max(m, BlockBits), words, bits, n)
		},
		SizeForK: func(n uint64, _ int, p float64) (uint64, error) { return size(n, words, bits, p) },
	}
}
