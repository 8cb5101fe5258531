package compressed

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/model"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
	"github.com/umbel-filters/umbel/wire"
)

// What a trial of filters measures.
const (
	ones    = "ones"    // cells that are set
	coded   = "coded"   // bytes that umbel's coder makes of them
	yes     = "yes"     // keys that were never added and are said to be there, of questions
	byBits  = "by bits" // bytes that the coder of the paper's appendix makes
	message = "message" // bytes of umbel's container
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
	coder   model.Coder
	bytes   []byte
}

// newBench returns a bench with so many filters of a design.
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

// random returns n random digests, which the next call overwrites.
func (b *bench) random(r *rand.ChaCha8, n int) []umbel.Digest {
	return sample.Digests(r, b.digests[:n])
}

// filtersByBits is the simulation of a design with the coder of the paper's appendix,
// which takes a step for each cell, and of whole containers.
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
	plane := cellsOf(f)
	out[0] = int64(plane.Nonzero())
	b.bytes = appendAdaptive(b.bytes[:0], plane)
	out[1] = int64(len(b.bytes))
	b.bytes, err = wire.Packer{}.Append(b.bytes[:0], f.State())
	out[2] = int64(len(b.bytes))
	return err
}

// fill returns a filter of random keys, which the next call overwrites.
func (b *bench) fill(r *rand.ChaCha8) *bloom.Filter {
	f := b.filters[0]
	f.Clear()
	f.AddAll(nil, b.random(r, keys))
	return f
}

func (b *bench) filter(r *rand.ChaCha8, out []int64) error {
	f := b.fill(r)
	plane := cellsOf(f)
	out[0] = int64(plane.Nonzero())
	out[1] = b.coded(plane)
	out[2] = sample.Wrong(r, b.digests, questions, f.Has)
	return nil
}

// coded returns the bytes that umbel's coder makes of a plane, block by block.
func (b *bench) coded(plane cells.Array) (n int64) {
	for block := range blocks(plane) {
		b.bytes = b.coder.Append(b.bytes[:0], block)
		n += int64(len(b.bytes))
	}
	return n
}

// blocks yields the blocks of 64 KiB that containers have.
func blocks(plane cells.Array) iter.Seq[cells.Array] {
	const words = 64 << 10 / 8
	perBlock := words * 64 / uint64(plane.Width)
	return func(yield func(cells.Array) bool) {
		for at, left := 0, plane.Len; left > 0; at, left = at+words, left-min(left, perBlock) {
			b := cells.Array{Len: min(left, perBlock), Width: plane.Width}
			b.Words = plane.Words[at:min(at+words, len(plane.Words))]
			if !yield(b) {
				return
			}
		}
	}
}

// cellsOf returns a filter's cells, which are the filter's own.
func cellsOf(f *bloom.Filter) cells.Array { return f.State().Arrays[0] }
