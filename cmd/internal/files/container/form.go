package container

import (
	"bytes"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// Form is how the cells of a file are encoded. The zero Form is unpacked.
type Form struct{ packed bool }

// FormOf returns the form of a file of size bytes with state s, which must be as it was read. That of a pipe, of
// size 0, is unpacked. FormOf counts the bytes of the unpacked form only if the file has fewer than the cells.
func FormOf(s umbel.State, size int64) Form {
	if size <= 0 || uint64(size) >= wire.Size(s) {
		return Form{}
	}
	var unpacked byteCount
	err := wire.Write(&unpacked, s)
	return Form{err == nil && size < int64(unpacked)}
}

// IsPacked reports whether the file at path begins like a packed filter. It returns false for a pipe.
func IsPacked(path string) bool { return bytes.HasPrefix(headOf(path), []byte(Heads[1])) }

// Write writes the container of s to w in the form. Errors are those of [wire.Write].
func (f Form) Write(w io.Writer, s umbel.State) error {
	if f.packed {
		return Packer().Write(w, s)
	}
	return wire.Write(w, s)
}

// byteCount is a writer that counts bytes.
type byteCount int64

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}
