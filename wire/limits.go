package wire

import (
	"math"

	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Limits bounds what reading a container may cost. A reader refuses a container that
// needs more with an error wrapping umbel.ErrLimit, before it allocates memory for it.
// The zero Limits is for untrusted input, and accepts whatever [AppendReadable] writes.
type Limits struct {
	// Bytes bounds the memory of all arrays together, including those of parts. A block
	// of 64 KiB can be encoded in one byte, so a small message can contain a large array.
	// Zero means [DefaultBytes] or the length of the container, whichever is larger; for a
	// delta, DefaultBytes or the memory of the base. The rest of a container takes memory
	// in proportion to its length.
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

// budget returns the limits of a reader, with the given default of Bytes.
func (l Limits) budget(defaultBytes uint64) format.Budget {
	b := format.Budget{Bytes: l.Bytes, States: l.States, Reserve: l.Reserve, Workers: l.Workers}
	if b.Bytes == 0 {
		b.Bytes = defaultBytes
	}
	if b.States == 0 {
		b.States = DefaultStates
	}
	return b
}
