package delta

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// AppendKnown is [Encoder.AppendChange] for a caller who has the changes between the two states. If they are
// few bits of arrays of bits, it takes time in proportion to the changes, and not to the size of the states. The
// cells of base are not used: they may be those of result. Ones are those of result.
//
// The bytes are those of AppendChange, unless that finds a part of another number that is closer. If much of
// an array of several has changed, AppendKnown takes memory for the arrays of the base that differ, and compares
// them. Errors are those of AppendChange, and one wrapping umbel.ErrMismatch if the states have another shape.
// AppendKnown panics if c or ones are of another number of arrays.
func (e Encoder) AppendKnown(dst []byte, base, result umbel.State, c Changes, ones *Ones) ([]byte, error) {
	if err := checkBoth(base, result); err != nil {
		return dst, err
	}
	if !base.SameShape(result) {
		return dst, sentinel.Errorf(umbel.ErrMismatch, "known changes of a state of another shape")
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
				return e.AppendChange(dst, base.WithArrays(c.before(arrays)), result)
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

// before returns the arrays from which c leads to the given ones. Those that don't change share their memory.
func (c Changes) before(arrays []cells.Array) []cells.Array {
	arrays = slices.Clone(arrays)
	for i, p := range c.arrays {
		if len(p) > 0 {
			arrays[i] = arrays[i].Clone()
			p.apply(arrays[i].Words)
		}
	}
	return arrays
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
