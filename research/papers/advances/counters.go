package advances

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// The positions of four keys in 16 counters.
var keyA, keyB, keyC, keyD = []uint64{1, 5, 9}, []uint64{5, 6, 15}, []uint64{0, 5, 9}, []uint64{2, 6}

// counters returns a filter of 16 counters that contains keys with the given positions.
func counters(keys ...[]uint64) (*counting.Filter, error) {
	f, err := counting.NewShape(counting.Shape{M: 16, K: 3})
	if err != nil {
		return nil, err
	}
	for _, at := range keys {
		for _, i := range at {
			f.State().Arrays[0].Inc(i)
		}
	}
	return f, nil
}

// result is the result of an operation on S1 and S2, and the expected counters.
type result struct {
	what string
	got  cells.Array
	want []uint64
}

// operations combines S1 = {a, b, c} and S2 = {b, c, d}. The expected counters were
// worked out by hand.
func operations() ([]result, error) {
	one, err1 := counters(keyA, keyB, keyC)
	two, err2 := counters(keyB, keyC, keyD)
	within, err3 := counters(keyB, keyC)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	array := func(s umbel.State) cells.Array { return s.Clone().Arrays[0] }
	rs := []result{
		{"S1 = {a, b, c}", array(one.State()), []uint64{1, 1, 0, 0, 0, 3, 1, 0, 0, 2, 0, 0, 0, 0, 0, 1}},
		{"S2 = {b, c, d}", array(two.State()), []uint64{1, 0, 1, 0, 0, 2, 2, 0, 0, 1, 0, 0, 0, 0, 0, 1}},
	}
	larger, smaller := array(one.State()), array(one.State())
	if err := errors.Join(larger.Max(array(two.State())), smaller.Min(array(two.State())), one.Merge(two.State())); err != nil {
		return nil, err
	}
	rs = append(rs,
		result{"sum, the union of multisets", array(one.State()), []uint64{2, 1, 1, 0, 0, 5, 3, 0, 0, 3, 0, 0, 0, 0, 0, 2}},
		result{"larger counters, a bound on the union of sets", larger, []uint64{1, 1, 1, 0, 0, 3, 2, 0, 0, 2, 0, 0, 0, 0, 0, 1}},
		result{"smaller counters, a bound on the intersection", smaller, []uint64{1, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1}},
	)
	if err := errors.Join(one.Difference(two.State()), one.Difference(within.State())); err != nil {
		return nil, err
	}
	return append(rs, result{"S1 minus {b, c}, the filter of a", array(one.State()), []uint64{0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}}), nil
}

// agree returns how many counters have the expected value.
func (r result) agree() (n int) {
	for i, want := range r.want {
		if r.got.Get(uint64(i)) == want {
			n++
		}
	}
	return n
}

var algebra = piece.Piece{
	Name:  "003/algebra",
	Title: "Section 3: union, intersection and difference of counters",
	Note: `
Keys a, b, c and d at positions {1 5 9}, {5 6 15}, {0 5 9} and {2 6} of 16 counters. S2 can't be
subtracted from S1, because S1 does not contain it: umbel returns an error and changes nothing.
If the result were clipped at zero, position 5 would wrongly stay 1. The larger and the smaller
counters are bounds, from which nothing can be removed.`,
	Make: func(_ context.Context, r *piece.Run) error {
		rs, err := operations()
		if err != nil {
			return err
		}
		for _, one := range rs {
			r.Add(piece.Row{What: fmt.Sprintf("%s: %v: counters equal to those worked out by hand", one.what, one.want),
				Recomputed: float64(len(one.want)), Measured: piece.Counted(one.agree(), 1)})
		}
		return nil
	},
}

// The values that a trial of counting filters measures.
const (
	nonzero = "nonzero"
	differs = "differs"
)

// countingTrial returns a simulation of counting filters and plain filters with the same
// keys. It counts nonzero counters, queries with different results and, for each j,
// counters of j or more.
func countingTrial(m uint64, k, n int, js ...int) trial.Simulation {
	sim := trial.Simulation{Name: fmt.Sprintf("003 counters m=%d k=%d n=%d %v", m, k, n, js), Values: []string{nonzero, differs}}
	for _, j := range js {
		sim.Values = append(sim.Values, atLeast(j))
	}
	sim.Worker = func() (trial.Trial, error) {
		f, err1 := counting.NewShape(counting.Shape{M: m, K: k})
		plain, err2 := bloom.NewShape(bloom.Shape{M: m, K: k})
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		ds := make([]umbel.Digest, n)
		return func(r *rand.ChaCha8, out []int64) error {
			f.Clear()
			plain.Clear()
			sample.Digests(r, ds)
			f.AddAll(nil, ds)
			plain.AddAll(nil, ds)
			out[0] = int64(f.State().Arrays[0].Nonzero())
			out[1] = sample.FalsePositives(r, ds, queries, func(d umbel.Digest) bool { return f.Has(d) != plain.Has(d) })
			histogram := f.State().Arrays[0].Histogram(15)
			for i, j := range js {
				out[2+i] = 0
				for _, count := range histogram[j:] {
					out[2+i] += int64(count)
				}
			}
			return nil
		}, nil
	}
	return sim
}

func atLeast(j int) string { return fmt.Sprintf("counters of %d or more", j) }

var estimates = piece.Piece{
	Name:  "003/estimates",
	Title: "Estimates of the number of keys, and the rate of a counting filter",
	Note: `
n is estimated by -(m/k) ln(1 - X/m), where X is the number of nonzero counters. A counting
filter gives the same results as a plain filter with the same positions, so "the false
positivity has significantly reduced" is wrong: the last row of each group counts the different
results of 2000 queries per trial. The
estimate is a convex function of X, so its mean is slightly high for small filters, by 1 % at m = 64.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, c := range []struct {
			m    uint64
			k, n int
			ones uint64
		}{{8000, 5, 1000, 3718}, {140_000, 2, 10_000, 18_637}, {64, 4, 8, 25}} {
			got, err := r.Simulate(ctx, countingTrial(c.m, c.k, c.n), max(5, r.Trials/10))
			if err != nil {
				return err
			}
			keys := func(x int64) float64 { return plan.Filter{M: c.m, K: c.k}.Keys(uint64(x)).Value }
			x := got.Of(nonzero)
			r.Add(
				piece.Row{What: fmt.Sprintf("m=%d, k=%d: n of X=%d", c.m, c.k, c.ones), Recomputed: plan.Filter{M: c.m, K: c.k}.Keys(c.ones).Value},
				piece.Row{What: fmt.Sprintf("mean estimate of filters of %d keys", c.n), Recomputed: float64(c.n),
					Measured: piece.Measure{Value: x.MeanOf(keys), Error: x.SDOf(keys) / math.Sqrt(float64(x.N())), Trials: got.Trials}},
				piece.Row{What: "queries with another result than in a plain filter", Measured: piece.Counted(int(got.Of(differs).Max()), got.Trials)},
			)
		}
		return nil
	},
}

var overflow = piece.Piece{
	Name:  "003/overflow",
	Title: "Section 3.2: counters of j or more",
	Note: `
m P[Bin(kn, 1/m) ≥ j] is the mean number of such counters; the report has three bounds for it.
The last bound requires k ≤ (m/n) ln 2, which the report prints as ln 2m/n: it does not hold for
m/n = 8 and k = 6. Counters of umbel have four bits and stop at 15.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, c := range []struct {
			m    uint64
			k, n int
		}{{80_000, 5, 10_000}, {80_000, 6, 10_000}} {
			js := []int{4, 8}
			got, err := r.Simulate(ctx, countingTrial(c.m, c.k, c.n, js...), max(5, r.Trials/4))
			if err != nil {
				return err
			}
			n := uint64(c.n)
			for _, j := range append(js, 16) {
				u := uint64(j)
				mean := piece.Row{What: fmt.Sprintf("m=%d, n=%d, k=%d, j=%d: mean number", c.m, c.n, c.k, j), Recomputed: counting.Shape{M: c.m, K: c.k}.Overflow(n, u)}
				if j < 16 {
					mean.Measured = piece.Mean(got.Of(atLeast(j)))
				}
				r.Add(mean,
					piece.Row{What: "m C(nk, j)/m^j", Recomputed: overflowChoose(c.m, c.k, n, u)},
					piece.Row{What: "m (enk/(jm))^j", Recomputed: counting.Shape{M: c.m, K: c.k}.OverflowBound(n, u)},
					piece.Row{What: "m (e ln2/j)^j", Recomputed: overflowLn2(c.m, u)},
				)
			}
		}
		r.Add(piece.Row{What: "per counter, j=16: (e ln2/16)^16", Recomputed: overflowLn2(1, 16)})
		return nil
	},
}

// overflowChoose returns the upper bound C(kn, j) / m^(j-1) of counting.Shape.Overflow: the
// number of sets of j of the kn positions, times the probability that all j are the same
// counter. It may be above m.
func overflowChoose(m uint64, k int, n, j uint64) float64 {
	t := float64(k) * float64(n)
	if float64(j) > t {
		return 0
	}
	log := math.Log(float64(m))
	for i := range j {
		log += math.Log((t - float64(i)) / (float64(m) * float64(i+1)))
	}
	return math.Exp(log)
}

// overflowLn2 returns the upper bound m (e ln 2 / j)^j of counting.Shape.OverflowBound for
// filters that are at most half full, where k <= (m/n) ln 2.
func overflowLn2(m, j uint64) float64 {
	return float64(m) * math.Pow(math.E*math.Ln2/float64(j), float64(j))
}
