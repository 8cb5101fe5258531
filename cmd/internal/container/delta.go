package container

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/atomicfile"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// Differ returns what makes deltas in a program that has the machine for itself.
func Differ() delta.Encoder { return delta.Encoder{Workers: runtime.GOMAXPROCS(0)} }

// IsDelta reports whether the file at path begins as a delta does. It is false of
// what can't be read.
func IsDelta(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false // reading from a pipe takes what the reader needs
	}
	head := make([]byte, delta.MagicBytes)
	_, err = io.ReadFull(f, head)
	return err == nil && delta.Is(head)
}

// WriteDelta makes the file at path hold the delta, whole or not at all.
func WriteDelta(path string, message []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(message)
		return err
	})
}

// ReadDelta returns the delta in the file at path and what its head says.
func ReadDelta(path string) ([]byte, delta.Info, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, delta.Info{}, fmt.Errorf("%s is a directory: name a delta's file", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, delta.Info{}, err
	}
	info, err := delta.Inspect(b)
	if err != nil {
		return nil, info, fmt.Errorf("%s: %w", path, err)
	}
	return b, info, nil
}

// Patch returns the state to which a delta leads from old: the delta in the file at
// path and what its head says, of [ReadDelta].
func Patch(old umbel.State, path string, message []byte, info delta.Info) (umbel.State, error) {
	if err := Fits("what "+path+" makes", info.Bytes); err != nil {
		return umbel.State{}, err
	}
	limits := wire.Limits{Bytes: max(info.Bytes, 1), States: maxStates, Workers: runtime.GOMAXPROCS(0)}
	s, err := delta.Apply(old, message, limits)
	if err != nil {
		return umbel.State{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
