package compressed

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/internal/entropy"
	"github.com/umbel-filters/umbel/papers/internal/trial"
)

// What a trial of deltas measures. Lengths of ideal codes are in 1/1000 of a byte.
const (
	xorBytes     = "xor"           // bytes that umbel's coder makes of the exclusive or
	xorIdeal     = "xor ideal"     // of a Laplace code of it
	contextBytes = "context"       // bytes that umbel's coder makes of it given the old bits
	contextIdeal = "context ideal" // of two Laplace codes: where old bits are 0, where they are 1
	xorAdaptive  = "xor adaptive"  // bytes that the paper's coder makes
)

// deltas is the simulation of an exchange of a share c of a filter's keys. Only the
// one with the paper's coder has xorAdaptive.
func deltas(d design, c float64, withAdaptive bool) trial.Simulation {
	sim := trial.Simulation{
		Name:   fmt.Sprintf("004 delta m=%d k=%g c=%g", d.cells(keys), d.k, c),
		Values: []string{xorBytes, xorIdeal, contextBytes, contextIdeal},
	}
	if withAdaptive {
		sim.Name += " adaptive"
		sim.Values = append(sim.Values, xorAdaptive)
	}
	sim.Worker = func() (trial.Trial, error) {
		b, err := newDeltaBench(d, int(math.Round(c*keys)))
		if err != nil {
			return nil, err
		}
		return b.delta, nil
	}
	return sim
}

// deltaBench is a bench with room for what changed.
type deltaBench struct {
	*bench
	exchanged int // keys

	old, now       entropy.Bits // the cells of the two filters
	flips          []uint64
	zeros          []uint64 // the old cells' complement
	added, removed []uint64 // flips of old zeros, of old ones
}

func newDeltaBench(d design, exchanged int) (*deltaBench, error) {
	b, err := newBench(d, 2)
	if err != nil {
		return nil, err
	}
	db := &deltaBench{bench: b, exchanged: exchanged, old: cellsOf(b.filters[0]), now: cellsOf(b.filters[1])}
	words := len(db.old.Words)
	for _, p := range []*[]uint64{&db.flips, &db.zeros, &db.added, &db.removed} {
		*p = make([]uint64, words)
	}
	return db, nil
}

func (b *deltaBench) delta(r *rand.ChaCha8, out []int64) error {
	b.exchange(r)
	for i, w := range b.old.Words {
		b.flips[i] = w ^ b.now.Words[i]
		b.zeros[i] = ^w
	}
	if used := b.old.Len % 64; used != 0 {
		b.zeros[len(b.zeros)-1] &= 1<<used - 1
	}
	whole := entropy.Bits{Words: b.flips, Len: b.old.Len}
	added := under(b.added, b.flips, b.zeros)
	removed := under(b.removed, b.flips, b.old.Words)
	out[0] = b.coded(whole)
	out[1] = idealMilli(whole)
	out[2] = b.coded(added, removed)
	out[3] = idealMilli(added, removed)
	if len(out) > 4 {
		b.bytes = appendAdaptive(b.bytes[:0], whole)
		out[4] = int64(len(b.bytes))
	}
	return nil
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

// under returns the bits of src that lie under mask, in dst's memory.
func under(dst, src, mask []uint64) entropy.Bits {
	n := entropy.Extract(dst, src, mask)
	return entropy.Bits{Words: dst[:(n+63)/64], Len: n}
}

// idealMilli returns the length of a Laplace code of strings, each with counts of
// its own, in 1/1000 of a byte.
func idealMilli(strs ...entropy.Bits) int64 {
	sum := 0.0
	for _, s := range strs {
		sum += laplaceBits(float64(s.Len), float64(s.Count()))
	}
	return int64(math.Round(sum / 8 * 1000))
}
