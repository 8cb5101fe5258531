package wire

import (
	"encoding/binary"
	"slices"

	"github.com/umbel-filters/umbel/cells"
)

// revision is a job of a delta: blocks that follow each other in a plane, what is
// expected of them, and what becomes of them.
type revision struct {
	blocks, expected []cells.Array
	coded            []span
	bytes            []byte
	codec            codec
	given            []byte // a payload
}

// code codes the blocks. A block that is kept makes no bytes.
func (r *revision) code() {
	r.bytes, r.coded = r.bytes[:0], r.coded[:0]
	for i, b := range r.blocks {
		old := len(r.bytes)
		var c byte
		r.bytes, c = r.append(r.bytes, b, r.expected[i])
		r.coded = append(r.coded, span{c, len(r.bytes) - old})
	}
}

// append appends a block in the coding that takes the fewest bytes, and returns that
// coding. What is expected never makes a block longer but for a byte or two, so other
// codings are tried only where it doesn't make it much shorter.
func (r *revision) append(dst []byte, b, expected cells.Array) ([]byte, byte) {
	if slices.Equal(b.Words, expected.Words) {
		return dst, kept
	}
	if plain(b) != raw {
		return r.codec.append(dst, b)
	}
	r.given = r.codec.model.AppendDelta(r.given[:0], expected, b)
	n := payloadBytes(len(r.given))
	if 4*n > int(b.Bytes()) {
		old := len(dst)
		other, c := r.codec.append(dst, b)
		if len(other)-old <= 1+n {
			return other, c
		}
		dst = other[:old]
	}
	return appendPayload(append(dst, given), r.given), given
}

// revise writes the blocks of a plane of which another is expected.
func (d *differ) revise(s source, a, expected cells.Array) {
	n := numBlocks(a)
	next, step := uint64(0), share(n, d.line.workers)
	d.line.read = func(r *revision) bool {
		r.blocks, r.expected = r.blocks[:0], r.expected[:0]
		for len(r.blocks) < step && next < n {
			r.blocks = append(r.blocks, blockOf(a, next))
			r.expected = append(r.expected, blockOf(expected, next))
			next++
		}
		return len(r.blocks) > 0
	}
	run := uint64(0)
	d.line.write = func(r *revision) error {
		at := 0
		for _, c := range r.coded {
			if c.coding == kept {
				run++
				continue
			}
			d.keep(s, &run)
			d.buf = append(d.buf, r.bytes[at:at+c.bytes]...)
			at += c.bytes
		}
		d.flush()
		return d.err
	}
	_ = d.line.run() // an error of the writer, which d keeps
	d.keep(s, &run)
}

// keep writes that so many blocks are as expected, and begins to count anew.
func (d *differ) keep(s source, run *uint64) {
	n := *run
	*run = 0
	if n > 1 && s.runs() {
		d.buf = append(d.buf, keptRun)
		d.buf = binary.AppendUvarint(d.buf, n)
		return
	}
	for range n {
		d.buf = append(d.buf, kept)
	}
}
