package mapped

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// cacheBytes is the most memory of decoded blocks and runs, which take at most 64 KiB each.
const cacheBytes = 16 << 20

// packed is a filter whose first array is packed: a query decodes the blocks that it needs. What a query decodes is kept for
// others, in a cache, and the whole filter is read into memory when that becomes cheaper.
type packed struct {
	index   format.Index
	locator umbel.Locator
	kinds   umbel.Kinds
	limits  wire.Limits
	source  []byte // the container

	whole   atomic.Pointer[umbel.Filter]
	reading sync.Mutex  // held while the whole filter is read
	tooBig  atomic.Bool // the limits don't permit it

	mu      sync.Mutex
	units   map[uint64]*list.Element // of *format.Unit, by the first cell
	order   list.List                // the last one was used least recently
	bytes   int
	decoded atomic.Uint64 // blocks and runs
}

// openPacked returns the filter in the container b, which m maps unless it is nil, if its first array is packed and its kind
// finds cells without having them. Otherwise the filter is nil.
func openPacked(b []byte, m mapping, kinds umbel.Kinds, l wire.Limits) (*Filter, error) {
	p := &packed{kinds: kinds, limits: l, source: b, units: map[uint64]*list.Element{}}
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
	return x, err
}

// has reports whether d may have been added.
func (p *packed) has(d umbel.Digest) (bool, error) {
	if f := p.cheaper(1); f != nil {
		return f.Has(d), nil
	}
	at := p.locator.Locate(nil, d)
	for _, cell := range at {
		if u, err := p.unit(cell); err != nil || !u.Nonzero(cell) {
			return false, err
		}
	}
	return len(at) > 0, nil
}

// batch is the number of digests whose cells are found together.
const (
	logBatch = 12
	batch    = 1 << logBatch
)

// hasAll sets dst[i] to has of ds[i].
func (p *packed) hasAll(dst []bool, ds []umbel.Digest) error {
	if f := p.cheaper(len(ds)); f != nil {
		umbel.HasAll(f, dst, ds)
		return nil
	}
	for len(ds) > 0 {
		n := min(len(ds), batch)
		if err := p.hasSome(dst[:n], ds[:n]); err != nil {
			return err
		}
		dst, ds = dst[n:], ds[n:]
	}
	return nil
}

// hasSome queries a batch: first a cell of each digest, then another cell of those without a zero cell, and so on. The
// cells are in the order of the array, so that a block is decoded once for all of them.
func (p *packed) hasSome(dst []bool, ds []umbel.Digest) error {
	if p.index.Array.Len>>(64-logBatch) != 0 { // a cell and a number of the batch don't fit into a word
		for i, d := range ds {
			var err error
			if dst[i], err = p.has(d); err != nil {
				return err
			}
		}
		return nil
	}
	var all []uint64
	ends := make([]int, len(ds)+1)
	for i, d := range ds {
		all = p.locator.Locate(all, d)
		ends[i+1] = len(all)
		dst[i] = ends[i] < ends[i+1]
	}
	probes := make([]uint64, 0, len(ds)) // a cell, and the number of its digest
	u := new(format.Unit)
	for k := 0; ; k++ {
		probes = probes[:0]
		for i := range ds {
			if at := ends[i] + k; dst[i] && at < ends[i+1] {
				probes = append(probes, all[at]<<logBatch|uint64(i))
			}
		}
		if len(probes) == 0 {
			return nil
		}
		slices.Sort(probes)
		for _, probe := range probes {
			cell := probe >> logBatch
			if cell < u.First || cell >= u.End {
				var err error
				if u, err = p.unit(cell); err != nil {
					return err
				}
			}
			dst[probe%batch] = u.Nonzero(cell)
		}
	}
}

// unit returns the decoded block or run that has a cell.
func (p *packed) unit(cell uint64) (*format.Unit, error) {
	place, err := p.index.Find(cell)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if e := p.units[place.Block]; e != nil {
		p.order.MoveToFront(e)
		p.mu.Unlock()
		return e.Value.(*format.Unit), nil
	}
	p.mu.Unlock()
	u, err := p.index.Decode(place)
	if err != nil {
		return nil, err
	}
	p.decoded.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.units[place.Block] == nil {
		p.units[place.Block] = p.order.PushFront(u)
		p.bytes += u.Bytes()
	}
	for p.bytes > cacheBytes {
		e := p.order.Back()
		old := p.order.Remove(e).(*format.Unit)
		delete(p.units, old.Block)
		p.bytes -= old.Bytes()
	}
	return u, nil
}

// cheaper returns the whole filter if it is in memory, or if it is to be now since n digests are queried: if not all that is decoded
// fits into the cache, and what was decoded, and will be for n digests, is half of the filter. An absent key needs two cells,
// on average. It returns nil if the limits don't permit the whole filter.
func (p *packed) cheaper(n int) umbel.Filter {
	if f := p.whole.Load(); f != nil {
		return *f
	}
	coded := p.index.Coded
	if coded*unitBytes <= cacheBytes || p.decoded.Load()+min(2*uint64(n), coded) < coded/2 || p.tooBig.Load() {
		return nil
	}
	f, err := p.filter()
	if err != nil {
		p.tooBig.Store(true) // and if it is damaged, the query returns the error
		return nil
	}
	return f
}

// unitBytes is the most memory of a decoded block or run.
const unitBytes = 1 << 16

// filter returns the whole filter in memory.
func (p *packed) filter() (umbel.Filter, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if f := p.whole.Load(); f != nil {
		return *f, nil
	}
	s, err := wire.Parse(p.source, p.limits)
	if err != nil {
		return nil, err
	}
	f, err := p.kinds.Open(s)
	if err != nil {
		return nil, err
	}
	p.whole.Store(&f)
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.units)
	p.order.Init()
	p.bytes = 0
	return f, nil
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
