// Package mapped opens filters in files so that they answer where they are: a query loads the few pages of the file
// that it touches, and processes that open the same file share them in memory. A filter of 10 GB is open within
// a millisecond, and takes no memory of the process.
//
// That is possible for arrays of more than 4 MiB in containers that [wire.Append], [wire.Write] or the methods of a
// filter wrote, on 64-bit machines with Linux, macOS, a BSD or Windows. Everything else is read into memory, as
// [wire.Read] does, with the same answers: small containers, pipes, other systems.
//
// # Packed filters
//
// A packed array of more than 4 MiB also answers where it is, if the kind has a Locator ([umbel.Kind]): a query decodes the blocks
// that it needs. That takes memory for an index of a 64th of the container and for 16 MiB of decoded blocks, whatever size the
// array has. If these don't hold all, and an eighth of the blocks has been decoded, the array itself gets memory, within the limits, and
// nothing is decoded again; when seven eighths are decoded, the rest is too, and the filter answers as any other in memory. So the
// keys of a program cost at most about 1.2 times the cheaper of two ways: decoding what they need, and reading the filter at
// once. Runs of blocks with few cells are kept as lists, which answer as fast as the array, and never get its memory. A key whose
// block is not decoded takes 50 to 200 µs, less if a batch needs several. [OpenBytes] does the same for a container in memory.
//
// # What is checked
//
// Open checks what it reads: kind, hasher, parameters, and the sizes of the arrays, which must fit the length of the
// file exactly, so that it refuses a file that was truncated or extended. It reads neither the cells nor the checksum:
// damaged cells give wrong answers, and no other harm. [Filter.Verify] reads the whole file and compares
// the checksum. A filter that is read into memory is checked completely by Open.
//
// Of a packed array, Open checks the checksum and where blocks begin; that reads the file once. A block that does not decode
// is found by the query that needs it, which returns an error and never that a key is absent.
//
// Two kinds read all their cells once when they are opened: folding makes the fold that answers, which is in memory, and sparse checks
// its list of positions.
//
// # Files that change
//
// A file that is replaced by rename, as programs should replace files, stays open in its old state; open it again for the
// new one. Windows does not replace a file that is open. Don't write into an open file: keys in both states may then be
// absent. If it is truncated, or the disk fails, queries of the missing pages return an error wrapping [ErrPage], and the
// program goes on; only the page in which the file ends now has zeros instead of the cells that are missing.
package mapped

import (
	"errors"
	"fmt"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// ErrPage is wrapped by the error of a query that touched a page of the file which the system could not load.
var ErrPage = errors.New("a page of the file cannot be used")

// Filter is a filter in a file, to be queried. Its methods are safe for concurrent use, except Close.
type Filter struct {
	state  umbel.State
	filter umbel.Filter
	file   mapping // nil if the container is in memory
	packed *packed // nil if the filter is not packed
	ahead  readAhead
	closed bool
}

// Open opens the filter in the file at path, of a kind in the list. l bounds the memory of arrays that are read into
// memory. Errors are those of the file, and wrap umbel.ErrKind, umbel.ErrCorrupt or umbel.ErrLimit.
func Open(path string, kinds umbel.Kinds, l wire.Limits) (*Filter, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return OpenFile(f, kinds, l)
}

// OpenFile is [Open] for a file that is open for reading, at its beginning. The caller may close it afterwards.
func OpenFile(f *os.File, kinds umbel.Kinds, l wire.Limits) (*Filter, error) {
	x, err := openFile(f, kinds, l)
	if x != nil || err != nil {
		return x, err
	}
	s, err := wire.Read(f, l)
	return inMemory(s, kinds, err)
}

// OpenBytes is [Open] for a container in memory, which the filter shares: it must not change. Large arrays that are neither
// packed nor contiguous are copied, as [wire.View] does.
func OpenBytes(b []byte, kinds umbel.Kinds, l wire.Limits) (*Filter, error) {
	x, err := openPacked(b, nil, kinds, l)
	if err != nil {
		return nil, err
	}
	if x != nil {
		return x, nil
	}
	s, err := wire.View(b, l)
	return inMemory(s, kinds, err)
}

// inMemory returns the filter of a state that was read with an error or nil.
func inMemory(s umbel.State, kinds umbel.Kinds, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	f, err := kinds.Open(s)
	if err != nil {
		return nil, err
	}
	return &Filter{state: s, filter: f}, nil
}

// Close ends the use of the file. Queries must have ended; later ones return an error wrapping os.ErrClosed.
func (x *Filter) Close() error {
	if x.closed {
		return nil
	}
	x.closed, x.state, x.filter, x.packed = true, umbel.State{}, nil, nil
	return x.file.close()
}

// InPlace reports whether the filter answers in its file, and false if it is in memory.
func (x *Filter) InPlace() bool { return x.file != nil || x.packed != nil }

// Packed reports whether the filter answers from a packed array.
func (x *Filter) Packed() bool { return x.packed != nil }

// State returns the state in the file, with its notes. Its arrays must neither be changed nor, if they are in the file, be
// used outside of Query. The first array of a filter that is Packed has no words.
func (x *Filter) State() umbel.State { return x.state }

// Has reports whether d may have been added: see [umbel.Filter]. The error wraps [ErrPage], and umbel.ErrCorrupt if a block of a
// packed array is damaged.
func (x *Filter) Has(d umbel.Digest) (has bool, err error) {
	if x.packed != nil {
		err = x.file.guard(func() error { has, err = x.packed.has(d); return err })
		return has, err
	}
	err = x.Query(1, func(f umbel.Filter) { has = f.Has(d) })
	return has, err
}

// HasString reports whether key may have been added: it is Has of key's digest.
func (x *Filter) HasString(key string) (has bool, err error) {
	if x.packed != nil {
		return x.Has(x.state.Hasher.HashString(key))
	}
	err = x.Query(1, func(f umbel.Filter) { has = f.Has(f.Hasher().HashString(key)) })
	return has, err
}

// HasAll sets dst[i] to Has(ds[i]); on error dst is undefined. It panics if dst is shorter than ds.
func (x *Filter) HasAll(dst []bool, ds []umbel.Digest) error {
	if x.packed != nil {
		return x.file.guard(func() error { return x.packed.hasAll(dst[:len(ds)], ds) })
	}
	return x.Query(len(ds), func(f umbel.Filter) { umbel.HasAll(f, dst, ds) })
}

// Query calls read with the filter, for queries of any kind, such as those of [umbel.Counter] and [umbel.Locator]. The
// filter is valid during the call, and must not be changed: if its cells are in the file, a change only ends read. Query
// returns an error wrapping [ErrPage] if read ended for that reason, or because a page could not be loaded.
//
// n is the number of digests that read queries. If it is at least 256, Query also loads the next part of the file, from its
// beginning on: whoever queries many keys needs most of its pages, and a disk loads them several times as fast in order.
//
// Query reads a filter that is Packed into memory first, within the limits of Open; the errors are then those of [wire.Parse].
func (x *Filter) Query(n int, read func(f umbel.Filter)) error {
	if x.closed {
		return errClosed
	}
	if x.packed == nil {
		x.ahead.load(x.file, n)
	}
	return x.file.guard(func() (err error) {
		f := x.filter
		if x.packed != nil {
			if f, err = x.packed.filter(); err != nil {
				return err
			}
		}
		read(f)
		return nil
	})
}

var errClosed = fmt.Errorf("the filter is closed: %w", os.ErrClosed)

// Verify reads the whole file and returns an error wrapping umbel.ErrCorrupt if its checksum is wrong. A filter in memory was
// verified when it was opened.
func (x *Filter) Verify() error {
	if x.closed {
		return errClosed
	}
	switch {
	case x.packed != nil:
		return x.file.guard(x.packed.verify)
	case x.file == nil:
		return nil
	}
	return x.file.guard(func() error {
		_, err := wire.View(x.file, wire.NoLimits)
		return err
	})
}
