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
// versions 1 and 2; they write version 2 if a state has a Planned or a Tick.
package wire

import (
	"fmt"
	"io"
	"slices"

	"github.com/umbel-filters/umbel"
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
		return dst, fmt.Errorf("wire: %w", err)
	}
	c := readable(s, limit)
	w := format.NewAppender(slices.Grow(dst, int(size(s, c))), format.Readable(c))
	w.Container(s)
	return w.Buf, nil
}

// Write writes to w the bytes that [Append] appends. It doesn't copy arrays; it calls w once
// or twice for each 64 KiB. Errors are those of Append and of w; after one of w, w has
// received part of a container.
func Write(w io.Writer, s umbel.State) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	return writeContainer(w, s, format.Readable(readable(s, DefaultBytes)))
}

// readable returns a coding of blocks with which a reader accepts the container of s if it
// accepts arrays of limit bytes, or of the length of the container.
func readable(s umbel.State, limit uint64) block.Coding {
	if s.Bytes() > limit {
		return block.Canonical
	}
	return block.Plain
}

// writeContainer writes the container of s, which passes its Check.
func writeContainer(w io.Writer, s umbel.State, arrays format.ArrayWriter) error {
	e := format.Writer{W: w, Arrays: arrays}
	if e.Container(s); e.Err != nil {
		return fmt.Errorf("wire: %w", e.Err)
	}
	return nil
}

// Bytes of the fields of fixed length.
const (
	stateBytes = 1 + 17 + 1 + 1 + 2 // lengths, hasher, numbers of params, arrays, parts
	paramBytes = 1 + 1 + 8
	arrayBytes = 1 + 8
)

// Size returns the number of bytes of the container of s with raw blocks: those of the canonical
// form and, if s has a Planned or a Tick, of the notes. No function of this package writes a longer one.
func Size(s umbel.State) uint64 { return size(s, block.Canonical) }

// size returns the number of bytes of the container of s with blocks in coding c.
func size(s umbel.State, c block.Coding) uint64 { return format.ContainerBytes(s) + stateSize(s, c) }

func stateSize(s umbel.State, c block.Coding) uint64 {
	n := stateBytes + uint64(len(s.Kind))
	for _, p := range s.Params {
		n += paramBytes + uint64(len(p.Name))
	}
	for _, a := range s.Arrays {
		n += arrayBytes
		for b := range block.All(a) {
			n++
			if c(b) == block.Raw {
				n += b.Bytes()
			}
		}
	}
	for _, p := range s.Parts {
		n += stateSize(p, c)
	}
	return n
}
