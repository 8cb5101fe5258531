// Package container reads and writes filters in files.
package container

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/memory"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/foreignfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/mapped"
)

// blockBytes is the largest number of bytes of cells that one byte of a container can represent:
// an empty or full block.
const blockBytes = 64 << 10

// Read returns the state in the file at path, and the file's size in bytes, 0 for a pipe. The path
// "-" is standard input. Read limits memory to what is available, and to what a container of that
// size can represent.
func Read(path string) (umbel.State, int64, error) {
	return ReadWith(path, func(f *os.File, l wire.Limits) (umbel.State, error) { return wire.Read(f, l) })
}

// ReadWith is [Read] with a function that reads the file.
func ReadWith(path string, read func(*os.File, wire.Limits) (umbel.State, error)) (umbel.State, int64, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return umbel.State{}, 0, err
		}
		defer f.Close()
	}
	info, err := f.Stat()
	if err != nil {
		return umbel.State{}, 0, err
	}
	if info.IsDir() {
		return umbel.State{}, 0, fmt.Errorf("%s is a directory; give the file of a filter", path)
	}
	size := int64(0)
	limits := wire.Limits{Bytes: math.MaxUint64, Workers: runtime.GOMAXPROCS(0)}
	if info.Mode().IsRegular() {
		size = info.Size()
		if hi, lo := bits.Mul64(uint64(size), blockBytes); hi == 0 {
			limits.Bytes = max(lo, 1)
		}
	}
	free, known := memory.Available()
	if known {
		limits.Bytes = min(limits.Bytes, free)
	}
	s, err := read(f, limits)
	if path == "-" {
		path = "standard input"
	}
	if errors.Is(err, umbel.ErrLimit) && known {
		err = fmt.Errorf("%w; %v of memory is free", err, quantity.Size(free))
	}
	if err != nil {
		return umbel.State{}, 0, describe(path, err)
	}
	return s, size, nil
}

// describe returns the error of reading the file at path, with what the file is instead of a filter. A pipe
// cannot be read again, so its error has the path only.
func describe(path string, err error) error {
	head := headOf(path)
	if !delta.Is(head) && (!errors.Is(err, umbel.ErrCorrupt) || errors.Is(err, errors.ErrUnsupported) || !isRegular(path)) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if other := instead(path, "filter", head); other != nil {
		return other
	}
	return fmt.Errorf("%s is damaged: %w", path, err)
}

// CheckHead returns an error that wraps umbel.ErrCorrupt and states what the regular file at path is, unless it begins like a filter.
// Another file, such as a pipe, has none.
func CheckHead(path string) error {
	if !isRegular(path) {
		return nil
	}
	return instead(path, "filter", headOf(path))
}

// instead returns an error that states what a file with that head is instead of a filter or a delta, and how it becomes one. It returns
// nil if the file begins as it should.
func instead(path, want string, head []byte) error {
	foreign := foreignfile.Of(head)
	compression, cat := keys.Compressed(head)
	text := ""
	switch filter := want == "filter"; {
	case filter && wire.Is(head) || !filter && delta.Is(head):
		return nil
	case compression != "":
		text = fmt.Sprintf("is compressed with %s; decompress it: %s %s > FILE; a packed filter is small already", compression, cat, path)
	case len(head) == 0:
		text = fmt.Sprintf("is empty, which no %s is; make it again", want)
	case delta.Is(head):
		text = fmt.Sprintf("is a delta, not a filter; apply it with umbel patch OLD %s -o FILE", path)
	case wire.Is(head):
		text = fmt.Sprintf("is a filter, not a delta; make a delta: umbel diff OLD %s -o FILE", path)
	case foreign != "" && filter:
		text = fmt.Sprintf("is %s; convert it: umbel convert %s -o FILE", foreign, path)
	case foreign != "":
		text = fmt.Sprintf("is %s, not a delta; make a delta: umbel diff OLD %s -o FILE", foreign, path)
	default:
		text = fmt.Sprintf("is not a %s of umbel: it begins with %q", want, head)
	}
	return sentinel.Errorf(umbel.ErrCorrupt, "%s %s", path, text)
}

// Receive is [Read] for a stream. It limits memory to what is available.
func Receive(r io.Reader) (umbel.State, error) {
	limits := wire.Limits{Bytes: math.MaxUint64, Workers: runtime.GOMAXPROCS(0)}
	if free, known := memory.Available(); known {
		limits.Bytes = free
	}
	return wire.Read(r, limits)
}

// Open returns the filter in the file at path, if its kind is in kinds, and the file's size.
func Open(path string, vs umbel.Kinds) (umbel.Filter, int64, error) {
	s, size, err := Read(path)
	if err != nil {
		return nil, 0, err
	}
	f, err := vs.Open(s)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	return f, size, nil
}

// OpenToQuery returns the filter in the file at path, of a kind in the list, to be queried: in its file if that is possible.
func OpenToQuery(path string, vs umbel.Kinds) (x *mapped.Filter, err error) {
	_, _, err = ReadWith(path, func(f *os.File, l wire.Limits) (umbel.State, error) {
		x, err = mapped.OpenFile(f, vs, l)
		return umbel.State{}, err
	})
	return x, err
}

// Verify reads the filter in the file at path completely, with memory for some blocks only, and returns its kind. The error is that of
// damage.
func Verify(path string) (kind string, err error) {
	s, _, err := ReadWith(path, func(f *os.File, l wire.Limits) (s umbel.State, err error) {
		for _, err := range wire.ReadBlocks(f, wire.Limits{Bytes: math.MaxUint64, Workers: l.Workers}, &s) {
			if err != nil {
				return s, err
			}
		}
		return s, nil
	})
	return s.Kind, err
}

// Write writes the state, unpacked, to the file at path, completely or not at all. Only the owner can read a
// new file that contains a secret seed.
func Write(path string, s umbel.State) error { return WriteForm(path, s, Form{}) }

// WriteForm is [Write] with the cells in form f.
func WriteForm(path string, s umbel.State, f Form) error {
	write := atomicfile.Write
	if s.Hasher.Secret() {
		write = atomicfile.WriteSecret
	}
	return write(path, func(w io.Writer) error { return f.Write(w, s) })
}

// Fits returns an error wrapping umbel.ErrLimit if fewer bytes of memory are available.
func Fits(what string, need uint64) error {
	free, known := memory.Available()
	if !known || need <= free {
		return nil
	}
	return sentinel.Errorf(umbel.ErrLimit, "%s needs %v of memory, and %v is free; use a higher rate, fewer keys or fewer bytes",
		what, quantity.Size(need), quantity.Size(free))
}

// Heads are how containers begin: of versions 1 and 2, before the number of the version, and of version 3
// (spec/container.md).
var Heads = []string{"\x89umbel\n", "\x89u\x03"}

// IsHead reports whether the first bytes of a file are those of a container or of a delta, of any
// version.
func IsHead(head []byte) bool {
	return wire.Is(head) || delta.Is(head)
}

// IsFile reports whether the file at path begins like a container or a delta. It returns false for a pipe.
func IsFile(path string) bool { return IsHead(headOf(path)) }

// headBytes is the number of bytes that determine the form of a file: more than the longest head that is recognized.
const headBytes = 16

// headOf returns the first bytes of the regular file at path, and none of another file.
func headOf(path string) []byte {
	if !isRegular(path) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, headBytes))
	return head
}

// Describe returns the kind of the filter in the regular file at path, and the size of the file. It reads the first bytes only.
func Describe(path string) (kind string, size int64, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", 0, false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", 0, false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, int64(wire.KindBytes)))
	kind, ok = wire.KindOf(head)
	return kind, info.Size(), ok
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Packer returns the packer of a program that uses all cores.
func Packer() wire.Packer { return wire.Packer{Workers: runtime.GOMAXPROCS(0)} }
