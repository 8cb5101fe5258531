package compressed

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
	"github.com/umbel-filters/umbel/wire"
)

// What a trial of deltas measures. Lengths of ideal codes are in 1/1000 of a byte.
const (
	xorBytes     = "xor"           // bytes that umbel's coder makes of the exclusive or
	xorIdeal     = "xor ideal"     // of a Laplace code of it
	contextBytes = "context"       // bytes that umbel's coder makes of it given the old bits
	contextIdeal = "context ideal" // of two Laplace codes: where old bits are 0, where they are 1
)

// deltas is the simulation of an exchange of a share c of a filter's keys.
func deltas(d design, c float64) trial.Simulation {
	return trial.Simulation{
		Name:   fmt.Sprintf("004 delta m=%d k=%g c=%g", d.cells(keys), d.k, c),
		Values: []string{xorBytes, xorIdeal, contextBytes, contextIdeal},
		Worker: func() (trial.Trial, error) {
			b, err := newDeltaBench(d, int(math.Round(c*keys)))
			if err != nil {
				return nil, err
			}
			return b.delta, nil
		},
	}
}

// deltasByBits is the same with the coder of the paper's appendix, which codes the
// exclusive or, and of whole messages.
func deltasByBits(d design, c float64) trial.Simulation {
	sim := deltas(d, c)
	sim.Name += " by bits"
	sim.Values = append(sim.Values, byBits, message)
	sim.Worker = func() (trial.Trial, error) {
		b, err := newDeltaBench(d, int(math.Round(c*keys)))
		if err != nil {
			return nil, err
		}
		return b.byBits, nil
	}
	return sim
}

// deltaBench is a bench with room for what changed.
type deltaBench struct {
	*bench
	exchanged int // keys

	old, now, flips cells.Array // of the two filters; their exclusive or
}

func newDeltaBench(d design, exchanged int) (*deltaBench, error) {
	b, err := newBench(d, 2)
	if err != nil {
		return nil, err
	}
	old := cellsOf(b.filters[0])
	return &deltaBench{b, exchanged, old, cellsOf(b.filters[1]), old.Clone()}, nil
}

func (b *deltaBench) delta(r *rand.ChaCha8, out []int64) error {
	b.exchange(r)
	var added, removed int
	for i, w := range b.old.Words {
		flips := w ^ b.now.Words[i]
		b.flips.Words[i] = flips
		added += bits.OnesCount64(flips &^ w)
		removed += bits.OnesCount64(flips & w)
	}
	m, ones := float64(b.old.Len), float64(b.old.Nonzero())
	out[0] = b.coded(b.flips)
	out[1] = milli(laplaceBits(m, float64(added+removed)))
	out[2] = b.given()
	out[3] = milli(laplaceBits(m-ones, float64(added)) + laplaceBits(ones, float64(removed)))
	return nil
}

func (b *deltaBench) byBits(r *rand.ChaCha8, out []int64) error {
	err := b.delta(r, out)
	b.bytes = appendAdaptive(b.bytes[:0], b.flips)
	out[4] = int64(len(b.bytes))
	if err == nil {
		known := wire.Differ{Base: wire.ID{1}, Result: wire.ID{2}} // as long as any
		b.bytes, err = known.Delta(b.bytes[:0], b.filters[0].State(), b.filters[1].State())
	}
	out[5] = int64(len(b.bytes))
	return err
}

// exchange makes the two filters: most keys are in both, the others in one.
func (b *deltaBench) exchange(r *rand.ChaCha8) {
	old, now := b.filters[0], b.filters[1]
	old.Clear()
	old.AddAll(nil, b.random(r, keys-b.exchanged))
	copy(b.now.Words, b.old.Words)
	old.AddAll(nil, b.random(r, b.exchanged))
	now.AddAll(nil, b.random(r, b.exchanged))
}

// given returns the bytes that umbel's coder makes of the new cells, block by block,
// for a reader who has the old ones.
func (b *deltaBench) given() (n int64) {
	next, stop := iter.Pull(blocks(b.old))
	defer stop()
	for block := range blocks(b.now) {
		old, _ := next()
		b.bytes = b.coder.AppendDelta(b.bytes[:0], old, block)
		n += int64(len(b.bytes))
	}
	return n
}

// milli returns a number of bits in 1/1000 of a byte.
func milli(bits float64) int64 { return int64(math.Round(bits / 8 * 1000)) }
