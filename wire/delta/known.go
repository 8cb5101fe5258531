package delta

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// AppendKnown is [Encoder.AppendChange] for a caller who has the changes between the two states. If they are
// few bits of arrays of bits, it takes time in proportion to the changes, and not to the size of the states. Base
// has the kind, the hasher, the parameters, the parts and the notes of the base; it needs no arrays. Ones
// are those of result.
//
// The bytes are those of AppendChange, unless that finds a part of another number that is closer. If much of
// an array of several has changed, AppendKnown takes memory for the arrays of the base that differ, and compares
// them. Errors are those of AppendChange. AppendKnown panics if the parts of base or the arrays of c are
// not those of result.
func (e Encoder) AppendKnown(dst []byte, base, result umbel.State, c Changes, ones *Ones) ([]byte, error) {
	if err := checkBoth(base, result); err != nil {
		return dst, err
	}
	arrays := result.AllArrays()
	if c.arrays == nil {
		c.arrays = make([]packed, len(arrays))
	}
	if len(arrays) != len(c.arrays) || len(arrays) != len(ones.arrays) {
		panic(fmt.Sprintf("delta: changes of %d arrays, and ones of %d, for a state of %d", len(c.arrays), len(ones.arrays), len(arrays)))
	}
	if len(arrays) > 1 {
		for i, a := range arrays {
			if !isNear(a.Words, c.arrays[i]) {
				s, _ := c.restore(base, result)
				return e.AppendChange(dst, s, result)
			}
		}
	}
	return e.appendChange(dst, base, result, &known{c.arrays, ones.arrays})
}

// known are the changes of the arrays that are not written yet, and the ones of these arrays.
type known struct {
	changes []packed
	ones    []counts
}

// next returns the difference of the next array.
func (k *known) next(a cells.Array) difference {
	d := newDifference(a, k.changes[0], k.ones[0])
	k.changes, k.ones = k.changes[1:], k.ones[1:]
	return d
}

// restore returns base with its arrays: those of result before the changes. Arrays that don't change share
// the memory of result. It also returns the changes of the arrays that follow.
func (c Changes) restore(base, result umbel.State) (umbel.State, Changes) {
	base.Arrays, base.Parts = slices.Clone(result.Arrays), slices.Clone(base.Parts)
	for i, a := range base.Arrays {
		if len(c.arrays[i]) > 0 {
			base.Arrays[i] = a.Clone()
			c.arrays[i].apply(base.Arrays[i].Words)
		}
	}
	c.arrays = c.arrays[len(base.Arrays):]
	for i, p := range base.Parts {
		base.Parts[i], c = c.restore(p, result.Parts[i])
	}
	return base, c
}

// isNear reports what sampleDistance does for an array and the same array before changes.
func isNear(words []uint64, p packed) bool {
	if len(p) == 0 {
		return true
	}
	step := uint64(sampleStep(len(words)))
	d, ones, n := uint64(0), uint64(0), uint64(0)
	for i := uint64(0); i < uint64(len(words)); i += step {
		ones += uint64(bits.OnesCount64(words[i]))
		n++
	}
	c := p.all()
	for c.next() {
		if c.word%step == 0 {
			d += uint64(bits.OnesCount64(c.mask))
		}
	}
	return 2*d <= min(ones, 64*n-ones)
}
