package compressed

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
	"github.com/umbel-filters/umbel/wire"
)

// The values that a trial of filters measures.
const (
	ones    = "ones"    // nonzero cells
	coded   = "coded"   // bytes by umbel's coder
	yes     = "yes"     // false positives of queries
	byBits  = "by bits" // bytes by the coder of the paper's appendix
	message = "message" // bytes of umbel's container
)

// queries is the number of queries for absent keys in a trial.
const queries = 10_000

// filters returns a simulation of filters of a design with random keys.
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

// bench contains the filters and buffers that a goroutine uses for all its trials.
type bench struct {
	filters []*bloom.Filter
	digests []umbel.Digest
	coder   model.Modeler
	bytes   []byte
}

// newBench returns a bench with n filters of a design.
func newBench(d design, n int) (*bench, error) {
	b := &bench{digests: make([]umbel.Digest, keys)}
	for range n {
		f, err := bloom.NewShape(bloom.Shape{M: d.cells(keys), K: int(d.k)})
		if err != nil {
			return nil, err
		}
		b.filters = append(b.filters, f)
	}
	return b, nil
}

// random returns n random digests. The next call overwrites them.
func (b *bench) random(r *rand.ChaCha8, n int) []umbel.Digest {
	return sample.Digests(r, b.digests[:n])
}

// filtersByBits returns a simulation of a design with the coder of the paper's appendix,
// which takes a step per cell, and with whole containers.
func filtersByBits(d design) trial.Simulation {
	sim := filters(d)
	sim.Name += " by bits"
	sim.Values = []string{ones, byBits, message}
	sim.Worker = func() (trial.Trial, error) {
		b, err := newBench(d, 1)
		if err != nil {
			return nil, err
		}
		return b.byBits, nil
	}
	return sim
}

func (b *bench) byBits(r *rand.ChaCha8, out []int64) (err error) {
	f := b.fill(r)
	array := cellsOf(f)
	out[0] = int64(array.Nonzero())
	b.bytes = appendAdaptive(b.bytes[:0], array)
	out[1] = int64(len(b.bytes))
	b.bytes, err = wire.Packer{}.Append(b.bytes[:0], f.State())
	out[2] = int64(len(b.bytes))
	return err
}

// fill returns a filter of random keys. The next call overwrites it.
func (b *bench) fill(r *rand.ChaCha8) *bloom.Filter {
	f := b.filters[0]
	f.Clear()
	f.AddAll(nil, b.random(r, keys))
	return f
}

func (b *bench) filter(r *rand.ChaCha8, out []int64) error {
	f := b.fill(r)
	array := cellsOf(f)
	out[0] = int64(array.Nonzero())
	out[1] = b.coded(array)
	out[2] = sample.FalsePositives(r, b.digests, queries, f.Has)
	return nil
}

// coded returns the number of bytes of an array coded by umbel's coder, block by block.
func (b *bench) coded(array cells.Array) (n int64) {
	for block := range blocks(array) {
		b.bytes = b.coder.Append(b.bytes[:0], block)
		n += int64(len(b.bytes))
	}
	return n
}

// blocks yields the blocks of a container, 64 KiB each.
func blocks(array cells.Array) iter.Seq[cells.Array] {
	const words = 64 << 10 / 8
	perBlock := words * 64 / uint64(array.Width)
	return func(yield func(cells.Array) bool) {
		for at, left := 0, array.Len; left > 0; at, left = at+words, left-min(left, perBlock) {
			b := cells.Array{Len: min(left, perBlock), Width: array.Width}
			b.Words = array.Words[at:min(at+words, len(array.Words))]
			if !yield(b) {
				return
			}
		}
	}
}

// cellsOf returns the array of a filter, without copying it.
func cellsOf(f *bloom.Filter) cells.Array { return f.State().Arrays[0] }
