package scaled

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/almeida"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// design contains the parameters of a scalable filter.
type design struct {
	rate, tightening float64
	growth, slice    uint64 // slice is the number of cells of a slice of the first layer
}

func (d design) String() string {
	return fmt.Sprintf("f=%g r=%g s=%d slice=%d", d.rate, d.tightening, d.growth, d.slice)
}

// layer returns layer i.
func (d design) layer(i int) (almeida.Layer, error) {
	first, err := almeida.FirstRate(d.rate, d.tightening)
	if err != nil {
		return almeida.Layer{}, err
	}
	return almeida.LayerAt(i, first, d.tightening, d.growth, d.slice)
}

// first returns the first n layers.
func (d design) first(n int) ([]almeida.Layer, error) {
	ls := make([]almeida.Layer, n)
	for i := range ls {
		l, err := d.layer(i)
		if err != nil {
			return nil, err
		}
		ls[i] = l
	}
	return ls, nil
}

// designs contains filters, their numbers of layers, and how many of these are measured.
var designs = []struct {
	design
	layers, measured int
}{
	{design{0.01, 0.5, 2, 1000}, 8, 5},
	{design{0.1, 0.5, 2, 128}, 6, 6},
	{design{0.001, 0.85, 2, 1000}, 7, 4},
}

var layers = piece.Piece{
	Name:  "001/layers",
	Title: "Layers and their compound rate",
	Note: `
P_i = P_0 r^i, k_i = log2(1/P_i) rounded up; slices grow by a factor of s from layer to layer.
The capacity is the largest number of keys at the layer's rate, which sets slightly more than
half of the cells; at half, the rate is 2^-k, which is lower. Capacities are whole numbers, so
layers at capacity have rates slightly below P_i. The rates were measured with partitioned
filters of these shapes.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, d := range designs {
			if err := d.add(ctx, r, d.layers, d.measured); err != nil {
				return err
			}
		}
		return nil
	},
}

func (d design) add(ctx context.Context, r *piece.Run, layers, measured int) error {
	ls, err := d.first(layers)
	if err != nil {
		return err
	}
	got, err := r.Simulate(ctx, d.full(ls[:measured]), max(5, r.Trials/4))
	if err != nil {
		return err
	}
	var keys, bits uint64
	var allowed, rates []float64
	for i, l := range ls {
		keys, bits, allowed = keys+l.Capacity, bits+l.Cells(), append(allowed, l.FPRate)
		rates = append(rates, partitioned.Shape{M: l.Cells(), K: l.K}.Forecast(l.Capacity).FPRate)
		single, err := plan.Size(keys, d.rate)
		if err != nil {
			return err
		}
		compound := piece.Row{What: "at capacity", Recomputed: plan.CompoundFPRate(rates...)}
		if i < measured {
			compound.Measured = piece.Scaled(got.Of(positives(i)), 1./queries)
		}
		r.Add(
			piece.Row{What: fmt.Sprintf("f=%g, r=%g, s=%d: layer %d, k=%d, slices of %d: keys to half full", d.rate,
				d.tightening, d.growth, i, l.K, l.Slice), Recomputed: float64(l.HalfFull)},
			piece.Row{What: "capacity", Recomputed: float64(l.Capacity)},
			piece.Row{What: "bits of all", Recomputed: float64(bits)},
			piece.Row{What: "compound rate, 1 - ∏(1-P_i)", Recomputed: plan.CompoundFPRate(allowed...)},
			compound,
			piece.Row{What: "bits relative to one filter for as many keys", Recomputed: float64(bits) / float64(single.M)},
		)
	}
	return nil
}

const queries = 10_000

// positives names the value of layers 0 to i.
func positives(i int) string { return fmt.Sprintf("yes to layer %d", i) }

// full returns a simulation of layers at their capacity. It counts the false positives of
// the first layer, of the first two layers, and so on.
func (d design) full(ls []almeida.Layer) trial.Simulation {
	sim := trial.Simulation{Name: fmt.Sprintf("001 layers %v %d", d, len(ls))}
	for i := range ls {
		sim.Values = append(sim.Values, positives(i))
	}
	sim.Worker = func() (trial.Trial, error) {
		fs := make([]*partitioned.Filter, len(ls))
		for i, l := range ls {
			var err error
			if fs[i], err = partitioned.NewShape(partitioned.Shape{M: l.Cells(), K: l.K}); err != nil {
				return nil, err
			}
		}
		ds := make([]umbel.Digest, max(queries, ls[len(ls)-1].Capacity))
		return func(r *rand.ChaCha8, out []int64) error {
			for i, f := range fs {
				f.Clear()
				f.AddAll(nil, sample.Digests(r, ds[:ls[i].Capacity]))
			}
			clear(out)
			for _, d := range sample.Digests(r, ds[:queries]) {
				for i, f := range fs {
					if f.Has(d) {
						for j := i; j < len(out); j++ {
							out[j]++
						}
						break
					}
				}
			}
			return nil
		}, nil
	}
	return sim
}

// smallFilters contains filters whose rate is not p^k, and two larger filters.
var smallFilters = []struct {
	m    uint64
	n, k int
}{
	{16, 4, 2}, {32, 8, 3}, {64, 8, 4}, {64, 8, 5}, {64, 16, 3}, {128, 20, 4}, {256, 32, 5}, {1000, 100, 7}, {8192, 1000, 5},
}

var small = piece.Piece{
	Name:  "001/small",
	Title: "P = p^k in small filters",
	Note: `
The cells of a single array are not independent: p^k is up to 7 % too low below a hundred cells.
The exact rate is that of Bose et al. 2008. For k slices, p^k is exact on average, for every m.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, c := range smallFilters {
			n := uint64(c.n)
			single, err := sample.Rate{
				Name: fmt.Sprintf("001 bloom m=%d k=%d n=%d", c.m, c.k, c.n), Keys: c.n,
				New: func() (sample.Filter, error) { return bloom.NewShape(bloom.Shape{M: c.m, K: c.k}) },
			}.Measure(ctx, r, r.Trials)
			if err != nil {
				return err
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("m=%d, n=%d, k=%d: p", c.m, c.n, c.k), Recomputed: plan.Filter{M: c.m, K: c.k}.Fill(n)},
				piece.Row{What: "p^k", Recomputed: plan.FPRateAtFill(plan.Filter{M: c.m, K: c.k}.Fill(n), c.k)},
				piece.Row{What: "exact", Recomputed: plan.Filter{M: c.m, K: c.k}.FPRateExact(n), Measured: single},
			)
			if c.m%uint64(c.k) != 0 {
				continue
			}
			sliced, err := sample.Rate{
				Name: fmt.Sprintf("001 partitioned m=%d k=%d n=%d", c.m, c.k, c.n), Keys: c.n,
				New: func() (sample.Filter, error) { return partitioned.NewShape(partitioned.Shape{M: c.m, K: c.k}) },
			}.Measure(ctx, r, r.Trials)
			if err != nil {
				return err
			}
			r.Add(piece.Row{What: "p^k in slices", Recomputed: partitioned.Shape{M: c.m, K: c.k}.Forecast(n).FPRate, Measured: sliced})
		}
		return nil
	},
}
