// Package budget bounds the memory that the requests of all clients take together: bodies,
// arguments, transactions and answers. Filters have limits of their own.
package budget

import (
	"errors"
	"sync/atomic"
)

// ErrFull means that the requests of all clients together would take more memory than allowed.
var ErrFull = errors.New("the requests of all clients take too much memory")

// Budget is a number of bytes. A nil *Budget has no limit. It is safe for concurrent use.
type Budget struct {
	limit atomic.Int64
	used  atomic.Int64
}

// New returns a budget of limit bytes; 0 means no limit.
func New(limit uint64) *Budget {
	b := new(Budget)
	b.SetLimit(limit)
	return b
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

// Take takes n bytes. It returns ErrFull, and takes nothing, if fewer are left.
func (b *Budget) Take(n int64) error {
	if b == nil || n <= 0 {
		return nil
	}
	if used, limit := b.used.Add(n), b.limit.Load(); limit > 0 && used > limit {
		b.used.Add(-n)
		return ErrFull
	}
	return nil
}

// Give returns n bytes that were taken.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.used.Add(-n)
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
