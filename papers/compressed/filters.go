package compressed

import (
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/entropy"
	"github.com/umbel-filters/umbel/papers/internal/piece"
	"github.com/umbel-filters/umbel/papers/internal/trial"
)

// What a trial of filters measures.
const (
	ones  = "ones"  // cells that are set
	coded = "coded" // bytes that umbel's coder makes of them, without a container
	yes   = "yes"   // keys that were never added and are said to be there, of questions
)

// questions is the number of absent keys that a trial asks for.
const questions = 10_000

// filters is the simulation of a design: filters of random keys.
func filters(d design) trial.Simulation {
	m := d.cells(keys)
	return trial.Simulation{
		Name:   fmt.Sprintf("004 filter m=%d k=%g", m, d.k),
		Values: []string{ones, coded, yes},
		Worker: func() (trial.Trial, error) {
			b, err := newBench(d, 1)
			if err != nil {
				return nil, err
			}
			return b.filter, nil
		},
	}
}

// bench is where a goroutine makes its trials, with the memory that it keeps.
type bench struct {
	filters []*bloom.Filter
	digests []umbel.Digest
	coder   entropy.Coder
	bytes   []byte
}

// newBench returns a bench with so many filters of a design.
func newBench(d design, n int) (*bench, error) {
	b := &bench{digests: make([]umbel.Digest, keys)}
	for range n {
		f, err := bloom.New(bloom.Shape{M: d.cells(keys), K: int(d.k)})
		if err != nil {
			return nil, err
		}
		b.filters = append(b.filters, f)
	}
	return b, nil
}

// random returns n random digests, which the next call overwrites.
func (b *bench) random(r *rand.ChaCha8, n int) []umbel.Digest {
	ds := b.digests[:n]
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	return ds
}

func (b *bench) filter(r *rand.ChaCha8, out []int64) error {
	f := b.filters[0]
	f.Clear()
	f.AddAll(nil, b.random(r, keys))
	plane := cellsOf(f)
	out[0] = int64(plane.Count())
	out[1] = b.coded(plane)
	out[2] = 0
	for _, d := range b.random(r, questions) {
		if f.Has(d) {
			out[2]++
		}
	}
	return nil
}

// coded returns the bytes that umbel's coder makes of strings.
func (b *bench) coded(strs ...entropy.Bits) int64 {
	b.bytes = b.coder.Append(b.bytes[:0], strs...)
	return int64(len(b.bytes))
}

// cellsOf returns a filter's cells as a string of bits, which are the filter's own.
func cellsOf(f *bloom.Filter) entropy.Bits {
	a := f.State().Planes[0]
	return entropy.Bits{Words: a.Words, Len: a.Len}
}

// mean returns the mean of a tally.
func mean(t trial.Tally) piece.Measure {
	return piece.Measure{Value: t.Mean(), Error: t.Error(), Trials: int(t.N())}
}

// rateOf returns the measured rate of false positives.
func rateOf(r trial.Result) piece.Measure {
	m := mean(r.Of(yes))
	m.Value /= questions
	m.Error /= questions
	return m
}
