package wire

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Parse returns the state in the container b, and doesn't keep b. It returns an error
// wrapping umbel.ErrCorrupt if b isn't exactly one container, and also
// errors.ErrUnsupported if a later version of this package may be able to read it. It
// returns an error wrapping umbel.ErrLimit if the container needs more than l permits. The
// state passes its Check.
func Parse(b []byte, l Limits) (umbel.State, error) { return parse(b, l, DefaultBytes, format.Mode{}) }

// View is [Parse] without a copy of the cells: the arrays of the state share the memory of b where their words are
// together in b, at an address that is a multiple of 8, on a little-endian machine. [Append] writes the
// words of arrays of more than 4 MiB at multiples of 64 bytes from the beginning of the container. All other arrays are copied;
// l bounds the memory of the copies. View checks everything that Parse checks, including the checksum.
//
// A filter that is opened from the state must only be queried: a change of it would be one of b. If b changes, the
// answers are those of the changed cells, so that keys may be missing, but no query reads anything outside of b.
func View(b []byte, l Limits) (umbel.State, error) {
	return parse(b, l, DefaultBytes, format.Mode{Borrow: true})
}

func parse(b []byte, l Limits, defaultBytes uint64, m format.Mode) (s umbel.State, err error) {
	at, err := format.Parse(&s, b, l.budget(max(defaultBytes, uint64(len(b)))), m)
	if err != nil {
		return umbel.State{}, fmt.Errorf("byte %d: %w", at, err)
	}
	return s, nil
}

// Read reads r to its end and returns the state in its container. If r is an [io.Seeker]
// that reports its length, as files do, Read allocates an array at once; otherwise it
// allocates 1 MiB and then four times what is full. Errors are those of [Parse] and of r.
func Read(r io.Reader, l Limits) (umbel.State, error) { return read(r, l, DefaultBytes) }

func read(r io.Reader, l Limits, defaultBytes uint64) (s umbel.State, err error) {
	d, err := newReader(r, l, defaultBytes)
	if err == nil {
		err = container(d, &s)
	}
	if err != nil {
		return umbel.State{}, err
	}
	return s, nil
}

// ReadBlocks reads r to its end as [Read] does, but without memory for arrays: it yields their blocks one after the
// other, in the order of the container, except those whose cells are all zero. The body of the loop must not change
// the cells. l.Bytes bounds the memory that the arrays would take. Damage is possibly not detected before the end of the loop:
// the checksum is at the end. An error, one of those of Read, is yielded last, without a block.
//
// If s is not nil, it is set to the state as far as it was read: kind, hasher and parameters are complete when the first
// block of a state is yielded, and arrays have a length and a width but no words, so that s doesn't pass its Check.
func ReadBlocks(r io.Reader, l Limits, s *umbel.State) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var own umbel.State
		if s == nil {
			s = &own
		}
		*s = umbel.State{}
		d, err := newReader(r, l, DefaultBytes)
		if err == nil {
			d.Visit = func(array int, first uint64, b cells.Array) bool { return yield(Block{array, first, b}, nil) }
			err = container(d, s)
		}
		if err != nil && !errors.Is(err, format.ErrStopped) {
			yield(Block{}, err)
		}
	}
}

func newReader(r io.Reader, l Limits, defaultBytes uint64) (*format.Reader, error) {
	b := l.budget(defaultBytes)
	b.InStep = l.Bytes == 0
	d, err := format.NewStreamReader(r, b)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// container reads a container into s.
func container(r *format.Reader, s *umbel.State) error {
	if err := r.Container(s); err != nil {
		return fmt.Errorf("byte %d: %w", r.Off, err)
	}
	return nil
}

// Limits bounds what reading a container may cost. A reader refuses a container that
// needs more with an error wrapping umbel.ErrLimit, before it allocates memory for it.
// The zero Limits is for untrusted input, and accepts everything that [Append] writes.
type Limits struct {
	// Bytes bounds the memory of all arrays together, including those of parts. A block
	// of 64 KiB can be encoded in one byte, so a small message can contain a large array.
	// Zero means [DefaultBytes] or the length of the container, whichever is larger; for a
	// delta, DefaultBytes or the memory of the base. The rest of a container takes memory
	// in proportion to its length.
	Bytes uint64
	// Reserve, if it isn't nil, is called with the bytes of each array before memory is
	// allocated for it. If it returns an error, the reader returns that error.
	Reserve func(bytes uint64) error
	// Workers is the number of goroutines that decode blocks of an array, and that compute
	// IDs when a delta is applied, at most twice GOMAXPROCS; each takes memory for some
	// blocks. With 0 or 1 the caller's goroutine does all work.
	Workers int
}

// DefaultBytes is Bytes of the zero [Limits].
const DefaultBytes uint64 = 1 << 30

// NoLimits is for trusted containers, for example those that the program itself wrote.
var NoLimits = Limits{Bytes: math.MaxUint64}

// budget returns the limits of a reader, with the given default of Bytes.
func (l Limits) budget(defaultBytes uint64) format.Budget {
	b := format.Budget{Bytes: l.Bytes, Reserve: l.Reserve, Workers: l.Workers}
	if b.Bytes == 0 {
		b.Bytes = defaultBytes
	}
	return b
}
