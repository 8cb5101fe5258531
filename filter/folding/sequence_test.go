package folding_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// In any sequence of calls no key is lost and the folded filter is the base folded by the factor of
// the state, bit for bit.
func TestAnySequence(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := folding.Shape{
			M: []uint64{1, 2, 7, 12, 60, 64, 6 * 64, 5040, 360 * 64}[r.IntN(9)],
			K: 1 + r.IntN(8), Width: []uint{0, 4, 8}[r.IntN(3)],
		}
		if s.M%64 == 0 && r.IntN(2) == 0 {
			s.Group = 6
		}
		s, err := s.Keep(0.1, 0.09*r.Float64()+0.001)
		if err != nil {
			t.Fatal(err)
		}
		c := tally{r: r, shape: s, keys: fixture.Digests(seed, 1+r.IntN(200)), in: map[umbel.Digest]int{}}
		c.f = c.open(t, emptyState(t, s))
		for step := range 120 {
			if r.IntN(25) == 0 {
				c.fewer = !c.fewer
			}
			c.step(t)
			c.check(t)
			if t.Failed() {
				t.Fatalf("seed %d, step %d: %+v", seed, step, s)
			}
		}
	}
}

// tally is a filter and the number of times that each key is in it.
type tally struct {
	f     umbel.Filter
	r     *rand.Rand
	shape folding.Shape
	keys  []umbel.Digest
	in    map[umbel.Digest]int
	fewer bool // removals
}

func (c *tally) open(t *testing.T, s umbel.State) umbel.Filter {
	f, err := folding.Kind.Open(s.Clone())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (c *tally) step(t *testing.T) {
	d := c.keys[c.r.IntN(len(c.keys))]
	counting, counts := c.f.(*folding.Counting)
	switch op := c.r.IntN(30); {
	case op < 20 && c.fewer && counts:
		if c.in[d] > 0 {
			c.in[d]--
			if _, known := counting.Count(d); counting.Remove(d) != known {
				t.Errorf("Remove of a present key is %v", !known)
			}
		}
	case op < 20:
		c.f.Add(d)
		c.in[d]++
	case op < 23:
		if _, err := c.f.(umbel.Grower).TryAdd(d); err == nil {
			c.in[d]++
		}
	case op < 24:
		if c.f.(umbel.Merger).Merge(c.f.State()) == nil {
			for d := range c.in {
				c.in[d] *= 2
			}
		}
	case op < 27:
		other := c.shape
		other.M *= uint64(1 + c.r.IntN(3))
		g := c.open(t, emptyState(t, other))
		for _, d := range c.keys[:min(25, len(c.keys))] {
			g.Add(d)
		}
		if c.f.(umbel.Merger).Merge(g.State()) == nil {
			for _, d := range c.keys[:min(25, len(c.keys))] {
				c.in[d]++
			}
		}
	case op < 28 && c.r.IntN(4) == 0:
		c.f.(umbel.Clearer).Clear()
		clear(c.in)
	case op < 29:
		s := c.f.State()
		if s.Parts[0].Arrays[0].Len%(6*64) == 0 {
			s.Params[0].Value = umbel.Uint(6) // another writer's choice
		}
		c.f = c.open(t, s)
	}
}

func (c *tally) check(t *testing.T) {
	has := make([]bool, len(c.keys))
	c.f.(umbel.BatchQuerier).HasAll(has, c.keys)
	for i, d := range c.keys {
		if c.in[d] > 0 && !(c.f.Has(d) && has[i]) {
			t.Errorf("a key added %d times is lost", c.in[d])
		}
	}
	f := c.f.(interface {
		Folded() (*bloom.Filter, error)
		FoldedBy(uint64) (*bloom.Filter, error)
	})
	shown, err := f.Folded()
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.FoldedBy(c.f.State().Params.Uint("fold"))
	if err != nil {
		t.Fatal(err)
	}
	if !shown.State().Arrays[0].Equal(want.State().Arrays[0]) {
		t.Error("the folded filter is not the base folded")
	}
}
