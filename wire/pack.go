package wire

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Packer writes containers in fewer bytes than [Append] and [Write] do: each block
// in the coding that makes the fewest bytes of it, and never more than [Size] in all.
// Hashed bits take less than ten bytes more than their entropy for each 64 KiB
// (TestPackedToTheEntropy). The state has the same ID, and is read by the same
// functions.
//
// The zero value is ready. A Packer may be used concurrently.
type Packer struct {
	// Workers is the number of goroutines that code blocks of a plane; up to 1 the
	// caller's alone does. More than twice GOMAXPROCS stand for that. The bytes are
	// the same.
	Workers int
}

// Append appends the container of s to dst. Errors are those of [Append].
func (p Packer) Append(dst []byte, s umbel.State) ([]byte, error) {
	out := appender(dst)
	if err := p.Write(&out, s); err != nil {
		return dst, err
	}
	return out, nil
}

// Write writes the container of s to w. Besides the state it needs memory for some
// blocks a worker, however large the state is. Errors are those of [Write].
func (p Packer) Write(w io.Writer, s umbel.State) error {
	return p.pack(w, s, func(*batch) {})
}

// pack writes the container of s, and shows what becomes of the blocks, in order.
func (p Packer) pack(w io.Writer, s umbel.State, show func(*batch)) error {
	if err := check(s); err != nil {
		return err
	}
	return p.code(w, s, inMemory, show)
}

// placer returns block i of a plane, the next of a batch.
type placer func(b *batch, i uint64) (cells.Array, error)

// inMemory returns the placer of a plane that has its words.
func inMemory(a cells.Array) placer {
	return func(_ *batch, i uint64) (cells.Array, error) { return blockOf(a, i), nil }
}

// code writes the container of s; place is called for each plane in turn.
func (p Packer) code(w io.Writer, s umbel.State, place func(a cells.Array) placer, show func(*batch)) error {
	l := line[batch]{workers: p.Workers, work: (*batch).code}
	e := encoder{w: w, blocks: func(e *encoder, a cells.Array) { e.packed(&l, numBlocks(a), place(a), show) }}
	e.container(s)
	if e.err != nil {
		return fmt.Errorf("wire: %w", e.err)
	}
	return nil
}

// packed writes the n blocks of a plane.
func (e *encoder) packed(l *line[batch], n uint64, place placer, show func(*batch)) {
	next, step := uint64(0), share(n, l.workers)
	l.read = func(b *batch) bool {
		b.blocks = b.blocks[:0]
		for ; len(b.blocks) < step && next < n && e.err == nil; next++ {
			var block cells.Array
			if block, e.err = place(b, next); e.err == nil {
				b.blocks = append(b.blocks, block)
			}
		}
		return len(b.blocks) > 0
	}
	l.write = func(b *batch) error {
		show(b)
		for i, a := range b.blocks {
			e.form(&b.forms[i], a)
		}
		e.flush()
		return e.err
	}
	_ = l.run() // e keeps the error
}

// form writes the form of a block.
func (e *encoder) form(f *form, b cells.Array) {
	e.buf = append(e.buf, f.coding)
	switch f.coding {
	case raw:
		e.words(b.Words)
	case arithmetic, positions:
		e.buf = binary.AppendUvarint(e.buf, uint64(len(f.payload)))
		e.flush()
		e.write(f.payload)
	}
}

// batch is a job of packing: blocks that follow each other in a plane, and what
// becomes of them.
type batch struct {
	blocks []cells.Array
	forms  []form
	codec  codec
	room   room
}

// code codes the blocks.
func (b *batch) code() { b.forms = b.codec.code(b.blocks...) }
