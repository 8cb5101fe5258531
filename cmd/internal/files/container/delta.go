package container

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// Differ returns the differ of a program that uses all cores.
func Differ() delta.Encoder { return delta.Encoder{Workers: runtime.GOMAXPROCS(0)} }

// IsDelta reports whether the file at path begins like a delta. It returns false for a file that
// can't be read, and for a pipe, whose bytes reading would consume.
func IsDelta(path string) bool { return delta.Is(headOf(path)) }

// WriteDelta writes the delta to the file at path, completely or not at all. Only the owner can read a
// new file if secret is set, because the seed of the filters is secret.
func WriteDelta(path string, message []byte, secret bool) error {
	write := atomicfile.Write
	if secret {
		write = atomicfile.WriteSecret
	}
	return write(path, func(w io.Writer) error {
		_, err := w.Write(message)
		return err
	})
}

// ReadDelta returns the delta in the file at path, and its header. The path "-" is standard input.
func ReadDelta(path string) ([]byte, delta.Info, error) {
	if path == "-" {
		b, err := io.ReadAll(os.Stdin)
		return inspected("standard input", b, err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, delta.Info{}, fmt.Errorf("%s is a directory; give the file of a delta", path)
	}
	b, err := os.ReadFile(path)
	return inspected(path, b, err)
}

// inspected returns a delta that was read, or the error, and its header.
func inspected(path string, b []byte, err error) ([]byte, delta.Info, error) {
	if err != nil {
		return nil, delta.Info{}, err
	}
	info, err := delta.Inspect(b)
	if err != nil {
		if other := instead(path, "delta", b[:min(len(b), headBytes)]); other != nil {
			return nil, info, other
		}
		return nil, info, fmt.Errorf("%s: %w", path, err)
	}
	return b, info, nil
}

// Patch returns the result of applying a delta to old. The delta and its header are from
// [ReadDelta]; path is for errors.
func Patch(old umbel.State, path string, message []byte, info delta.Info) (umbel.State, error) {
	need := cmp.Or(info.Bytes, old.Bytes())
	if err := Fits("what "+path+" makes", need); err != nil {
		return umbel.State{}, err
	}
	limits := wire.Limits{Bytes: max(need, 1), Workers: runtime.GOMAXPROCS(0)}
	s, err := delta.Apply(old, message, limits)
	if err != nil {
		return umbel.State{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
