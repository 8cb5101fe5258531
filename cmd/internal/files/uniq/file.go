package uniq

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/wire"
)

// File is the file of the keys that were seen. One program at a time changes it. Its methods, and the function that SaveLater returns,
// must be called one at a time.
type File struct {
	owner   *atomicfile.Owner
	existed bool
	unsaved bool // the last write failed
}

// OpenFile returns the filter in the file at path, by open, or the one of create, which the file then has. It waits until no other program
// changes the file, or makes it.
func OpenFile(path string, open func(umbel.State) (umbel.Filter, error), create func() (umbel.Filter, error)) (*File, umbel.Filter, error) {
	for {
		file, f, err := tryOpen(path, open, create)
		if _, missing := os.Stat(path); !errors.Is(err, fs.ErrExist) || missing != nil { // a link that leads nowhere
			return file, f, err
		}
	}
}

// tryOpen is OpenFile. Its error wraps fs.ErrExist if another program has made the file meanwhile.
func tryOpen(path string, open func(umbel.State) (umbel.Filter, error), create func() (umbel.Filter, error)) (_ *File, f umbel.Filter, err error) {
	file := new(File)
	if file.owner, err = atomicfile.Own(path); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	if file.existed = !file.owner.Missing(); file.existed {
		state, _, err := container.Read(path)
		if err != nil {
			return nil, nil, err
		}
		f, err := open(state)
		return file, f, err
	}
	if f, err = create(); err != nil {
		return nil, nil, err
	}
	return file, f, file.write(f.State())
}

// Existed reports whether the file has keys of earlier runs.
func (f *File) Existed() bool { return f.existed }

// Save writes the keys of s if they have changed since the last save, or that one failed.
func (f *File) Save(s *Filter) error {
	if !s.Changed() && !f.unsaved {
		return nil
	}
	return f.write(s.f.State())
}

// SaveLater returns a function that saves the keys as they are now, from a copy, so that s may change meanwhile. It returns nil if there
// is nothing to write. If memory is short, SaveLater itself writes the file.
func (f *File) SaveLater(s *Filter) (func() error, error) {
	if !s.Changed() {
		return nil, nil
	}
	state := s.f.State()
	if container.Fits("a copy of the state", state.Bytes()) != nil {
		return nil, f.write(state)
	}
	state = state.Clone()
	return func() error { return f.write(state) }, nil
}

func (f *File) write(state umbel.State) error {
	err := f.owner.Write(func(w io.Writer) error { return wire.Write(w, state) })
	f.unsaved = err != nil
	return err
}

// Close releases the file for other programs.
func (f *File) Close() error { return f.owner.Close() }
