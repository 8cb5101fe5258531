package mapped

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// leastBytes is the size of the smallest array that is written contiguous, less a word.
const leastBytes = block.Align * block.Words * 8

// errCopy ends the reading of a container with a large array that is not contiguous.
var errCopy = errors.New("a large array that is not contiguous")

// mapState maps a file and returns the state in it, with large arrays where they are. It returns no mapping if the
// file should be read, because it can't be mapped or its large arrays are not contiguous.
func mapState(f *os.File, l wire.Limits) (mapping, umbel.State, error) {
	var s umbel.State
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() <= leastBytes || info.Size() != int64(int(info.Size())) {
		return nil, s, nil
	}
	m, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, s, nil
	}
	copied := uint64(0)
	budget := format.Budget{Bytes: cmp.Or(l.Bytes, wire.DefaultBytes), Reserve: func(bytes uint64) error {
		copied += bytes
		if bytes > leastBytes {
			return errCopy
		}
		if l.Reserve == nil {
			return nil
		}
		return l.Reserve(bytes)
	}}
	at := uint64(0)
	err = m.guard(func() (err error) {
		at, err = format.Parse(&s, m, budget, format.Mode{Borrow: true, Unchecked: true})
		return err
	})
	inMemory := errors.Is(err, errCopy) || err == nil && copied == s.Bytes()
	if err == nil && !inMemory {
		return m, s, nil
	}
	m.close()
	if inMemory {
		return nil, umbel.State{}, nil
	}
	return nil, umbel.State{}, fmt.Errorf("byte %d: %w", at, err)
}
