// Package sample measures how often filters of random keys are wrong.
package sample

import (
	"context"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// Filter is a filter that is used again for the next trial.
type Filter interface {
	umbel.Filter
	umbel.Clearer
}

// Digests fills ds with random digests, those of keys of which no two are the same.
func Digests(r *rand.ChaCha8, ds []umbel.Digest) []umbel.Digest {
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	return ds
}

// Wrong returns how many of so many questions about keys that were never added are
// answered with yes. The questions overwrite ds, which may have any length.
func Wrong(r *rand.ChaCha8, ds []umbel.Digest, questions int, has func(umbel.Digest) bool) (yes int64) {
	for questions > 0 {
		n := min(questions, len(ds))
		for _, d := range Digests(r, ds[:n]) {
			if has(d) {
				yes++
			}
		}
		questions -= n
	}
	return yes
}

// Rate is a measurement of a rate of false positives.
type Rate struct {
	Name      string // of the simulation
	Keys      int    // in each filter
	Questions int    // about others in each trial; 0 stands for 10000
	New       func() (Filter, error)
}

const yes = "yes"

// Measure makes the trials, each with keys of its own.
func (m Rate) Measure(ctx context.Context, r *piece.Run, trials int) (piece.Measure, error) {
	if m.Questions == 0 {
		m.Questions = 10_000
	}
	got, err := r.Simulate(ctx, m.simulation(), trials)
	if err != nil {
		return piece.Measure{}, err
	}
	return piece.Scaled(got.Of(yes), 1/float64(m.Questions)), nil
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
			out[0] = Wrong(r, ds, m.Questions, f.Has)
			return nil
		}, nil
	}}
}
