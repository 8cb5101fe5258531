package ribbon

import (
	"cmp"
	"io"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// equations is a system with a row for each key of a shard, in echelon form: the first
// coefficient of row i is that of slot i. It solves one system per column, all with the
// same coefficients.
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

// add adds a row and reports whether the system is still solvable. It leaves out a row that
// follows from the others, and one that contradicts them.
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

// solve writes the solution in which slots without a row are zero to dst, from slot first
// on. Each block of 64 slots has as many words as there are columns. The bits must be zero
// before.
func (e *equations) solve(dst []uint64, first uint64, columns int) {
	type window struct{ lo, hi uint64 } // the 128 slots from the current one on
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

// Seal solves the keys that were added, and drops their digests: see [umbel.Sealer]. The
// memory of the filter then follows from the keys and the rate, regardless of the number of keys that was
// planned. The order of the keys does not matter. A second Seal does nothing: later keys
// stay in the list.
//
// Seal needs memory for the result and 16 bytes per key in addition. It fails only if that
// cannot be addressed. If 64 seeds and 6 % more slots don't solve a shard, the digests that
// contradict others stay in the list. This does not happen to digests made by a hash.
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
		return sentinel.Errorf(umbel.ErrLimit, "ribbon: %w", err)
	}
	f.keys = uint64(f.list.len() - s.left.len())
	f.solved, f.list = solved, s.left
	return nil
}

// sealed returns f if it is sealed or has no keys, and otherwise a copy of it that is.
func (f *Filter) sealed() (*Filter, error) {
	if f.keys != 0 || f.list.len() == 0 {
		return f, nil
	}
	g := &Filter{shape: f.shape, list: f.list, planned: f.planned} // Seal replaces the list and does not change it
	return g, g.Seal()
}

// MarshalBinary returns the filter's container (package wire). It contains the filter that Seal makes, while f is
// unchanged: without Seal the digests of all keys would be written, 16 bytes each. Write State to keep these. A zero
// Filter has no container: the error wraps umbel.ErrGoal. Additions may not run concurrently.
func (f *Filter) MarshalBinary() ([]byte, error) {
	s, err := f.sealed()
	if err != nil {
		return nil, err
	}
	return kinds.Marshal(s.State(), f.core())
}

// WriteTo writes the filter's container, sealed as that of MarshalBinary, to w and returns the number of bytes written.
// Additions may not run concurrently. Errors are those of MarshalBinary and of w.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	s, err := f.sealed()
	if err != nil {
		return 0, err
	}
	return kinds.WriteTo(w, s.State(), f.core())
}

// split returns the digests of a list, grouped by shard, and the end of each group.
func split(l *list) (digests []umbel.Digest, ends []int) {
	n := l.len()
	ends = make([]int, shardsFor(uint64(n)))
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

// maxTries is the number of seeds tried for a shard.
const maxTries = 64

// sealing is a solution in progress. All its blocks have the maximum number of columns.
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
	s := &sealing{steps: steps, columns: (steps + columnSteps - 1) / columnSteps, least: leastSlots(shards)}
	s.slots, s.table = make([]uint64, 0, shards), make([]uint64, 0, shards)
	return s
}

// shard solves the next shard.
func (s *sealing) shard(digests []umbel.Digest) {
	n := uint64(len(digests))
	var slots, seed uint64
	for ; ; seed++ {
		slots = min(max(n+spareSlots+seed*(1+n/1000), s.least), maxSlots)
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

// finish solves the equations of a shard and appends the solution.
func (s *sealing) finish(slots, seed uint64) {
	blocks := blocksFor(s.total + slots)
	s.words = append(s.words, make([]uint64, int(blocks)*s.columns-len(s.words))...)
	s.equations.solve(s.words, s.total, s.columns)
	s.total += slots
	s.slots, s.table = append(s.slots, slots), append(s.table, slots<<8|seed)
}

// try reports whether the equations of a shard are solvable.
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

// keep adds the equations of the digests in order, and leaves those that contradict others
// in the list.
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

// solution returns the result. Of a partial last column it keeps the blocks that the rate
// needs.
func (s *sealing) solution() (solution, error) {
	low := lowBlocks(s.slots, s.steps)
	blocks := blocksFor(s.total)
	columns := uint64(s.steps / columnSteps)
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
