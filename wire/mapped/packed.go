package mapped

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// packed is a filter whose first array is packed: a query decodes the blocks that it needs, which are kept for others. The whole
// filter is in memory if it was needed, or when nearly all of its blocks are decoded.
type packed struct {
	index   format.Index
	locator umbel.Locator
	kinds   umbel.Kinds
	limits  wire.Limits
	source  []byte // the container
	state   umbel.State
	units   units

	whole   atomic.Pointer[umbel.Filter]
	reading sync.Mutex  // held while the whole filter is read
	damaged atomic.Bool // it can't be read
}

// openPacked returns the filter in the container b, which m maps unless it is nil, if its first array is packed and its kind
// finds cells without having them. Otherwise the filter is nil.
func openPacked(b []byte, m mapping, kinds umbel.Kinds, l wire.Limits) (*Filter, error) {
	p := &packed{kinds: kinds, limits: l, source: b}
	p.index.Least = leastBytes
	p.index.Wanted = func(name string) bool {
		kind, err := kinds.Find(name)
		return err == nil && kind.Locator != nil
	}
	x := &Filter{file: m, packed: p}
	copied := uint64(0)
	at, err := format.ParseIndexed(&x.state, b, budgetOf(l, &copied), &p.index)
	switch {
	case errors.Is(err, format.ErrUnindexed) || errors.Is(err, errCopy):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("byte %d: %w", at, err)
	}
	kind, err := kinds.Find(x.state.Kind)
	if err == nil {
		p.locator, err = kind.Locator(x.state)
	}
	p.state = x.state
	p.units.begin(&p.index)
	p.units.words = p.words
	return x, err
}

// words returns the words of the array, zero, if the limits permit them.
func (p *packed) words() ([]uint64, error) {
	a, err := cells.WordsFor(p.index.Array.Len, p.index.Array.Width)
	if err == nil && 8*a > cmp.Or(p.limits.Bytes, wire.DefaultBytes) {
		err = umbel.ErrLimit
	}
	if err == nil && p.limits.Reserve != nil {
		err = p.limits.Reserve(8 * a)
	}
	if err != nil {
		return nil, err
	}
	array, err := cells.New(p.index.Array.Len, p.index.Array.Width)
	return array.Words, err
}

// has reports whether d may have been added.
func (p *packed) has(d umbel.Digest) (bool, error) {
	if f := p.cheaper(); f != nil {
		return f.Has(d), nil
	}
	at := p.locator.Locate(nil, d)
	for _, cell := range at {
		if v, err := p.get(cell); v == 0 || err != nil {
			return false, err
		}
	}
	return len(at) > 0, nil
}

// get returns a cell.
func (p *packed) get(cell uint64) (v uint64, err error) {
	if u := p.units.find(cell); u != nil {
		return u.Get(cell), nil
	}
	err = p.units.each([]probe{{cell: cell}}, func(_ probe, u *format.Unit) { v = u.Get(cell) })
	return v, err
}

// batch is the most digests that are queried together.
const batch = 1 << 12

// hasAll sets dst[i] to has of ds[i].
func (p *packed) hasAll(dst []bool, ds []umbel.Digest) error {
	for len(ds) > 0 {
		if f := p.cheaper(); f != nil {
			umbel.HasAll(f, dst, ds)
			return nil
		}
		n := min(len(ds), batch)
		if err := p.hasSome(dst[:n], ds[:n]); err != nil {
			return err
		}
		dst, ds = dst[n:], ds[n:]
	}
	return nil
}

// hasSome queries a batch: first a cell of each digest, then another cell of those without a zero cell, and so on. Cells whose
// unit is not decoded wait for the others of their round.
func (p *packed) hasSome(dst []bool, ds []umbel.Digest) error {
	b := scratches.Get().(*scratch)
	defer scratches.Put(b)
	all, ends, probes := b.all[:0], slices.Grow(b.ends[:0], len(ds)+1)[:len(ds)+1], b.probes
	ends[0] = 0
	for i, d := range ds {
		all = p.locator.Locate(all, d)
		ends[i+1] = len(all)
		dst[i] = ends[i] < ends[i+1]
	}
	for k, more := 0, true; more; k++ {
		more, probes = false, probes[:0]
		for i := range ds {
			at := ends[i] + k
			if !dst[i] || at >= ends[i+1] {
				continue
			}
			more = true
			if u := p.units.find(all[at]); u != nil {
				dst[i] = u.Get(all[at]) != 0
			} else {
				probes = append(probes, probe{all[at], i})
			}
		}
		if err := p.units.each(probes, func(q probe, u *format.Unit) { dst[q.key] = u.Get(q.cell) != 0 }); err != nil {
			return err
		}
	}
	b.all, b.ends, b.probes = all, ends, probes
	return nil
}

// scratch is memory for a batch: the cells of its digests, where those of each begin, and the cells that wait.
type scratch struct {
	all    []uint64
	ends   []int
	probes []probe
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// cheaper returns the whole filter if it is in memory, or if nearly all of it is decoded. A batch that finds another one
// at work on the rest does not wait for it. It returns nil if the rest is damaged: queries that need it return the error.
func (p *packed) cheaper() umbel.Filter {
	if f := p.whole.Load(); f != nil {
		return *f
	}
	if p.damaged.Load() || !p.units.complete() || !p.reading.TryLock() {
		return nil
	}
	defer p.reading.Unlock()
	if f := p.whole.Load(); f != nil {
		return *f
	}
	a, err := p.units.array()
	if err == nil {
		s := p.state
		s.Arrays = slices.Clone(s.Arrays)
		s.Arrays[0] = a
		if f, err := p.keep(s); err == nil {
			return f
		}
	}
	p.damaged.Store(err != errBusy)
	return nil
}

// filter returns the whole filter in memory.
func (p *packed) filter() (umbel.Filter, error) {
	if f := p.cheaper(); f != nil {
		return f, nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	if f := p.whole.Load(); f != nil {
		return *f, nil
	}
	s, err := wire.Parse(p.source, p.limits)
	if err != nil {
		return nil, err
	}
	return p.keep(s)
}

// keep opens the whole filter and keeps it instead of blocks.
func (p *packed) keep(s umbel.State) (umbel.Filter, error) {
	f, err := p.kinds.Open(s)
	if err == nil {
		p.whole.Store(&f)
		p.units.reset()
	}
	return f, err
}

// verify decodes all blocks, with memory for some of them.
func (p *packed) verify() error {
	for _, err := range wire.ReadBlocks(bytes.NewReader(p.source), wire.NoLimits, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}
