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

// budgetOf returns the limits of what is read of a container that is to answer in place: nothing large is copied. It adds the
// bytes that are copied to copied.
func budgetOf(l wire.Limits, copied *uint64) format.Budget {
	return format.Budget{Bytes: cmp.Or(l.Bytes, wire.DefaultBytes), Reserve: func(bytes uint64) error {
		*copied += bytes
		if bytes > leastBytes {
			return errCopy
		}
		if l.Reserve == nil {
			return nil
		}
		return l.Reserve(bytes)
	}}
}

// source returns the bytes of a file: mapped, or in memory if they are few. They are nil if the file should be read.
func source(f *os.File) (b []byte, m mapping) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() != int64(int(info.Size())) {
		return nil, nil
	}
	if info.Size() > leastBytes {
		if m, err = mapFile(f, int(info.Size())); err != nil {
			return nil, nil
		}
		return m, m
	}
	b = make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, nil
	}
	return b, nil
}

// openFile returns the filter in a file, which answers there. It is nil if the file should be read.
func openFile(f *os.File, kinds umbel.Kinds, l wire.Limits) (x *Filter, err error) {
	b, m := source(f)
	if b == nil {
		return nil, nil
	}
	err = m.guard(func() error {
		if m != nil {
			if x, err = openMapped(m, kinds, l); x != nil || err != nil {
				return err
			}
		}
		x, err = openPacked(b, m, kinds, l)
		return err
	})
	if x == nil || err != nil {
		m.close()
		x = nil
	}
	return x, err
}

// openMapped returns the filter in a mapping with large arrays where they are. It is nil if none of them is contiguous.
func openMapped(m mapping, kinds umbel.Kinds, l wire.Limits) (*Filter, error) {
	x := &Filter{file: m}
	copied := uint64(0)
	at, err := format.Parse(&x.state, m, budgetOf(l, &copied), format.Mode{Borrow: true, Unchecked: true})
	switch {
	case errors.Is(err, errCopy) || err == nil && copied == x.state.Bytes():
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("byte %d: %w", at, err)
	}
	x.filter, err = kinds.Open(x.state)
	return x, err
}
