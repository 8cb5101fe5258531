package message

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// maxK is the largest number of cells per key of a compressed filter: more are hardly ever better, and slower.
const maxK = 16

// coder is a kind of filter with cells, with the sizes of its messages for some keys.
type coder struct {
	kind   string
	width  uint64 // bits of a cell in memory
	raw    func(m uint64) float64
	whole  func(f plan.Filter) sent
	change func(f plan.Filter) update // after the churn, if it isn't 0
}

// bits returns the kind bloom.
func (q Goal) bits() coder {
	return coder{
		bloom.Name, 1, rawBits,
		func(f plan.Filter) sent { return cellsOf(f, q.Keys) },
		func(f plan.Filter) update { return updateOf(f, q.Keys, q.Churn) },
	}
}

// list returns the kind sparse, whose cells are those of kind bloom.
func (q Goal) list() coder {
	c := q.bits()
	c.kind = sparse.Name
	c.whole = func(f plan.Filter) sent {
		list := listOf(f, q.Keys)
		if cells := cellsOf(f, q.Keys); q.expands(f.M) && cells.Mean < list.Mean {
			return cells
		}
		return list
	}
	return c
}

// expands reports whether a receiver reads a message of m cells, of one bit each. It then has no memory for more than a
// block of them, but [wire.Limits] count all.
func (q Goal) expands(m uint64) bool { return m <= bitsOf(max(q.Memory, wire.DefaultBytes)) }

// plain returns the filter of the kind that is best in memory.
func (q Goal) plain(c coder) Option {
	var f plan.Filter
	var err error
	if q.FPRate > 0 {
		f, err = plan.Size(q.Keys, q.FPRate)
		if f.M = q.round(f.M, true); q.PowerOfTwo && err == nil {
			f.K = plan.BestK(f.M, q.Keys)
		}
		if err == nil && f.K > bloom.MaxK {
			err = sentinel.Errorf(plan.ErrRange, "it would set %d cells per key, at most %d are allowed", f.K, bloom.MaxK)
		}
	} else if f.M = q.plainWithin(c); f.M > 0 {
		f.K = plan.BestK(f.M, q.Keys)
	} else {
		err = sentinel.Errorf(plan.ErrRange, "%.0f bits are too few for any filter", q.Bits)
	}
	if err != nil {
		return Option{Kind: c.kind, Why: plainly(err)}
	}
	o := q.option(c, f)
	o.Coded, o.Snapshot = false, Size{Bits: plan.Bits{Mean: c.raw(f.M)}, Most: c.raw(f.M)}
	return o
}

// plainWithin returns the size of the largest half-full filter that is sent, or whose updates are
// sent, with at most q.Bits.
func (q Goal) plainWithin(c coder) uint64 {
	m := planning.Most(planning.MaxCells, func(m uint64) bool {
		f := plan.Filter{M: m, K: plan.BestK(m, q.Keys)}
		bits := c.raw(m)
		if q.Churn > 0 {
			bits = c.change(f).message(q.tail())
		}
		return f.K <= bloom.MaxK && bits <= q.Bits
	})
	return q.round(min(m, q.cells(c, planning.MaxCells)), false)
}

// coded returns the compressed filter, stored as cells. A receiver without a limit has memory for plain cells.
func (q Goal) coded(c coder, plain uint64) Option {
	return q.search(c, maxK, q.cells(c, max(bitsOf(wire.DefaultBytes)/c.width, plain)))
}

// sparse returns the compressed Bloom filter with k=1, stored as positions.
func (q Goal) sparse() Option {
	memory := func(m uint64) uint64 { return sparse.Shape{M: m}.Forecast(q.Keys).Bytes }
	cells := planning.Most(planning.MaxCells, func(m uint64) bool {
		return sparse.Shape{M: m}.Check() == nil && (q.Memory == 0 || memory(m) <= q.Memory)
	})
	if cells == 0 {
		return Option{Kind: sparse.Name, Coded: true, Why: fmt.Sprintf("%d keys in %d bits, want at least %d", q.Keys, bitsOf(q.Memory), 8*memory(1))}
	}
	o := q.search(q.list(), 1, cells)
	if o.M > 0 {
		f := plan.Filter{M: o.M, K: 1}
		o.Memory, o.List = memory(o.M), q.list().whole(f) == listOf(f, q.Keys)
	}
	return o
}

// search finds a compressed filter of at most cells cells, with at most k of them per key.
func (q Goal) search(c coder, k int, cells uint64) Option {
	s := plan.CompressedSearch{Keys: q.Keys, Cells: cells, MaxK: k, PowerOfTwo: q.PowerOfTwo}
	tail := q.tail()
	if q.FPRate > 0 {
		tail = 0.5
	}
	s.Bits = func(f plan.Filter) float64 { return q.updateBits(c, f, tail) }
	var f plan.Filter
	var err error
	if q.FPRate > 0 {
		f, err = s.MinBits(q.FPRate)
	} else {
		f, err = s.MinFPRate(q.Bits)
	}
	if err != nil {
		return Option{Kind: c.kind, Coded: true, Why: plainly(err)}
	}
	f.M = q.round(f.M, q.FPRate > 0)
	return q.option(c, f)
}

// updateBits returns the size in bits that an update exceeds with probability tail: of a delta, or of the whole filter.
func (q Goal) updateBits(c coder, f plan.Filter, tail float64) float64 {
	if q.changes(c, f) {
		return c.change(f).message(tail)
	}
	return c.whole(f).atMost(tail)
}

// changes reports whether an update is a delta, which receivers apply to all cells.
func (q Goal) changes(c coder, f plan.Filter) bool {
	return q.Churn > 0 && (c.kind != sparse.Name || q.expands(f.M))
}

// option returns the option for a compressed filter.
func (q Goal) option(c coder, f plan.Filter) Option {
	o := Option{
		Kind: c.kind, Coded: true, M: f.M, K: f.K, FPRate: f.FPRate(q.Keys), Memory: (f.M*c.width + 63) / 64 * 8,
		Snapshot: c.whole(f).size(q.tail()),
	}
	if q.changes(c, f) {
		o.Delta = c.change(f).size(q.tail())
	}
	return o
}

// cells returns the number of cells for which a receiver has memory: most if there is no limit.
func (q Goal) cells(c coder, most uint64) uint64 {
	if q.Memory == 0 {
		return most
	}
	return max(min(bitsOf(q.Memory)/64*64, planning.MaxCells)/c.width, 1)
}

// bitsOf returns the number of bits in bytes bytes, at most 2^63.
func bitsOf(bytes uint64) uint64 { return min(bytes, planning.MaxCells/8) * 8 }

// round rounds m up or down to a number of cells that the filter may have: a power of two if that is required, otherwise
// whole words if it is at least 4096.
func (q Goal) round(m uint64, up bool) uint64 {
	if q.PowerOfTwo {
		return planning.PowerOfTwo(m, up)
	}
	if m < 4096 {
		return m
	}
	if up {
		m += 63
	}
	return m / 64 * 64
}

// plainly returns the text of an error of this module without the names of packages.
func plainly(err error) string {
	text := err.Error()
	for _, name := range []string{"message", ribbon.Name, "plan"} {
		text = strings.TrimPrefix(text, name+": ")
	}
	return text
}
