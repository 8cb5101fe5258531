package counting_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// tally is a filter and the number of times that each key is in it.
type tally struct {
	f    *counting.Filter
	r    *rand.Rand
	keys []umbel.Digest
	in   map[umbel.Digest]int
	view bool // the filter has a view
}

// In any sequence of calls no key is lost, no count is too low, and the view has the bits
// of the nonzero counters.
func TestAnySequence(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := counting.Shape{
			M: []uint64{1, 2, 12, 60, 64, 6 * 64, 130 * 64}[r.IntN(7)],
			K: 1 + r.IntN(12), Width: []uint{4, 4, 8, 16}[r.IntN(4)],
		}
		if s.M%64 == 0 && r.IntN(2) == 0 {
			s.Group = 6
		}
		c := tally{f: mustNew(t, s), r: r, keys: fixture.Digests(seed, 1+r.IntN(60)), in: map[umbel.Digest]int{}}
		for step := range 80 {
			c.step(t, s)
			c.check(t)
			if t.Failed() {
				t.Fatalf("seed %d, step %d: %+v", seed, step, s)
			}
		}
	}
}

func (c *tally) step(t *testing.T, s counting.Shape) {
	d := c.keys[c.r.IntN(len(c.keys))]
	switch op := c.r.IntN(30); {
	case op < 11:
		c.f.Add(d)
		c.in[d]++
	case op < 18:
		if c.in[d] > 0 {
			c.in[d]--
			if _, known := c.f.Count(d); c.f.Remove(d) != known {
				t.Errorf("Remove of a present key is %v", !known)
			}
		} else if count(c.f, d) == 0 && c.f.Remove(d) {
			t.Error("an absent key is removed")
		}
	case op < 19 && c.f.Merge(c.f.State()) == nil:
		for d := range c.in {
			c.in[d] *= 2
		}
	case op < 21:
		g := mustNew(t, s)
		g.Add(d)
		if g.Unfold(uint64(1+c.r.IntN(3))) == nil && c.f.Merge(g.State()) == nil {
			c.in[d]++
		}
	case op < 22:
		c.takeAway(mustNew(t, s))
	case op < 23:
		_ = c.f.Fold(uint64(1 + c.r.IntN(4)))
	case op < 24 && c.f.Shape().M < 1<<14:
		_ = c.f.Unfold(uint64(1 + c.r.IntN(3)))
	case op < 26:
		c.f.View()
		c.view = true
	case op < 27 && c.r.IntN(4) == 0:
		c.f.Clear()
		clear(c.in)
	case op < 28:
		b, err := c.f.MarshalBinary()
		if err == nil {
			err = c.f.UnmarshalBinary(b)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// takeAway subtracts some of the keys from the filter.
func (c *tally) takeAway(part *counting.Filter) {
	taken := map[umbel.Digest]int{}
	for _, d := range c.keys {
		if n := c.in[d]; n > 0 && taken[d] == 0 {
			taken[d] = c.r.IntN(min(n, 20) + 1)
			for range taken[d] {
				part.Add(d)
			}
		}
	}
	if c.f.Difference(part.State()) == nil {
		for d, n := range taken {
			c.in[d] -= n
		}
	}
}

func (c *tally) check(t *testing.T) {
	has := make([]bool, len(c.keys))
	c.f.HasAll(has, c.keys)
	total := 0
	for i, d := range c.keys {
		n := c.in[d]
		if n > 0 && !(c.f.Has(d) && has[i]) {
			t.Errorf("a key added %d times is lost", n)
		}
		if got, _ := c.f.Count(d); got < uint64(n) {
			t.Errorf("a key added %d times counts %d", n, got)
		}
	}
	for _, n := range c.in {
		total += n
	}
	if n, exact := c.f.Additions(); exact && n != uint64(total) {
		t.Errorf("%d additions, want %d", n, total)
	}
	if !c.view {
		return
	}
	cells := c.f.State().Arrays[0]
	for i, w := range c.f.View().State().Arrays[0].Words {
		if w != cells.NonzeroWord(i) {
			t.Errorf("word %d of the view is %#x, of the counters %#x", i, w, cells.NonzeroWord(i))
		}
	}
}
