// Package incremental provides the incremental Bloom filter: planes of restricted
// fill, each a standard Bloom filter, that are opened one after the other as keys
// come (Hao, Kodialam and Lakshman 2008). The filter holds the planes that are open
// and no others, so what is kept and sent grows with the keys, up to a maximum that
// is planned; and its rate never passes the goal on the way there.
//
// A plane is closed when it has the bits that its share of the rate allows. A filter
// has what any of its planes has.
package incremental

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// Filter is an incremental Bloom filter. Has, HasAll, Stats and State may run
// alongside themselves and each other; all else runs alone. The zero Filter holds
// nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	shape Shape
	open  []*bloom.Filter // the planes that are open, oldest first
	cells cells.Array     // those of the newest
	ones  uint64          // and its bits that are set
}

// Add adds d, unless the filter has it already, and reports whether it changed.
// Where the newest plane is full it opens the next; the last one goes on taking
// keys, and the rate rises.
func (f *Filter) Add(d umbel.Digest) bool {
	f.mustBeMade()
	if f.Has(d) {
		return false
	}
	_ = f.makeRoom() // without, the newest takes it
	f.put(d)
	return true
}

// put adds d to the newest plane.
func (f *Filter) put(d umbel.Digest) {
	var at [bloom.MaxK]uint64
	for _, i := range f.open[len(f.open)-1].Locate(at[:0], d) {
		if f.cells.SetBit(i) {
			f.ones++
		}
	}
}

// TryAdd is Add, except that it refuses what would change a filter whose last plane
// is full: the error wraps umbel.ErrLimit. So the rate stays within the goal. It
// refuses as well where there is no memory that could hold the next plane.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	f.mustBeMade()
	if f.Has(d) {
		return false, nil
	}
	if err := f.makeRoom(); err != nil {
		return false, err
	}
	f.put(d)
	return true, nil
}

func (f *Filter) mustBeMade() {
	if len(f.open) == 0 {
		panic("umbel: add to a zero filter: make it with New")
	}
}

// Has reports whether d may have been added. It is never false for what was.
func (f *Filter) Has(d umbel.Digest) bool {
	for _, p := range f.open {
		if p.Has(d) {
			return true
		}
	}
	return false
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier]. The planes are asked in
// batches.
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	clear(dst)
	var answers [256]bool
	for from := 0; from < len(ds); from += len(answers) {
		part := ds[from:min(from+len(answers), len(ds))]
		for _, p := range f.open {
			p.HasAll(answers[:len(part)], part)
			for i, has := range answers[:len(part)] {
				dst[from+i] = dst[from+i] || has
			}
		}
	}
}

// Clear forgets all keys and closes all planes but the first.
func (f *Filter) Clear() {
	if len(f.open) == 0 {
		return
	}
	clear(f.open[1:])
	f.open = f.open[:1]
	f.open[0].Clear()
	f.newest()
}

// Growth tells what the next new key takes: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	f.mustBeMade()
	if !f.isFull() {
		return 0, nil
	}
	if err := f.isLast(); err != nil {
		return 0, err
	}
	return (f.shape.Planes[len(f.open)].M + 63) / 64 * 8, nil
}

// isFull reports whether the newest plane has as many bits as it may.
func (f *Filter) isFull() bool { return f.ones >= f.shape.Planes[len(f.open)-1].Limit }

// isLast returns an error that wraps umbel.ErrLimit if there is no plane to open.
func (f *Filter) isLast() error {
	n := len(f.open)
	if n < len(f.shape.Planes) {
		return nil
	}
	return fmt.Errorf("incremental: the last of %d planes has %d bits set, and its limit is %d: "+
		"make a filter for more keys, or use Add and accept a higher rate: %w", n, f.ones, f.shape.Planes[n-1].Limit, umbel.ErrLimit)
}

// makeRoom opens the next plane if the newest is full. The error wraps umbel.ErrLimit
// where there is none.
func (f *Filter) makeRoom() error {
	if !f.isFull() {
		return nil
	}
	if err := f.isLast(); err != nil {
		return err
	}
	p, err := bloom.NewShape(f.shape.bloom(len(f.open)))
	if err != nil { // larger than memory can be
		return fmt.Errorf("%v: %w", err, umbel.ErrLimit)
	}
	f.open = append(f.open, p)
	f.newest()
	return nil
}

// newest finds the cells of the newest plane and counts its bits.
func (f *Filter) newest() {
	f.cells = f.open[len(f.open)-1].State().Arrays[0]
	f.ones = f.cells.Nonzero()
}
