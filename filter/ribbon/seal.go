package ribbon

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/probe"
)

// equations is a system with a row for each key of a shard, in echelon form: the row
// of a slot has its first coefficient there. Solved are as many systems as there are
// columns, with the same coefficients.
type equations struct {
	rows  []row
	slots uint64
}

type row struct {
	lo, hi uint64 // coefficients; lo&1 is 1, or 0 if there is no row
	want   uint64 // bit j is the right side of column j
}

// reset empties the system.
func (e *equations) reset(slots uint64) {
	if uint64(cap(e.rows)) < slots {
		e.rows = make([]row, slots+slots/4)
	}
	e.slots = slots
	e.rows = e.rows[:slots]
	clear(e.rows)
}

// add adds a row and reports whether all can still be met. One that follows from the
// others is; one that contradicts them is left out.
func (e *equations) add(at, lo, hi, want uint64) bool {
	switch {
	case e.slots < 64:
		lo, hi = lo&(1<<e.slots-1), 0
	case e.slots < width:
		hi &= 1<<(e.slots-64) - 1
	}
	for {
		if lo == 0 {
			if hi == 0 {
				return want == 0
			}
			at, lo, hi = at+64, hi, 0
		}
		zeros := bits.TrailingZeros64(lo) & 63
		at += uint64(zeros)
		lo = lo>>zeros | hi<<1<<(63-zeros)
		hi >>= zeros
		r := &e.rows[at]
		if r.lo == 0 {
			*r = row{lo, hi, want}
			return true
		}
		lo ^= r.lo
		hi ^= r.hi
		want ^= r.want
	}
}

// solve sets the bits of the slots, from the first on in dst, where each block of 64
// slots has so many words, to the solution in which slots without a row are zero. The
// bits were zero.
func (e *equations) solve(dst []uint64, first uint64, columns int) {
	type window struct{ lo, hi uint64 } // the 128 slots from the present one on
	var all [maxColumns]window
	ws := all[:columns]
	for i := int(e.slots) - 1; i >= 0; i-- {
		r := e.rows[i]
		for j := range ws {
			w := &ws[j]
			w.hi = w.hi<<1 | w.lo>>63
			w.lo <<= 1
			x := uint64(bits.OnesCount64(w.lo&r.lo^w.hi&r.hi)) ^ r.want>>j
			w.lo |= x & r.lo & 1
		}
		if slot := first + uint64(i); slot%word == 0 || i == 0 {
			to := dst[slot/word*uint64(columns):][:columns]
			for j := range to {
				to[j] |= ws[j].lo << (slot % word)
			}
		}
	}
}

// Seal solves the keys that were added, if none have been solved before, and forgets
// their digests: see [umbel.Sealer]. The filter then takes what its keys need at its
// rate, however many it was planned for. The order in which they came doesn't matter. A
// second Seal does nothing: keys that were added since the first stay as they are.
//
// It takes the memory of the filter and of 16 bytes a key besides, and fails only if that
// can't be addressed. Should the digests of a shard be such that 64 seeds and 6 % of slots
// more don't solve it, those that contradict others stay in the list. Digests that a hash
// made aren't.
func (f *Filter) Seal() error {
	if f.keys != 0 || f.list.len() == 0 {
		return nil
	}
	digests, ends := split(&f.list)
	s := newSealing(f.shape.Steps, len(ends))
	from := 0
	for _, end := range ends {
		s.shard(digests[from:end])
		from = end
	}
	if s.left.len() == f.list.len() {
		return nil
	}
	solved, err := s.solution()
	if err != nil {
		return fmt.Errorf("ribbon: %w: %w", err, umbel.ErrLimit)
	}
	f.keys = uint64(f.list.len() - s.left.len())
	f.solved, f.list = solved, s.left
	return nil
}

// split returns the digests of a list by shards, and where each shard ends.
func split(l *list) (digests []umbel.Digest, ends []int) {
	n := l.len()
	ends = make([]int, plan.RibbonShards(uint64(n)))
	shardOf := func(d umbel.Digest) uint64 {
		v, _ := probe.Start(d).Next()
		return probe.Reduce(v, uint64(len(ends)))
	}
	for i := range n {
		ends[shardOf(l.digest(i))]++
	}
	end := 0
	for i, n := range ends {
		ends[i] = end
		end += n
	}
	digests = make([]umbel.Digest, n)
	for i := range n {
		d := l.digest(i)
		to := &ends[shardOf(d)]
		digests[*to] = d
		*to++
	}
	return digests, ends
}

// maxTries is the number of seeds that are tried for a shard.
const maxTries = 64

// sealing is a solution in the making. All its blocks have as many columns as any.
type sealing struct {
	steps     int
	columns   int
	least     uint64 // slots of a shard
	equations equations
	table     []uint64 // the cells of the table of shards
	slots     []uint64 // of each shard
	total     uint64   // their sum
	words     []uint64
	left      list
}

func newSealing(steps, shards int) *sealing {
	s := &sealing{steps: steps, columns: (steps + plan.RibbonSteps - 1) / plan.RibbonSteps, least: leastSlots(shards)}
	s.slots, s.table = make([]uint64, 0, shards), make([]uint64, 0, shards)
	return s
}

// shard solves the next shard.
func (s *sealing) shard(digests []umbel.Digest) {
	n := uint64(len(digests))
	var slots, seed uint64
	for ; ; seed++ {
		slots = min(max(n+plan.RibbonSpareSlots+seed*(1+n/1000), s.least), maxSlots)
		if s.try(digests, slots, seed) {
			break
		}
		if seed == maxTries-1 {
			s.keep(digests, slots, seed)
			break
		}
	}
	s.finish(slots, seed)
}

// finish solves the equations of a shard behind those solved before.
func (s *sealing) finish(slots, seed uint64) {
	blocks := blocksFor(s.total + slots)
	s.words = append(s.words, make([]uint64, int(blocks)*s.columns-len(s.words))...)
	s.equations.solve(s.words, s.total, s.columns)
	s.total += slots
	s.slots, s.table = append(s.slots, slots), append(s.table, slots<<8|seed)
}

// try reports whether the equations of a shard can all be met.
func (s *sealing) try(digests []umbel.Digest, slots, seed uint64) bool {
	h := shard{0, uint32(slots), uint32(seed)}
	s.equations.reset(slots)
	for _, d := range digests {
		if !s.equations.add(equation(h, d)) {
			return false
		}
	}
	return true
}

// keep makes the equations of the digests that go together, in order, and leaves the
// others in the list.
func (s *sealing) keep(digests []umbel.Digest, slots, seed uint64) {
	slices.SortFunc(digests, func(a, b umbel.Digest) int {
		return cmp.Or(cmp.Compare(a.H1, b.H1), cmp.Compare(a.H2, b.H2))
	})
	h := shard{0, uint32(slots), uint32(seed)}
	s.equations.reset(slots)
	for _, d := range digests {
		if !s.equations.add(equation(h, d)) {
			s.left.add(d)
		}
	}
}

// equation returns the row of a digest in a shard, and its right sides.
func equation(h shard, d umbel.Digest) (at, lo, hi, want uint64) {
	stream := probe.Start(d)
	want, _ = stream.Next()
	at, lo, hi = h.row(stream)
	return at, lo, hi, want & (1<<maxColumns - 1)
}

// solution returns what was solved. Of the last column, where there is a part of one,
// it keeps the blocks that the rate takes.
func (s *sealing) solution() (solution, error) {
	low := plan.RibbonLowBlocks(s.slots, s.steps)
	blocks := blocksFor(s.total)
	columns := uint64(s.steps / plan.RibbonSteps)
	bits, err := cells.New((columns*blocks+blocks-low)*word, 1)
	if err != nil {
		return solution{}, err
	}
	table, err := cells.New(uint64(len(s.table)), tableWidth)
	if err != nil {
		return solution{}, err
	}
	to := bits.Words
	for b := range blocks {
		n := columns
		if b >= low {
			n++
		}
		to = to[copy(to[:n], s.words[b*uint64(s.columns):]):]
	}
	for i, x := range s.table {
		table.Put(uint64(i), x)
	}
	return newSolution(s.steps, low, bits, table)
}
