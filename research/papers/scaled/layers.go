package scaled

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// design is a scalable filter.
type design struct {
	rate, tightening float64
	growth, slice    uint64 // slice: cells of a slice of the first layer
}

func (d design) String() string {
	return fmt.Sprintf("f=%g r=%g s=%d slice=%d", d.rate, d.tightening, d.growth, d.slice)
}

// layer returns layer i.
func (d design) layer(i int) (plan.ScalableLayer, error) {
	first, err := plan.ScalableFirstRate(d.rate, d.tightening)
	if err != nil {
		return plan.ScalableLayer{}, err
	}
	return plan.ScalableLayerAt(i, first, d.tightening, d.growth, d.slice)
}

// row returns the first layers.
func (d design) row(n int) ([]plan.ScalableLayer, error) {
	row := make([]plan.ScalableLayer, n)
	for i := range row {
		l, err := d.layer(i)
		if err != nil {
			return nil, err
		}
		row[i] = l
	}
	return row, nil
}

// designs are rows, of so many layers, and how many of these are measured.
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
	Title: "Layers, and the rate of all together",
	Note: `
P_i = P_0 r^i, k_i = log2(1/P_i) rounded up, slices s times as large from layer to layer. A layer
takes keys up to its rate, the capacity, where a little more than half of its cells are set; at
half, its rate is 2^-k, which is lower. As capacities are whole keys, layers at capacity are a
little below P_i: that was measured, with partitioned filters of these shapes, asked in a row.`,
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
	row, err := d.row(layers)
	if err != nil {
		return err
	}
	got, err := r.Simulate(ctx, d.full(row[:measured]), max(5, r.Trials/4))
	if err != nil {
		return err
	}
	var keys, bits uint64
	var allowed, rates []float64
	for i, l := range row {
		keys, bits, allowed = keys+l.Capacity, bits+l.Cells(), append(allowed, l.FPRate)
		rates = append(rates, plan.PartitionedFPRate(l.Cells(), l.K, l.Capacity))
		single, _, err := plan.Size(keys, d.rate)
		if err != nil {
			return err
		}
		compound := piece.Row{What: "at capacity", Recomputed: plan.CompoundFPRate(rates...)}
		if i < measured {
			compound.Measured = piece.Scaled(got.Of(asked(i)), 1./questions)
		}
		r.Add(
			piece.Row{What: fmt.Sprintf("f=%g, r=%g, s=%d: layer %d, k=%d, slices of %d: keys to half full", d.rate, d.tightening, d.growth, i, l.K, l.Slice), Recomputed: float64(l.HalfFull)},
			piece.Row{What: "capacity", Recomputed: float64(l.Capacity)},
			piece.Row{What: "bits of all", Recomputed: float64(bits)},
			piece.Row{What: "compound rate, 1 - ∏(1-P_i)", Recomputed: plan.CompoundFPRate(allowed...)},
			compound,
			piece.Row{What: "bits by those of one filter for as many keys", Recomputed: float64(bits) / float64(single)},
		)
	}
	return nil
}

const questions = 10_000

// asked names the value of layers 0 to i.
func asked(i int) string { return fmt.Sprintf("yes to layer %d", i) }

// full is the simulation of layers at their capacity: how many questions the first
// of them answer with yes, the first two, and so on.
func (d design) full(row []plan.ScalableLayer) trial.Simulation {
	sim := trial.Simulation{Name: fmt.Sprintf("001 layers %v %d", d, len(row))}
	for i := range row {
		sim.Values = append(sim.Values, asked(i))
	}
	sim.Worker = func() (trial.Trial, error) {
		fs := make([]*partitioned.Filter, len(row))
		for i, l := range row {
			var err error
			if fs[i], err = partitioned.NewShape(partitioned.Shape{M: l.Cells(), K: l.K}); err != nil {
				return nil, err
			}
		}
		ds := make([]umbel.Digest, max(questions, row[len(row)-1].Capacity))
		return func(r *rand.ChaCha8, out []int64) error {
			for i, f := range fs {
				f.Clear()
				f.AddAll(nil, sample.Digests(r, ds[:row[i].Capacity]))
			}
			clear(out)
			for _, d := range sample.Digests(r, ds[:questions]) {
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
