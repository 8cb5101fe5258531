// Package sample measures the false-positive rate of filters with random keys.
package sample

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// Filter is a filter that can be reused for the next trial.
type Filter interface {
	umbel.Filter
	umbel.Clearer
}

// Digests fills ds with random digests, those of distinct keys, and returns ds.
func Digests(r *rand.ChaCha8, ds []umbel.Digest) []umbel.Digest {
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	return ds
}

// FalsePositives returns how many of n queries for keys that were never added are
// positive. The queries overwrite ds, which may have any length above 0.
func FalsePositives(r *rand.ChaCha8, ds []umbel.Digest, n int, has func(umbel.Digest) bool) (positives int64) {
	for n > 0 {
		batch := min(n, len(ds))
		for _, d := range Digests(r, ds[:batch]) {
			if has(d) {
				positives++
			}
		}
		n -= batch
	}
	return positives
}

// Rate describes a measurement of a false-positive rate.
type Rate struct {
	Name    string // of the simulation
	Keys    int    // in each filter
	Queries int    // for absent keys, in each trial; 0 means 10000
	New     func() (Filter, error)
}

const yes = "yes"

// Measure makes the trials, each with new keys.
func (m Rate) Measure(ctx context.Context, r *piece.Run, trials int) (piece.Measure, error) {
	if m.Queries == 0 {
		m.Queries = 10_000
	}
	got, err := r.Simulate(ctx, m.simulation(), trials)
	if err != nil {
		return piece.Measure{}, err
	}
	return piece.Scaled(got.Of(yes), 1/float64(m.Queries)), nil
}

func (m Rate) simulation() trial.Simulation {
	return trial.Simulation{Name: m.Name, Values: []string{yes}, Worker: func() (trial.Trial, error) {
		f, err := m.New()
		if err != nil {
			return nil, err
		}
		ds := make([]umbel.Digest, max(m.Keys, 1000))
		return func(r *rand.ChaCha8, out []int64) error {
			f.Clear()
			for _, d := range Digests(r, ds[:m.Keys]) {
				f.Add(d)
			}
			out[0] = FalsePositives(r, ds, m.Queries, f.Has)
			return nil
		}, nil
	}}
}

// Bloom measures the rate of standard filters of m cells and n keys that set k cells per
// key, in a quarter of the trials of a full simulation. The name of the simulation
// contains the number of the paper.
func Bloom(ctx context.Context, r *piece.Run, paper string, m uint64, k, n int) (piece.Measure, error) {
	return Rate{
		Name: fmt.Sprintf("%s bloom m=%d k=%d n=%d", paper, m, k, n),
		Keys: n,
		New:  func() (Filter, error) { return bloom.NewShape(bloom.Shape{M: m, K: k}) },
	}.Measure(ctx, r, max(5, r.Trials/4))
}
