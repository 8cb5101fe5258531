package main

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cells"
)

// blockCells is the number of bits in a block.
const blockCells = 1 << 19

// blocksIn yields the blocks of an array.
func blocksIn(a cells.Array) iter.Seq[cells.Array] {
	return func(yield func(cells.Array) bool) {
		per := blockCells / uint64(a.Width)
		for from := uint64(0); from < a.Len; from += per {
			b := cells.Array{Len: min(per, a.Len-from), Width: a.Width}
			at := from * uint64(a.Width) / 64
			b.Words = a.Words[at : at+(b.Len*uint64(b.Width)+63)/64]
			if !yield(b) {
				return
			}
		}
	}
}

// blocksOf returns the blocks of an array, each in the shortest of the codings 0 to 4 that packers tried before the short form.
func blocksOf(a cells.Array) string {
	var b strings.Builder
	for block := range blocksIn(a) {
		x := block.Nonzero()
		best := raw + words(block)
		switch d := max(2*x, block.Len) - min(2*x, block.Len); {
		case x == 0:
			best = empty
		case !slices.ContainsFunc(values(block, 0, block.Len), func(v uint64) bool { return v < block.Limit() }):
			best = full
		case block.Width > 1 || d*d > 16*block.Len:
			code := arithmetic + payload(payloadOf(block))
			if block.Width == 1 && x <= 16+block.Len/256 && len(listed+positionsIn(block)) < len(code) {
				code = listed + positionsIn(block)
			}
			if len(code) < len(best) {
				best = code
			}
		}
		b.WriteString(best)
	}
	return b.String()
}

// joined returns the concatenation of arrays. All but the last have whole words.
func joined(arrays ...cells.Array) cells.Array {
	all := cells.Array{Width: arrays[0].Width}
	for _, a := range arrays {
		all.Words = append(all.Words, a.Words...)
		all.Len += a.Len
	}
	return all
}

// words returns the words of an array as in a raw block.
func words(a cells.Array) string {
	var b []byte
	for _, w := range a.Words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return string(b)
}

// heavy returns n counters of 64 bits, few of which are nonzero.
func heavy(n uint64) cells.Array {
	rng := rand.New(rand.NewPCG(n, 3))
	a := emptyCells(n, 64)
	for range 40 {
		a.Put(rng.Uint64N(n), rng.Uint64()>>rng.Uint64N(64))
	}
	return a
}

// scattered returns n bits, x of them ones.
func scattered(seed, n, x uint64) cells.Array {
	rng := rand.New(rand.NewPCG(seed, n))
	a := emptyCells(n, 1)
	for x > 0 {
		if a.SetBit(rng.Uint64N(n)) {
			x--
		}
	}
	return a
}

func fullCells(n uint64) cells.Array { return inverted(emptyCells(n, 1)) }

// inverted returns a with each bit inverted.
func inverted(a cells.Array) cells.Array {
	b := emptyCells(a.Len, 1)
	for i := range a.Len {
		if !a.Bit(i) {
			b.SetBit(i)
		}
	}
	return b
}
