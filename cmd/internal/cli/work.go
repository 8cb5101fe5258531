package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli/progress"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/wire"
)

// ReadFilter is [container.Read] with a progress bar.
func ReadFilter(cmd *cobra.Command, path string) (umbel.State, error) {
	s, _, err := ReadFilterWith(cmd, path, wire.Read)
	return s, err
}

// ReadFilterWith is [container.ReadWith] with a progress bar.
func ReadFilterWith(cmd *cobra.Command, path string, read func(io.Reader, wire.Limits) (umbel.State, error)) (umbel.State, int64, error) {
	return container.ReadWith(path, func(f *os.File, l wire.Limits) (umbel.State, error) {
		bar := StartBar(cmd, "reading "+path, TotalBytes([]*os.File{f}))
		defer bar.Stop()
		return read(bar.File(f), l)
	})
}

// WriteFile writes the file at path with write, completely or not at all, and returns its size.
// It shows progress; total is the expected size, -1 if unknown.
func WriteFile(cmd *cobra.Command, path string, total int64, write func(io.Writer) error) (uint64, error) {
	return WriteFileWith(cmd, atomicfile.Write, path, total, write)
}

// WriteSecret is writeFile for contents that only the owner of the file may read.
func WriteSecret(cmd *cobra.Command, path string, total int64, write func(io.Writer) error) (uint64, error) {
	return WriteFileWith(cmd, atomicfile.WriteSecret, path, total, write)
}

// WriterOf returns writeFile, or writeSecret if the filter's seed is secret.
func WriterOf(h umbel.Hasher) func(cmd *cobra.Command, path string, total int64, write func(io.Writer) error) (uint64, error) {
	if h.Secret() {
		return WriteSecret
	}
	return WriteFile
}

func WriteFileWith(cmd *cobra.Command, replace func(string, func(io.Writer) error) error, path string, total int64, write func(io.Writer) error) (uint64, error) {
	bar := StartBar(cmd, "writing "+path, total)
	defer bar.Stop()
	var n byteCount
	err := replace(path, func(w io.Writer) error { return write(io.MultiWriter(bar.Writer(w), &n)) })
	return uint64(n), err
}

// LockFile is [atomicfile.Lock] with a note while it waits.
func LockFile(cmd *cobra.Command, path string) (io.Closer, error) {
	defer Note(cmd, "waiting until no other program changes "+path)()
	return atomicfile.Lock(path)
}

// byteCount is a writer that counts bytes.
type byteCount uint64

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}

// StartBar starts a bar of bytes, unless --quiet.
func StartBar(cmd *cobra.Command, what string, total int64) *progress.Bar {
	return progress.Start(StreamsOf(cmd).terminal(), what, total)
}

// Note shows a note until stop is called, unless --quiet.
func Note(cmd *cobra.Command, what string) (stop func()) {
	return progress.Note(StreamsOf(cmd).terminal(), what)
}

// CountBar starts a bar of items, unless --quiet.
func CountBar(cmd *cobra.Command, what string, total int64) *progress.Bar {
	return progress.Count(StreamsOf(cmd).terminal(), what, total)
}
