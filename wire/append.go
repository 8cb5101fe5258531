// Package wire writes and reads containers: the self-describing encoding of a filter's
// state, for files and messages. It handles states of any kind, so a program can store,
// forward and inspect filters that it can't open. Package wire/delta encodes the
// difference between two states, wire/hashtree computes IDs.
//
// [Append] and [Write] run at the speed of copying. A [Packer] writes the smallest
// containers. [Parse] and [Read] read both. [View] copies no cells if it need not, and [ReadBlocks] takes no memory
// for arrays. Equal states have equal [ID]s, regardless of the encoding.
//
// All functions may be called concurrently. They read states with plain loads: nothing may
// change a filter, not even atomically, while its state is written. The caller's goroutine
// does all work, unless Workers allows more goroutines. These end before the call returns.
//
// The format is spec/container.md and spec/codings.md. All versions of this package read
// versions 1 and 2; they write version 2 if a state has a Planned or a Tick. A Packer writes version 3, the short form.
package wire

import (
	"encoding/hex"
	"io"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Append appends the container of s to dst, at the speed of copying. [Packer] writes fewer bytes, in more time.
// [Parse] and [Read] accept the container with the zero [Limits], for any size of s: if the arrays take more than
// [DefaultBytes], all blocks are raw, so that the container is as long as they are. The error wraps
// umbel.ErrCorrupt if s fails its Check; dst is then unchanged.
func Append(dst []byte, s umbel.State) ([]byte, error) { return appendWithin(dst, s, DefaultBytes) }

func appendWithin(dst []byte, s umbel.State, limit uint64) ([]byte, error) {
	if err := s.Check(); err != nil {
		return dst, err
	}
	arrays := readable(s, limit)
	w := format.NewAppender(slices.Grow(dst, int(size(s, arrays.Bytes))), arrays.Write)
	w.Container(s)
	return w.Buf, nil
}

// Write writes to w the bytes that [Append] appends. It doesn't copy arrays; it calls w once
// or twice for each 64 KiB. Errors are those of Append and of w; after one of w, w has
// received part of a container.
func Write(w io.Writer, s umbel.State) error {
	if err := s.Check(); err != nil {
		return err
	}
	return writeContainer(w, s, readable(s, DefaultBytes).Write)
}

// readable returns a writer of arrays with which a reader accepts the container of s if it
// accepts arrays of limit bytes, or of the length of the container.
func readable(s umbel.State, limit uint64) *format.Readable {
	if s.Bytes() > limit {
		return &format.Readable{Coding: block.Canonical}
	}
	return &format.Readable{Coding: block.Plain}
}

// writeContainer writes the container of s, which passes its Check.
func writeContainer(w io.Writer, s umbel.State, arrays format.ArrayWriter) error {
	e := format.Writer{W: w, Arrays: arrays}
	if e.Container(s); e.Err != nil {
		return e.Err
	}
	return nil
}

// Bytes of the fields of fixed length.
const (
	headBytes  = 1 + 17 + 1 + 1 // length, hasher, numbers of params and arrays
	paramBytes = 1 + 1 + 8
	arrayBytes = 1 + 8
	partsBytes = 2
)

// Size returns the number of bytes of the container of s with raw blocks: those of the canonical
// form and, if s has a Planned or a Tick, of the notes. No function of this package writes a longer one.
func Size(s umbel.State) uint64 { return size(s, format.RawBytes) }

// size returns the number of bytes of the container of s if the blocks of an array that begin after off bytes have
// array(off, a) bytes.
func size(s umbel.State, array func(off uint64, a cells.Array) uint64) uint64 {
	begin := uint64(len(format.Magic))
	return stateEnd(begin, s, array) - begin + format.ContainerBytes(s)
}

// stateEnd returns the offset of the end of a state that begins at off.
func stateEnd(off uint64, s umbel.State, array func(off uint64, a cells.Array) uint64) uint64 {
	off += headBytes + uint64(len(s.Kind))
	for _, p := range s.Params {
		off += paramBytes + uint64(len(p.Name))
	}
	for _, a := range s.Arrays {
		off += arrayBytes
		off += array(off, a)
	}
	off += partsBytes
	for _, p := range s.Parts {
		off = stateEnd(off, p, array)
	}
	return off
}

// MagicBytes is the number of bytes that [Is] needs.
const MagicBytes = len(format.Magic)

// Is reports whether b begins like a container of any version.
func Is(b []byte) bool {
	return strings.HasPrefix(string(b[:min(len(b), MagicBytes)]), format.Magic[:MagicBytes-1]) || format.IsShort(b, format.ShortMagic)
}

// KindBytes is the number of bytes that [KindOf] needs at most.
const KindBytes = MagicBytes + 1 + 64

// KindOf returns the kind of the container that begins with b, and false if b is too short, or doesn't begin like a
// container of a known version.
func KindOf(b []byte) (kind string, ok bool) {
	kind, err := format.Kind(b)
	return kind, err == nil
}

// ID identifies a state: the root of a hash tree over its arrays and other fields
// (spec/container.md, "ID"). States are equal if and only if their IDs are, regardless of
// the encoding and of the goals that the filters were planned for. Package wire/hashtree computes IDs.
type ID [32]byte

// String returns the ID as 64 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }
