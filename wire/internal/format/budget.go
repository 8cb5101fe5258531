package format

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Budget is what a reader may still spend. Its exported fields are those of wire.Limits.
type Budget struct {
	Bytes   uint64
	Reserve func(bytes uint64) error
	Workers int
	// InStep allows arrays beyond Bytes if they take no more memory than the input has
	// bytes. Their memory is allocated in step with the bytes read.
	InStep bool
	used   uint64 // memory of arrays
	states int
}

// ClaimState counts a state.
func (b *Budget) ClaimState() error {
	if b.states++; b.states > umbel.MaxStates {
		return sentinel.Errorf(umbel.ErrCorrupt, "more than %d states with all parts", umbel.MaxStates)
	}
	return nil
}

// claim claims n bytes of memory for an array. It reports whether they are beyond the limit.
func (b *Budget) claim(n uint64) (beyond bool, err error) {
	left := b.Bytes - min(b.used, b.Bytes)
	beyond = n > left
	if beyond && !b.InStep {
		return beyond, sentinel.Errorf(umbel.ErrLimit, "%d bytes of cells, the limit leaves %d: raise the limit to read it", n, left)
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
		return sentinel.Errorf(umbel.ErrLimit, "%d bytes of cells in %d bytes, the limit is %d: raise the limit to read it", b.used, read, b.Bytes)
	}
	return nil
}
