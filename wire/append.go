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
func Append(dst []byte, s umbel.State) ([]byte, error) {
	if err := check(s); err != nil {
		return dst, err
	}
	out := appender(slices.Grow(dst, int(size(s, plain))))
	e := encoder{w: &out, blocks: each(plain)}
	e.container(s)
	return out, nil
}

type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// Write writes the container of s to w: the bytes that [Append] would append. It
// makes no copy of the planes; w gets one or two calls for each 64 KiB. Errors are
// those of Append, and those of w, after which w has part of a container.
func Write(w io.Writer, s umbel.State) error {
	if err := check(s); err != nil {
		return err
	}
	e := encoder{w: w, blocks: each(plain)}
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
