package ribbon

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/probe"
)

const (
	// width is the number of coefficients of a key, in neighboring slots.
	width = 128
	// overhang is how far outside of its shard a key's first coefficient may be drawn; it is
	// then moved to the nearest valid slot. Without it, fewer keys would cover the ends of a
	// shard than its middle, and it would need 0.6 % more slots.
	overhang = 64
	// word is the number of slots of a block.
	word = 64
	// maxSlots and maxSeed are the largest values that fit in a cell of the table of shards.
	maxSlots = 1<<24 - 1
	maxSeed  = 1<<8 - 1
)

// shard is an independent system of equations, of the keys whose first value of the stream
// selects it.
type shard struct {
	first uint64 // slot of the filter with which it begins
	slots uint32
	seed  uint32
}

// row returns the slot in the shard of a key's first coefficient, and all of them: bit
// i of lo is for slot at+i, bit i of hi for slot at+64+i. s is the key's stream before
// its first value.
func (h shard) row(s probe.Stream) (at, lo, hi uint64) {
	draw, s := h.own(s).Next()
	lo, s = s.Next()
	hi, _ = s.Next()
	return h.place(draw), lo, hi
}

// own returns the key's stream before the values that the shard's seed takes.
func (h shard) own(s probe.Stream) probe.Stream { return s.Skip(1 + 3*uint64(h.seed)) }

// place returns the slot in the shard that a value of the stream draws.
func (h shard) place(v uint64) uint64 {
	at := probe.Reduce(v, uint64(h.slots)+1)
	return min(at-min(at, overhang), max(uint64(h.slots), width)-width)
}

// solution contains a number of bits for each slot, one per column. The words of a block of
// 64 slots are its columns, one after the other. Blocks from low on have one more column
// than those before.
type solution struct {
	words   []uint64 // of bits
	shards  []shard
	columns uint64 // of the first blocks, 0 to 32
	low     uint64 // their number
	last    uint64 // index of the last block's first word
	bits    cells.Array
	table   cells.Array // a cell for each shard: 256·slots + seed
}

const (
	maxColumns = 32
	tableWidth = 32
)

// newSolution returns the solution with the given arrays, whose memory it shares. The error
// wraps no sentinel.
func newSolution(steps int, low uint64, bits, table cells.Array) (solution, error) {
	s := solution{
		words: bits.Words, columns: uint64(steps / columnSteps), low: low,
		bits: bits, table: table,
	}
	if bits.Width > 1 || table.Width != tableWidth || table.Len == 0 {
		return solution{}, fmt.Errorf("cells of %d bits, and a table of %d cells of %d, want cells of 1 bit and at least one of %d",
			bits.Width, table.Len, table.Width, tableWidth)
	}
	least := leastSlots(int(table.Len))
	var total uint64
	s.shards = make([]shard, table.Len)
	for i := range s.shards {
		x := table.Get(uint64(i))
		slots, seed := x>>8, x&maxSeed
		if slots < least {
			return solution{}, fmt.Errorf("shard %d of %d has %d slots, want at least %d", i, table.Len, slots, least)
		}
		s.shards[i] = shard{total, uint32(slots), uint32(seed)}
		total += slots
	}
	blocks := blocksFor(total)
	if low > blocks || s.columns == maxColumns && low < blocks {
		return solution{}, fmt.Errorf("%d blocks of %d have %d columns, the others one more, want at most %d", low, blocks, s.columns, maxColumns)
	}
	if want := (s.columns*blocks + blocks - low) * word; bits.Len != want || want == 0 {
		return solution{}, fmt.Errorf("%d cells for %d slots, want %d", bits.Len, total, want)
	}
	if total < width {
		// The coefficients of a key extend beyond the slots, where all bits are zero.
		s.words = append(slices.Clone(s.words), make([]uint64, 2*(s.columns+1))...)
		blocks += 2
	}
	s.last = (blocks-1)*s.columns + blocks - 1 - min(blocks-1, low)
	return s, nil
}

// leastSlots returns the minimum number of slots of a shard if there are the given number of
// shards: a key's coefficients don't extend into the next shard.
func leastSlots(shards int) uint64 {
	if shards == 1 {
		return 1
	}
	return width
}

func blocksFor(slots uint64) uint64 { return (slots + word - 1) / word }

// has reports whether the solution gives the fingerprint of d.
func (s *solution) has(d umbel.Digest) bool {
	if len(s.shards) == 0 {
		return false
	}
	var q question
	s.prepare(d, &q)
	return answer1(s.words, &q)
}

// question is a query in progress. Its result is one bit per column: the exclusive or of the
// slots for which the key has a coefficient.
type question struct {
	at           [3]uint64 // indices of the first words of three blocks
	coefficients [3]uint64 // for their slots
	columns      uint64
	want         uint64 // bit j in column j
}

// prepare sets q to the query for d. There must be shards.
func (s *solution) prepare(d umbel.Digest, q *question) {
	stream := probe.Start(d)
	v, _ := stream.Next()
	h := s.shards[probe.Reduce(v, uint64(len(s.shards)))]
	// As in row, which would be a call.
	draw, stream := h.own(stream).Next()
	lo, stream := stream.Next()
	hi, _ := stream.Next()
	slot := h.first + h.place(draw)
	b, shift := slot/word, slot%word
	q.coefficients[0] = lo << shift
	q.coefficients[1] = lo>>1>>(63-shift) | hi<<shift
	q.coefficients[2] = hi >> 1 >> (63 - shift)

	above := b - min(b, s.low) // blocks before this one with a column more
	first := b*s.columns + above
	columns, next := s.columns, s.columns
	if b >= s.low {
		columns++
	}
	if b+1 >= s.low {
		next++
	}
	// Behind the last block there are no coefficients.
	q.at[0] = first
	q.at[1] = min(first+columns, s.last)
	q.at[2] = min(first+columns+next, s.last)
	q.columns = columns
	q.want = v & (1<<(columns&63) - 1)
}

// answerPlain reports whether all columns match. It reads all of them: to stop at the first
// that differs would save less than the mispredicted branch costs.
func answerPlain(words []uint64, q *question) bool {
	w0, w1, w2 := words[q.at[0]:][:q.columns], words[q.at[1]:][:q.columns], words[q.at[2]:][:q.columns]
	c, want, differs := q.coefficients, q.want, uint64(0)
	for j := range w0 {
		x := w0[j]&c[0] ^ w1[j]&c[1] ^ w2[j]&c[2]
		differs |= uint64(bits.OnesCount64(x)) ^ want
		want >>= 1
	}
	return differs&1 == 0
}

const (
	// ahead is the number of keys whose blocks are prefetched before the first is read.
	ahead = 32
	// farFrom is the number of words from which prefetching pays: 256 KiB.
	farFrom = 1 << 15
)

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if f.keys == 0 {
		clear(dst)
	} else {
		for i := 0; i < len(ds); i += ahead {
			end := min(i+ahead, len(ds))
			f.solved.hasAll(dst[i:end], ds[i:end])
		}
	}
	if f.list.len() == 0 {
		return
	}
	for i, d := range ds {
		dst[i] = dst[i] || f.list.has(d)
	}
}

// hasAll is has for 1 to ahead digests. There must be shards.
func (s *solution) hasAll(dst []bool, ds []umbel.Digest) {
	var all [ahead]question
	qs := all[:len(ds)]
	for i := range qs {
		s.prepare(ds[i], &qs[i])
	}
	answer(s.words, qs, len(s.words) >= farFrom, dst)
}
