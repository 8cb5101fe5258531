package cli

import (
	"io"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli/progress"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/wire"
)

// ReadFilter is [container.Read] with a progress bar.
func (s *Streams) ReadFilter(path string) (umbel.State, error) {
	state, _, err := s.ReadFilterWith(path, wire.Read)
	return state, err
}

// ReadFilterWith is [container.ReadWith] with a progress bar.
func (s *Streams) ReadFilterWith(path string, read func(io.Reader, wire.Limits) (umbel.State, error)) (umbel.State, int64, error) {
	return container.ReadWith(path, func(f *os.File, l wire.Limits) (umbel.State, error) {
		bar := s.StartBar("reading "+path, TotalBytes([]*os.File{f}))
		defer bar.Stop()
		return read(bar.File(f), l)
	})
}

// WriteFile writes the file at path with write, completely or not at all, and returns its size.
// It shows progress; total is the expected size, -1 if unknown.
func (s *Streams) WriteFile(path string, total int64, write func(io.Writer) error) (uint64, error) {
	return s.WriteFileWith(atomicfile.Write, path, total, write)
}

// WriteSecret is [Streams.WriteFile] for contents that only the owner of the file may read.
func (s *Streams) WriteSecret(path string, total int64, write func(io.Writer) error) (uint64, error) {
	return s.WriteFileWith(atomicfile.WriteSecret, path, total, write)
}

// WriterOf returns WriteFile, or WriteSecret if the filter's seed is secret.
func (s *Streams) WriterOf(h umbel.Hasher) func(path string, total int64, write func(io.Writer) error) (uint64, error) {
	if h.Secret() {
		return s.WriteSecret
	}
	return s.WriteFile
}

// WriteFileWith writes a file with replace, with a progress bar of total bytes, and returns the number of bytes.
func (s *Streams) WriteFileWith(replace func(string, func(io.Writer) error) error, path string, total int64, write func(io.Writer) error) (uint64, error) {
	bar := s.StartBar("writing "+path, total)
	defer bar.Stop()
	var n byteCount
	err := replace(path, func(w io.Writer) error { return write(io.MultiWriter(bar.Writer(w), &n)) })
	return uint64(n), err
}

// LockFile is [atomicfile.Lock] with a note while it waits.
func (s *Streams) LockFile(path string) (io.Closer, error) {
	defer s.Note("waiting until no other program changes " + path)()
	return atomicfile.Lock(path)
}

// byteCount is a writer that counts bytes.
type byteCount uint64

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}

// StartBar starts a bar of bytes, unless --quiet.
func (s *Streams) StartBar(what string, total int64) *progress.Bar {
	return progress.Start(s.terminal(), what, total)
}

// Note shows a note until stop is called, unless --quiet.
func (s *Streams) Note(what string) (stop func()) {
	return progress.Note(s.terminal(), what)
}

// CountBar starts a bar of items, unless --quiet.
func (s *Streams) CountBar(what string, total int64) *progress.Bar {
	return progress.Count(s.terminal(), what, total)
}
