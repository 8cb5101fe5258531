package folding

import (
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/probe"
)

// MaxFold is the largest factor by which a filter folds its base. The limit costs no rate:
// with so few keys the folded filter is too large. Without it, each of the first keys of a
// large filter would fold the whole base.
const MaxFold = 4096

// folded is the folded filter.
type folded struct {
	bits  arrays.Bits
	ones  uint64 // bits that are set
	most  uint64 // with more it grows
	least uint64 // with fewer it tries to shrink
}

// size returns the number of cells.
func (f *folded) size() uint64 { return f.bits.Shape().M }

// mapping returns the mapping from a value to a cell.
func (f *folded) mapping() probe.Mapping {
	s := f.bits.Shape()
	return probe.Mapping{Groups: s.M >> s.Group, Log: s.Group} // Array().Mapping() copies more
}

// add sets the bits of d.
func (f *folded) add(d umbel.Digest) {
	a, mapping := f.bits.Cells(), f.mapping()
	s := probe.Start(d)
	var v uint64
	for range f.bits.Shape().K {
		v, s = s.Next()
		if a.SetBit(mapping.At(v)) {
			f.ones++
		}
	}
}

// clear clears a bit.
func (f *folded) clear(cell uint64) {
	if a := f.bits.Cells(); a.Bit(cell) {
		a.Put(cell, 0)
		f.ones--
	}
}

// isFullFor reports whether adding d sets a bit and raises the fill above the interval at
// every size, even that of the base.
func (f *Filter) isFullFor(d umbel.Digest) bool {
	absent := missing(f.folded.bits.Array(), d)
	if absent == 0 || f.folded.ones+absent <= f.folded.most {
		return false
	}
	if f.folded.size() == f.shape.M {
		return true
	}
	// A larger size almost always has room; if none has, there are few sizes.
	base := f.base.Array()
	return base.Cells.Nonzero()+missing(base, d) > share(f.shape.High, f.shape.M)
}

// missing returns the number of cells of d that are zero.
func missing(a arrays.Array, d umbel.Digest) uint64 {
	var buffer [maxK]uint64
	n := uint64(0)
	positions := a.Mapping().Append(buffer[:0], d, a.Shape.K)
	for i, cell := range positions {
		if a.Cells.Get(cell) == 0 && !slices.Contains(positions[:i], cell) {
			n++
		}
	}
	return n
}

// share returns the integer part of fill·m, for a fill ratio in units of 2^-64.
func share(fill, m uint64) uint64 {
	n, _ := bits.Mul64(fill, m)
	return n
}

// foldTo returns the base folded to a size that divides its own.
func (f *Filter) foldTo(size uint64) cells.Array {
	a, err := f.base.Array().Cells.FoldToBits(f.shape.M/size, 1<<f.shape.Group)
	if err != nil {
		panic(err) // the size divides that of the base
	}
	return a
}

// fold makes the base folded to a size the folded filter.
func (f *Filter) fold(size uint64) { f.setFolded(f.foldTo(size)) }

// setFolded makes a the folded filter.
func (f *Filter) setFolded(a cells.Array) {
	s := arrays.Shape(f.shape.bits())
	s.M = a.Len
	f.folded = folded{
		bits:  arrays.BitsFrom(arrays.Array{Kind: arrays.Bloom, Shape: s, Cells: a}),
		ones:  a.Nonzero(),
		most:  share(f.shape.High, a.Len),
		least: f.shrinkBelow(a.Len),
	}
}

// grow folds the base to the next larger size until the folded filter is not too full or is
// as large as the base.
func (f *Filter) grow() {
	for f.folded.ones > f.folded.most && f.folded.size() < f.shape.M {
		i, found := slices.BinarySearch(f.sizes, f.folded.size())
		if found {
			i++
		}
		f.fold(f.sizes[i])
	}
}

// smaller returns the next smaller size, and 0 if there is none.
func (f *Filter) smaller(size uint64) uint64 {
	i, _ := slices.BinarySearch(f.sizes, size)
	if i == 0 {
		return 0
	}
	return f.sizes[i-1]
}

// shrinkBelow returns the number of bits of a folded filter of that size below which its fill
// is below the interval and that of the next smaller size is expected to be at most
// shrinkTo. (The expectation decides when to try, and the bits that are found decide whether
// to shrink; no position depends on a rounded number.)
func (f *Filter) shrinkBelow(size uint64) uint64 {
	small := f.smaller(size)
	if small == 0 {
		return 0
	}
	fill := math.Ldexp(float64(f.shape.shrinkTo()), -64)
	draws := math.Log1p(-fill) / math.Log1p(-1/float64(small))
	expected := -math.Expm1(draws*math.Log1p(-1/float64(size))) * float64(size)
	return min(share(f.shape.Low, size), uint64(expected))
}

// shrinkTo returns the highest fill ratio to which a folded filter shrinks, a sixteenth of the
// interval below its upper end: where two sizes are further apart than the interval is wide, a
// key that is added and removed would otherwise fold the base each time.
func (s Shape) shrinkTo() uint64 { return s.High - (s.High-s.Low)/16 }

// shrink folds the base to the next smaller size while few bits are set and the smaller
// filter has a fill of at most shrinkTo. If it has not, the next attempt waits until 1/64 of
// the bits are cleared: an attempt costs a fold.
func (f *Filter) shrink() {
	for f.folded.ones < f.folded.least {
		a := f.foldTo(f.smaller(f.folded.size()))
		if a.Nonzero() > share(f.shape.shrinkTo(), a.Len) {
			f.folded.least = f.folded.ones - f.folded.ones/64
			return
		}
		f.setFolded(a)
	}
}
