package budget

import (
	"errors"
	"fmt"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

// ErrDisk means that the files of a data directory would take more bytes than allowed.
var ErrDisk = errors.New("max-disk is reached")

// Files is what some files have taken from a budget. It is safe for concurrent use.
type Files struct {
	budget *Budget

	mu    sync.Mutex
	taken int64
}

// Files returns a share for files that take nothing yet.
func (b *Budget) Files() *Files { return &Files{budget: b} }

// Left is that of the budget.
func (f *Files) Left() int64 { return f.budget.Left() }

// Grow takes n bytes, before files grow by them. It returns an error wrapping ErrDisk, and takes nothing,
// if fewer are left.
func (f *Files) Grow(n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.budget.Take(n); err != nil {
		return fmt.Errorf("%w: %v are needed, %v are left", ErrDisk, quantity.Size(n), quantity.Size(max(f.budget.Left(), 0)))
	}
	f.taken += n
	return nil
}

// Set corrects what is taken to the size of the files, even if that exceeds the limit.
func (f *Files) Set(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.budget.force(n - f.taken)
	f.taken = n
}
