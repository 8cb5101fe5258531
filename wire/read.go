package wire

import (
	"fmt"
	"io"
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
func Parse(b []byte, l Limits) (umbel.State, error) { return parse(b, l, DefaultBytes) }

func parse(b []byte, l Limits, defaultBytes uint64) (umbel.State, error) {
	n := uint64(len(b))
	return container(format.NewReader(b, 0, l.budget(max(defaultBytes, n))), nil)
}

// Read reads r to its end and returns the state in its container. If r is an [io.Seeker]
// that reports its length, as files do, Read allocates an array at once; otherwise it
// allocates 1 MiB and then four times what is full. Errors are those of [Parse] and of r.
func Read(r io.Reader, l Limits) (umbel.State, error) { return read(r, l, DefaultBytes, nil) }

// Block is a run of cells that [Scan] found in a container.
type Block struct {
	// Part is the path of the part that contains the block: the number of a part, of a
	// part of that, and so on. It is empty for the container's own state.
	Part []int
	// State is the state of that part as far as it was read: kind, hasher and parameters
	// are complete, there are no parts yet, and arrays up to the block's own have a length
	// and a width but no words.
	State umbel.State
	First uint64      // number of the block's first cell in its array
	Cells cells.Array // up to 64 KiB
}

// Scan reads r to its end as [Read] does, but without memory for arrays: it calls each with
// the blocks one after the other, in the order of the container, except those whose cells
// are all zero. A Block is valid during the call and must not be changed. Before Scan
// returns, damage may not have been detected yet: the checksum is at the end.
//
// Scan returns the state; its arrays have no words, so it doesn't pass its Check. l.Bytes
// bounds the memory that the arrays would take. Errors are those of Read and of each; an
// error of each ends the scan.
func Scan(r io.Reader, l Limits, each func(Block) error) (umbel.State, error) {
	return read(r, l, DefaultBytes, func(part []int, s umbel.State, first uint64, b cells.Array) error {
		return each(Block{part, s, first, b})
	})
}

func read(r io.Reader, l Limits, defaultBytes uint64, visit format.Visit) (umbel.State, error) {
	b := l.budget(defaultBytes)
	b.InStep = l.Bytes == 0
	d, err := format.NewStreamReader(r, b)
	if err != nil {
		return umbel.State{}, fmt.Errorf("wire: %w", err)
	}
	return container(d, visit)
}

func container(r *format.Reader, visit format.Visit) (umbel.State, error) {
	s, err := r.Container(visit)
	if err != nil {
		return umbel.State{}, fmt.Errorf("wire: byte %d: %w", r.Off, err)
	}
	return s, nil
}

// Limits bounds what reading a container may cost. A reader refuses a container that
// needs more with an error wrapping umbel.ErrLimit, before it allocates memory for it.
// The zero Limits is for untrusted input, and accepts everything that [AppendReadable] writes.
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
