package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/progress"
	"github.com/umbel-filters/umbel/wire"
)

// readFilter is [container.Read], showing how far it is.
func readFilter(cmd *cobra.Command, path string) (umbel.State, error) {
	return readFilterWith(cmd, path, wire.Read)
}

// readFilterWith is [container.ReadWith], showing how far it is.
func readFilterWith(cmd *cobra.Command, path string, read func(io.Reader, wire.Limits) (umbel.State, error)) (umbel.State, error) {
	s, _, err := container.ReadWith(path, func(f *os.File, l wire.Limits) (umbel.State, error) {
		bar := startBar(cmd, "reading "+path, totalBytes([]*os.File{f}))
		defer bar.Stop()
		return read(bar.File(f), l)
	})
	return s, err
}

// writeFile makes the file at path hold what write writes, whole or not at all, and
// returns how many bytes that is. It shows how far it is of total bytes, -1 if that
// isn't known.
func writeFile(cmd *cobra.Command, path string, total int64, write func(io.Writer) error) (uint64, error) {
	bar := startBar(cmd, "writing "+path, total)
	defer bar.Stop()
	var n byteCount
	err := atomicfile.Write(path, func(w io.Writer) error { return write(io.MultiWriter(bar.Writer(w), &n)) })
	return uint64(n), err
}

// byteCount is a writer that counts.
type byteCount uint64

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}

// startBar starts a bar, unless the user wants quiet.
func startBar(cmd *cobra.Command, what string, total int64) *progress.Bar {
	if isQuiet(cmd) {
		return nil
	}
	return progress.Start(os.Stderr, what, total)
}

// note says what is being done, unless the user wants quiet, until stop is called.
func note(cmd *cobra.Command, what string) (stop func()) {
	if isQuiet(cmd) {
		return func() {}
	}
	return progress.Note(os.Stderr, what)
}

// countBar starts a bar of things, unless the user wants quiet.
func countBar(cmd *cobra.Command, what string, total int64) *progress.Bar {
	if isQuiet(cmd) {
		return nil
	}
	return progress.Count(os.Stderr, what, total)
}
