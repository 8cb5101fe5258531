package folding

import (
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/probe"
)

// MaxFold is how many times smaller than its base a face may become by itself. The
// limit costs no rate: with so few keys the face is too large. Without it each of the
// first keys of a large filter would fold the whole base.
const MaxFold = 4096

// face is the base folded: what answers.
type face struct {
	cells   cells.Array
	bits    probe.Bits    // the same cells
	mapping probe.Mapping // of values to them
	ones    uint64        // cells that are set
	most    uint64        // more make it grow
	least   uint64        // fewer make it try to shrink
}

// add sets the cells of d.
func (f *face) add(d umbel.Digest, k int) {
	s := probe.Start(d)
	var v uint64
	for range k {
		v, s = s.Next()
		if f.cells.SetBit(f.mapping.At(v)) {
			f.ones++
		}
	}
}

// isFullFor reports whether d sets a cell and takes the face above the interval
// at whatever size: even the whole base.
func (f *Filter) isFullFor(d umbel.Digest) bool {
	fresh := missing(f.face.cells, f.face.mapping, d, f.shape.K)
	if fresh == 0 || f.face.ones+fresh <= f.face.most {
		return false
	}
	if f.face.cells.Len == f.shape.M {
		return true
	}
	// A larger face almost always has the room; where none has, there are few sizes.
	mapping := probe.Mapping{Groups: f.shape.M >> f.shape.Group, Log: f.shape.Group}
	return f.cells.Nonzero()+missing(f.cells, mapping, d, f.shape.K) > share(f.shape.High, f.shape.M)
}

// missing returns how many cells of d are zero.
func missing(a cells.Array, mapping probe.Mapping, d umbel.Digest, k int) uint64 {
	var room [MaxK]uint64
	n := uint64(0)
	at := mapping.Append(room[:0], d, k)
	for i, cell := range at {
		if a.Get(cell) == 0 && !slices.Contains(at[:i], cell) {
			n++
		}
	}
	return n
}

// clear clears a cell.
func (f *face) clear(cell uint64) {
	if f.cells.Bit(cell) {
		f.cells.Put(cell, 0)
		f.ones--
	}
}

// share returns the whole part of fill·m, for a fill in units of 2^-64.
func share(fill, m uint64) uint64 {
	n, _ := bits.Mul64(fill, m)
	return n
}

// folded returns the base folded to a size of its ladder.
func (f *Filter) folded(size uint64) cells.Array {
	a, err := f.cells.FoldToBits(f.shape.M/size, 1<<f.shape.Group)
	if err != nil {
		panic(err) // the ladder is of the base's divisors
	}
	return a
}

// fold makes the base folded to a size the face.
func (f *Filter) fold(size uint64) { f.hold(f.folded(size)) }

// hold makes a the face.
func (f *Filter) hold(a cells.Array) {
	mapping := probe.Mapping{Groups: a.Len >> f.shape.Group, Log: f.shape.Group}
	f.face = face{
		cells:   a,
		bits:    probe.NewBits(a, mapping, f.shape.K, false),
		mapping: mapping,
		ones:    a.Nonzero(),
		most:    share(f.shape.High, a.Len),
		least:   f.shrinkBelow(a.Len),
	}
}

// grow folds the base to the next larger size until the face isn't too full, or is
// as large as the base.
func (f *Filter) grow() {
	for f.face.ones > f.face.most && f.face.cells.Len < f.shape.M {
		i, here := slices.BinarySearch(f.ladder, f.face.cells.Len)
		if here {
			i++
		}
		f.fold(f.ladder[i])
	}
}

// smaller returns the next size of the ladder below one, and 0 if there is none.
func (f *Filter) smaller(size uint64) uint64 {
	i, _ := slices.BinarySearch(f.ladder, size)
	if i == 0 {
		return 0
	}
	return f.ladder[i-1]
}

// shrinkBelow returns the number of cells of a face of some size below which it is
// below the interval, and the next smaller face is expected in the lower half of it.
// (The expectation decides when to look, and the cells that are found whether to
// shrink; no position depends on a rounded number.)
func (f *Filter) shrinkBelow(size uint64) uint64 {
	small := f.smaller(size)
	if small == 0 {
		return 0
	}
	middle := math.Ldexp(float64(f.shape.Low/2+f.shape.High/2), -64)
	draws := math.Log1p(-middle) / math.Log1p(-1/float64(small))
	expected := -math.Expm1(draws*math.Log1p(-1/float64(size))) * float64(size)
	return min(share(f.shape.Low, size), uint64(expected))
}

// shrink folds the base to the next smaller size while the face has few cells set and
// would then be in the lower three quarters of the interval, or below. If it wouldn't,
// the next attempt waits for a sixteenth of them to go: an attempt costs a fold.
func (f *Filter) shrink() {
	for f.face.ones < f.face.least {
		a := f.folded(f.smaller(f.face.cells.Len))
		if a.Nonzero() > share(f.shape.High-(f.shape.High-f.shape.Low)/4, a.Len) {
			f.face.least = f.face.ones - f.face.ones/16
			return
		}
		f.hold(a)
	}
}

// Face returns a copy of the face: the filter to send to those who only ask, with the
// keys of now. The error wraps umbel.ErrMismatch if f is the zero Filter.
func (f *Filter) Folded() (*bloom.Filter, error) {
	if f.base == nil {
		return nil, zero()
	}
	return f.shown(f.face.cells.Clone())
}

// FaceBy returns the base folded by r, in memory of its own, whatever the interval
// says: for a receiver that asked for a size, or for a [Receiver] that joins several.
// The error wraps umbel.ErrMismatch unless r divides the base's groups, and says what
// does.
func (f *Filter) FoldedBy(r uint64) (*bloom.Filter, error) {
	if f.base == nil {
		return nil, zero()
	}
	a, err := f.cells.FoldToBits(r, 1<<f.shape.Group)
	if err != nil {
		return nil, mismatch(err)
	}
	return f.shown(a)
}

// shown returns a face as a filter.
func (f *Filter) shown(a cells.Array) (*bloom.Filter, error) {
	return bloom.Open(bloomState(f.shape, a))
}
