package wire

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
)

// Append appends the container of s to dst, at the speed of copying: its blocks are
// empty, full or raw. [Packer] makes fewer bytes of it, in more time. On error dst
// comes back as it was. The error wraps umbel.ErrCorrupt if s fails its Check,
// umbel.ErrLimit if it has more params, planes or parts than a container can count.
func Append(dst []byte, s umbel.State) ([]byte, error) { return appendBlocks(dst, s, plain) }

func appendBlocks(dst []byte, s umbel.State, c coding) ([]byte, error) {
	if err := check(s); err != nil {
		return dst, err
	}
	out := appender(slices.Grow(dst, int(size(s, c))))
	e := encoder{w: &out, blocks: each(c)}
	e.container(s)
	return out, nil
}

// AppendReadable is [Append] for a container that [Parse] and [Read] accept with the zero
// [Limits], whatever the size of s: if its arrays take more than [DefaultBytes], all blocks
// are raw, so that the container is as long as they are. It is for MarshalBinary.
func AppendReadable(dst []byte, s umbel.State) ([]byte, error) {
	return appendBlocks(dst, s, readable(s, DefaultBytes))
}

// WriteReadable writes to w the bytes that [AppendReadable] appends. Errors are those of
// [Write]. It is for WriteTo.
func WriteReadable(w io.Writer, s umbel.State) error {
	return writeBlocks(w, s, readable(s, DefaultBytes))
}

// readable returns the coding for a container that is read with a limit of so many bytes
// or its own length.
func readable(s umbel.State, limit uint64) coding {
	if s.Bytes() > limit {
		return canonical
	}
	return plain
}

type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// Write writes the container of s to w: the bytes that [Append] would append. It
// makes no copy of the planes; w gets one or two calls for each 64 KiB. Errors are
// those of Append, and those of w, after which w has part of a container.
func Write(w io.Writer, s umbel.State) error { return writeBlocks(w, s, plain) }

func writeBlocks(w io.Writer, s umbel.State, c coding) error {
	if err := check(s); err != nil {
		return err
	}
	e := encoder{w: w, blocks: each(c)}
	e.container(s)
	if e.err != nil {
		return fmt.Errorf("wire: %w", e.err)
	}
	return nil
}

// check returns an error unless s can be written.
func check(s umbel.State) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	return checkCounts(s)
}

func checkCounts(s umbel.State) error {
	if len(s.Params) > math.MaxUint8 || len(s.Arrays) > math.MaxUint8 || len(s.Parts) > math.MaxUint16 {
		return fmt.Errorf("wire: %d params, %d planes, %d parts, want at most 255, 255, 65535: %w",
			len(s.Params), len(s.Arrays), len(s.Parts), umbel.ErrLimit)
	}
	for i, p := range s.Parts {
		if err := checkCounts(p); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}
