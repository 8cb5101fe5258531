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
)

// maxK is the largest number of cells per key of a compressed filter: more are hardly ever better, and slower.
const maxK = 16

// plain returns the Bloom filter that is best in memory.
func (q Goal) plain() Option {
	var f plan.Filter
	var err error
	if q.FPRate > 0 {
		f, err = plan.Size(q.Keys, q.FPRate)
		f.M = words(f.M, true)
		if err == nil && f.K > bloom.MaxK {
			err = sentinel.Errorf(plan.ErrRange, "it would set %d cells per key, at most %d are allowed", f.K, bloom.MaxK)
		}
	} else if f.M = q.plainWithin(); f.M > 0 {
		f.K = plan.BestK(f.M, q.Keys)
	} else {
		err = sentinel.Errorf(plan.ErrRange, "%.0f bits are too few for any filter", q.Bits)
	}
	if err != nil {
		return Option{Kind: "bloom", Why: plainly(err)}
	}
	o := q.option(bloom.Name, f)
	o.Coded, o.Snapshot = false, Size{Bits: plan.Bits{Mean: rawBits(f.M)}, Most: rawBits(f.M)}
	return o
}

// plainWithin returns the size of the largest half-full filter that is sent, or whose updates are
// sent, with at most q.Bits.
func (q Goal) plainWithin() uint64 {
	m := planning.Most(planning.MaxCells, func(m uint64) bool {
		f := plan.Filter{M: m, K: plan.BestK(m, q.Keys)}
		bits := rawBits(m)
		if q.Churn > 0 {
			bits = updateOf(f, q.Keys, q.Churn).message(q.tail())
		}
		return f.K <= bloom.MaxK && bits <= q.Bits
	})
	return words(min(m, q.cells()), false)
}

// coded returns the compressed Bloom filter, stored as cells.
func (q Goal) coded() Option { return q.search(bloom.Name, maxK, q.cells()) }

// sparse returns the compressed Bloom filter with k=1, stored as positions.
func (q Goal) sparse() Option {
	memory := func(m uint64) uint64 { return sparse.Shape{M: m}.Forecast(q.Keys).Bytes }
	cells := planning.Most(planning.MaxCells, func(m uint64) bool {
		return sparse.Shape{M: m}.Check() == nil && (q.Memory == 0 || memory(m) <= q.Memory)
	})
	if cells == 0 {
		return Option{Kind: sparse.Name, Coded: true, Why: fmt.Sprintf("%d keys in %d bits, want at least %d", q.Keys, bitsOf(q.Memory), 8*memory(1))}
	}
	o := q.search(sparse.Name, 1, cells)
	if o.M > 0 {
		o.Memory = memory(o.M)
	}
	return o
}

// search finds a compressed filter of at most cells cells, with at most k of them per key.
func (q Goal) search(kind string, k int, cells uint64) Option {
	s := plan.CompressedSearch{Keys: q.Keys, Cells: cells, MaxK: k}
	tail := q.tail()
	if q.FPRate > 0 {
		tail = 0.5
	}
	s.Bits = func(f plan.Filter) float64 { return sentBits(f, q.Keys, q.Churn, tail) }
	var f plan.Filter
	var err error
	if q.FPRate > 0 {
		f, err = s.MinBits(q.FPRate)
	} else {
		f, err = s.MinFPRate(q.Bits)
	}
	if err != nil {
		return Option{Kind: kind, Coded: true, Why: plainly(err)}
	}
	f.M = words(f.M, q.FPRate > 0)
	return q.option(kind, f)
}

// option returns the option for a compressed filter.
func (q Goal) option(kind string, f plan.Filter) Option {
	o := Option{
		Kind: kind, Coded: true, M: f.M, K: f.K, FPRate: f.FPRate(q.Keys), Memory: (f.M + 63) / 64 * 8,
		Snapshot: Size{
			Bits: plan.Bits{Mean: snapshotBits(f, q.Keys, 0.5), Deviation: f.WireBits(q.Keys).Deviation},
			Most: snapshotBits(f, q.Keys, q.tail()),
		},
	}
	if q.Churn > 0 {
		u := updateOf(f, q.Keys, q.Churn)
		o.Delta = Size{Bits: plan.Bits{Mean: u.message(0.5), Deviation: u.Deviation}, Most: u.message(q.tail())}
	}
	return o
}

// cells returns the number of cells for which a receiver has memory.
func (q Goal) cells() uint64 {
	if q.Memory == 0 {
		return planning.MaxCells
	}
	return max(min(bitsOf(q.Memory)/64*64, planning.MaxCells), 1)
}

// bitsOf returns the number of bits in bytes bytes, at most 2^63.
func bitsOf(bytes uint64) uint64 { return min(bytes, planning.MaxCells/8) * 8 }

// words rounds m up or down to whole words if it is at least 4096.
func words(m uint64, up bool) uint64 {
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
