package wire

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

// Limits bounds what reading a container may cost. A reader refuses a container that
// needs more with an error wrapping umbel.ErrLimit, before it allocates memory for it.
// The zero Limits is for untrusted input, and accepts whatever [AppendReadable] writes.
type Limits struct {
	// Bytes bounds the memory of all arrays together, including those of parts. A block
	// of 64 KiB can be encoded in one byte, so a small message can contain a large array.
	// Zero means [DefaultBytes] or the length of the container, whichever is larger; for
	// [Apply], DefaultBytes or the memory of the base. The rest of a container takes
	// memory in proportion to its length.
	Bytes uint64
	// States bounds the number of states: the container's own, its parts, their parts.
	// Zero means [DefaultStates].
	States uint64
	// Reserve, if it isn't nil, is called with the bytes of each array before memory is
	// allocated for it. If it returns an error, the reader returns that error.
	Reserve func(bytes uint64) error
	// Workers is the number of goroutines that decode blocks of an array, at most twice
	// GOMAXPROCS; each takes memory for some blocks. With 0 or 1 the caller's goroutine
	// does all work.
	Workers int
}

// The limits of the zero [Limits].
const (
	DefaultBytes  uint64 = 1 << 30
	DefaultStates uint64 = 4096
)

// NoLimits is for trusted containers, for example those that the program itself wrote.
var NoLimits = Limits{Bytes: math.MaxUint64, States: math.MaxUint64}

// orDefault replaces the zeros of l. The default number of bytes is the caller's.
func (l Limits) orDefault(bytes uint64) Limits {
	if l.Bytes == 0 {
		l.Bytes = bytes
	}
	if l.States == 0 {
		l.States = DefaultStates
	}
	return l
}

// budget is what a reader may still spend.
type budget struct {
	Limits
	used   uint64 // by arrays
	inStep bool   // arrays beyond Bytes may take as much memory as bytes were read
}

// claim spends bytes of memory for an array. It reports whether they exceed the limit, so
// that memory may only be allocated in step with the input.
func (b *budget) claim(bytes uint64) (beyond bool, err error) {
	left := b.Bytes - min(b.used, b.Bytes)
	beyond = bytes > left
	if beyond && !b.inStep {
		return beyond, fmt.Errorf("%d bytes of cells, the limit leaves %d: raise the limit to read it: %w", bytes, left, umbel.ErrLimit)
	}
	b.used += bytes
	return beyond, nil
}

// reserve calls Reserve, if there is one.
func (b *budget) reserve(bytes uint64) error {
	if b.Reserve == nil {
		return nil
	}
	return b.Reserve(bytes)
}

// check returns an error if arrays take more memory than the limit and than the n bytes
// that have been read.
func (b *budget) check(n uint64) error {
	if b.used > max(b.Bytes, n) {
		return fmt.Errorf("%d bytes of cells in %d bytes, the limit is %d: raise the limit to read it: %w", b.used, n, b.Bytes, umbel.ErrLimit)
	}
	return nil
}

// streamed returns the budget for a source whose length isn't known for certain.
func streamed(l Limits, defaultBytes uint64) budget {
	return budget{Limits: l.orDefault(defaultBytes), inStep: l.Bytes == 0}
}
