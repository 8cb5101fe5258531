package format

import (
	"fmt"

	"github.com/umbel-filters/umbel"
)

// Budget is what a reader may still spend. Its exported fields are those of wire.Limits.
type Budget struct {
	Bytes, States uint64
	Reserve       func(bytes uint64) error
	Workers       int
	// InStep allows arrays beyond Bytes if they take no more memory than the input has
	// bytes. Their memory is allocated in step with the bytes read.
	InStep bool
	used   uint64 // memory of arrays
}

// ClaimState claims a state.
func (b *Budget) ClaimState() error {
	if b.States == 0 {
		return fmt.Errorf("more states than the limit permits: raise the limit to read it: %w", umbel.ErrLimit)
	}
	b.States--
	return nil
}

// claim claims n bytes of memory for an array. It reports whether they are beyond the limit.
func (b *Budget) claim(n uint64) (beyond bool, err error) {
	left := b.Bytes - min(b.used, b.Bytes)
	beyond = n > left
	if beyond && !b.InStep {
		return beyond, fmt.Errorf("%d bytes of cells, the limit leaves %d: raise the limit to read it: %w", n, left, umbel.ErrLimit)
	}
	b.used += n
	return beyond, nil
}

// allowed returns the memory that the array with the last claim, of n bytes, may have when
// the given number of bytes has been read: what the limit leaves, or four times what was
// read, because arrays grow by that factor.
func (b *Budget) allowed(n, read uint64) uint64 {
	before := min(b.used-n, b.Bytes)
	return max(b.Bytes-before, 4*read)
}

// checkUsed returns an error if arrays take more memory than the limit and than the bytes
// read.
func (b *Budget) checkUsed(read uint64) error {
	if b.used > max(b.Bytes, read) {
		return fmt.Errorf("%d bytes of cells in %d bytes, the limit is %d: raise the limit to read it: %w", b.used, read, b.Bytes, umbel.ErrLimit)
	}
	return nil
}
