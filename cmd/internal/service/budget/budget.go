// Package budget bounds numbers of bytes that many take together: the memory of the requests of all
// clients (bodies, arguments, transactions and answers), and the files of a data directory.
package budget

import (
	"errors"
	"math"
	"sync/atomic"
)

// ErrFull means that the requests of all clients together would take more memory than allowed.
var ErrFull = errors.New("the requests of all clients take too much memory")

// Budget is a number of bytes. A nil *Budget has no limit. It is safe for concurrent use.
type Budget struct {
	limit  atomic.Int64
	used   atomic.Int64
	parent *Budget // nil: none
}

// New returns a budget of limit bytes; 0 means no limit.
func New(limit uint64) *Budget {
	b := new(Budget)
	b.SetLimit(limit)
	return b
}

// Part returns a budget of limit bytes of b: what is taken from it is taken from b, too.
func (b *Budget) Part(limit uint64) *Budget {
	p := New(limit)
	p.parent = b
	return p
}

// SetLimit changes the limit. What was taken stays.
func (b *Budget) SetLimit(limit uint64) { b.limit.Store(int64(min(limit, 1<<62))) }

// Used returns the number of bytes that are taken.
func (b *Budget) Used() uint64 {
	if b == nil {
		return 0
	}
	return uint64(max(b.used.Load(), 0))
}

// Limit returns the limit, 0 if there is none.
func (b *Budget) Limit() uint64 {
	if b == nil {
		return 0
	}
	return uint64(b.limit.Load())
}

// Left returns the number of bytes that can be taken. It is negative if more are taken than the limit,
// and the highest number if there is no limit.
func (b *Budget) Left() int64 {
	limit := int64(b.Limit())
	if limit == 0 {
		return math.MaxInt64
	}
	return limit - b.used.Load()
}

// Take takes n bytes. It returns ErrFull, and takes nothing, if fewer are left.
func (b *Budget) Take(n int64) error {
	if b == nil || n <= 0 {
		return nil
	}
	if err := b.parent.Take(n); err != nil {
		return err
	}
	if used, limit := b.used.Add(n), b.limit.Load(); limit > 0 && used > limit {
		b.Give(n)
		return ErrFull
	}
	return nil
}

// Give returns n bytes that were taken.
func (b *Budget) Give(n int64) {
	b.force(-n)
}

// force takes n bytes, or returns them if n is negative, even beyond the limit.
func (b *Budget) force(n int64) {
	for ; b != nil; b = b.parent {
		b.used.Add(n)
	}
}

// Share is what one request has taken from a budget. It must not be used concurrently.
type Share struct {
	budget *Budget
	taken  int64
}

// Share returns a share that has taken nothing yet.
func (b *Budget) Share() *Share { return &Share{budget: b} }

// Take takes n bytes more. It returns ErrFull, and takes nothing, if fewer are left.
func (s *Share) Take(n int) error {
	err := s.budget.Take(int64(n))
	if err == nil {
		s.taken += int64(n)
	}
	return err
}

// Release returns everything. The share can be used again.
func (s *Share) Release() {
	s.budget.Give(s.taken)
	s.taken = 0
}
