package delta

import (
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// known is the comparison of an array with itself before flips.
type known struct {
	a     cells.Array
	list  []ranked
	begin []int    // of block i: the number of its first flip, or the first after it
	ones  []uint32 // of blocks; nil for counters
}

func newKnown(a cells.Array, list []ranked, ones []uint32) known {
	k := known{a, list, make([]int, block.Count(a)+1), ones}
	n := 0
	for i := range k.begin {
		for n < len(list) && list[n].Word < uint64(i)*block.Words {
			n++
		}
		k.begin[i] = n
	}
	return k
}

func (k known) next(i uint64) uint64 {
	for i < block.Count(k.a) && k.begin[i] == k.begin[i+1] {
		i++
	}
	return i
}

func (k known) flips(i uint64) (n uint64) {
	for _, f := range k.list[k.begin[i]:k.begin[i+1]] {
		n += uint64(bits.OnesCount64(f.Mask))
	}
	return n
}

// isRaw looks at one word of the block if that suffices. In the last word of the array, all cells may be
// set although not all bits are.
func (k known) isRaw(i uint64) bool {
	at := k.list[k.begin[i]].Word
	w := k.a.Words[at]
	return w != 0 && ^w != 0 && at+1 < uint64(len(k.a.Words)) || block.Plain(block.At(k.a, i)) == block.Raw
}

func (k known) take(j *encodeJob, i, n uint64) {
	j.cells = block.Run(k.a, i, n)
	j.known.first, j.known.flips, j.known.ones = i*block.Words, k.list[k.begin[i]:k.begin[i+n]], nil
	if k.ones != nil {
		j.known.ones = k.ones[i : i+n]
	}
}

// knownRun is what is known of a run.
type knownRun struct {
	first uint64   // word of the array with which the run begins
	flips []ranked // of the run
	ones  []uint32 // of its blocks; nil for counters
	gone  []uint64 // positions of changes among the ones of the prediction
	come  []uint64 // and among its zeros
	base  []uint64 // memory for the prediction
}

// forget removes what belongs to the caller of the encoder.
func (r *knownRun) forget() { r.flips, r.ones = nil, nil }

// encodeKnown is encode for a run without a prediction. If the list of its flips does not suffice, it
// computes the prediction.
func (j *encodeJob) encodeKnown() {
	j.bytes = j.bytes[:0]
	bits := j.cells.Bytes() * 8
	switch {
	case j.n == 0:
		return
	case j.n == 1 && block.Plain(j.cells) != block.Raw:
	case j.flips*rareFactor < bits:
		j.payload = entropy.AppendRiceSparse(j.payload[:0], j.known.positions(bits))
		if j.cells.Width <= 1 || len(j.payload) <= tinyBytes {
			j.append(flipped)
			return
		}
	case j.known.ones != nil && len(j.known.flips) <= len(j.cells.Words)/sparseFlips:
		gone, come := j.known.split(j.cells)
		j.payload = j.codec.Modeler.AppendFlips(j.payload[:0], gone, come)
		if 32*uint64(len(j.payload)) <= bits {
			j.append(given)
			return
		}
	}
	j.predicted = j.known.predict(j.cells)
	j.encode()
}

// sparseFlips is the number of words per word that differs from which a run is encoded without
// reading all of it.
const sparseFlips = 16

// predict returns the prediction of the run.
func (r *knownRun) predict(a cells.Array) cells.Array {
	r.base = append(r.base[:0], a.Words...)
	for _, f := range r.flips {
		r.base[f.Word-r.first] ^= f.Mask
	}
	a.Words = r.base
	return a
}

// positions returns the flips as a string of bits.
func (r *knownRun) positions(bits uint64) entropy.Sparse {
	r.come = r.come[:0]
	for _, f := range r.flips {
		r.come = appendOnes(r.come, (f.Word-r.first)*64, f.Mask)
	}
	return entropy.Sparse{Ones: r.come, Len: bits}
}

// split returns the changes of the ones and of the zeros of the prediction of a.
func (r *knownRun) split(a cells.Array) (gone, come entropy.Sparse) {
	r.gone, r.come = r.gone[:0], r.come[:0]
	blocks, before := uint64(0), uint64(0) // ones before block number blocks
	more := uint64(0)                      // ones that the flips so far added, modulo 2^64
	for _, f := range r.flips {
		i := f.Word - r.first
		for ; blocks < i/block.Words; blocks++ {
			before += uint64(r.ones[blocks])
		}
		ones := before + uint64(f.before) - more
		w := a.Words[i] ^ f.Mask
		for m := f.Mask & w; m != 0; m &= m - 1 {
			r.gone = append(r.gone, ones+uint64(bits.OnesCount64(w&(m&-m-1))))
		}
		for m := f.Mask &^ w; m != 0; m &= m - 1 {
			r.come = append(r.come, i*64-ones+uint64(bits.OnesCount64(^w&(m&-m-1))))
		}
		more += uint64(bits.OnesCount64(a.Words[i]) - bits.OnesCount64(w))
	}
	for _, n := range r.ones[blocks:] {
		before += uint64(n)
	}
	ones := before - more
	return entropy.Sparse{Ones: r.gone, Len: ones}, entropy.Sparse{Ones: r.come, Len: a.Len - ones}
}

// appendOnes appends the positions of the ones of a word that begins at position first.
func appendOnes(list []uint64, first, w uint64) []uint64 {
	list = slices.Grow(list, bits.OnesCount64(w))
	for ; w != 0; w &= w - 1 {
		list = append(list, first+uint64(bits.TrailingZeros64(w)))
	}
	return list
}
