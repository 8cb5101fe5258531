package main

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

// readFilter is [container.Read] with a progress bar.
func readFilter(cmd *cobra.Command, path string) (umbel.State, error) {
	s, _, err := readFilterWith(cmd, path, wire.Read)
	return s, err
}

// readFilterWith is [container.ReadWith] with a progress bar.
func readFilterWith(cmd *cobra.Command, path string, read func(io.Reader, wire.Limits) (umbel.State, error)) (umbel.State, int64, error) {
	return container.ReadWith(path, func(f *os.File, l wire.Limits) (umbel.State, error) {
		bar := startBar(cmd, "reading "+path, totalBytes([]*os.File{f}))
		defer bar.Stop()
		return read(bar.File(f), l)
	})
}

// writeFile writes the file at path with write, completely or not at all, and returns its size.
// It shows progress; total is the expected size, -1 if unknown.
func writeFile(cmd *cobra.Command, path string, total int64, write func(io.Writer) error) (uint64, error) {
	return writeFileWith(cmd, atomicfile.Write, path, total, write)
}

// writeSecret is writeFile for contents that only the owner of the file may read.
func writeSecret(cmd *cobra.Command, path string, total int64, write func(io.Writer) error) (uint64, error) {
	return writeFileWith(cmd, atomicfile.WriteSecret, path, total, write)
}

// writerOf returns writeFile, or writeSecret if the filter's seed is secret.
func writerOf(h umbel.Hasher) func(cmd *cobra.Command, path string, total int64, write func(io.Writer) error) (uint64, error) {
	if h.Secret() {
		return writeSecret
	}
	return writeFile
}

func writeFileWith(cmd *cobra.Command, replace func(string, func(io.Writer) error) error, path string, total int64, write func(io.Writer) error) (uint64, error) {
	bar := startBar(cmd, "writing "+path, total)
	defer bar.Stop()
	var n byteCount
	err := replace(path, func(w io.Writer) error { return write(io.MultiWriter(bar.Writer(w), &n)) })
	return uint64(n), err
}

// lockFile is [atomicfile.Lock] with a note while it waits.
func lockFile(cmd *cobra.Command, path string) (io.Closer, error) {
	defer note(cmd, "waiting until no other program changes "+path)()
	return atomicfile.Lock(path)
}

// byteCount is a writer that counts bytes.
type byteCount uint64

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}

// startBar starts a bar of bytes, unless --quiet.
func startBar(cmd *cobra.Command, what string, total int64) *progress.Bar {
	if isQuiet(cmd) {
		return nil
	}
	return progress.Start(os.Stderr, what, total)
}

// note shows a note until stop is called, unless --quiet.
func note(cmd *cobra.Command, what string) (stop func()) {
	if isQuiet(cmd) {
		return func() {}
	}
	return progress.Note(os.Stderr, what)
}

// countBar starts a bar of items, unless --quiet.
func countBar(cmd *cobra.Command, what string, total int64) *progress.Bar {
	if isQuiet(cmd) {
		return nil
	}
	return progress.Count(os.Stderr, what, total)
}
