package squid

import "github.com/umbel-filters/umbel"

// together is the number of keys of a batch whose positions are computed before the first cell is read: a
// loop that only reads has many cache misses in flight at once.
const together = 64

// batch is room for the positions of some keys.
type batch [together][K]uint64

// locate computes the positions of ds, at most together keys.
func (f *Filter) locate(at *batch, ds []umbel.Digest) {
	for i, d := range ds {
		at[i] = f.positions(d)
	}
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if f.m == 0 {
		clear(dst)
		return
	}
	var at batch
	for from := 0; from < len(ds); from += together {
		some := ds[from:min(from+together, len(ds))]
		f.locate(&at, some)
		for i := range some {
			p := &at[i]
			dst[from+i] = f.cell(p[0])&f.cell(p[1])&f.cell(p[2])&f.cell(p[3])&1 != 0
		}
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	var at batch
	for from := 0; from < len(ds); from += together {
		f.mustInit()
		some := ds[from:min(from+together, len(ds))]
		f.locate(&at, some)
		for i := range some {
			if c := f.set(at[i]); changed != nil {
				changed[from+i] = c
			}
		}
	}
}

// AddAllAtomic adds ds. It is safe to call concurrently with Has and itself: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	for _, d := range ds {
		f.AddAtomic(d)
	}
}
