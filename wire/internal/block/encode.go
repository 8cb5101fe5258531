package block

import (
	"encoding/binary"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/coding/model"
)

// EncodeJob is a job of a [Pipeline]: blocks of an array to encode.
type EncodeJob struct {
	Array   int // the number of their array, counted through all states
	Blocks  []cells.Array
	Runs    bool      // the array has more blocks, so that those with few cells may be part of a run
	Encoded []Encoded // set by Encode, one for each block
	Scratch Scratch   // for blocks that are in no array
	codec   Codec
}

// Encode encodes the blocks.
func (j *EncodeJob) Encode() {
	j.Encoded = j.codec.encode(j.Blocks...)
	for i, b := range j.Blocks {
		j.Encoded[i].list(b, j.Runs)
	}
}

// Raw leaves the blocks raw.
func (j *EncodeJob) Raw() {
	j.Encoded = slices.Grow(j.Encoded[:0], len(j.Blocks))[:len(j.Blocks)]
	for i := range j.Encoded {
		e := &j.Encoded[i]
		e.Coding, e.IsRare = Raw, false
	}
}

// Encoded is an encoded block.
type Encoded struct {
	Coding  byte
	Payload []byte // of Arithmetic and Positions
	IsRare  bool   // the block may be part of a run in coding Rare
	Rare    model.Rare
	ones    uint64 // of a block of bits that may have a payload
}

// Bytes returns the number of bytes that the encoded block b takes.
func (e *Encoded) Bytes(b cells.Array) int {
	switch e.Coding {
	case Raw:
		return 1 + int(b.Bytes())
	case Empty, Full:
		return 1
	}
	return 1 + PayloadBytes(len(e.Payload))
}

// Append appends the encoded block b.
func (e *Encoded) Append(dst []byte, b cells.Array) []byte {
	dst = append(dst, e.Coding)
	switch e.Coding {
	case Raw:
		return AppendWords(dst, b.Words)
	case Empty, Full:
		return dst
	}
	return AppendPayload(dst, e.Payload)
}

// Codec encodes and decodes blocks in the smallest coding. It keeps memory for the next
// call. Its zero value is ready; it is for one goroutine at a time.
type Codec struct {
	Modeler model.Modeler
	coder   entropy.Coder
	encoded []Encoded
	jobs    []entropy.Job // of blocks of bits
	owner   []int         // the block of each job
	strs    []entropy.Bits
	ones    []uint64 // of each string
}

// Append appends the encoded block b.
func (c *Codec) Append(dst []byte, b cells.Array) []byte { return c.encode(b)[0].Append(dst, b) }

// encode encodes each block in the coding that takes the fewest bytes; among equals, in
// the one with the lowest number. The result is valid until the next call.
func (c *Codec) encode(blocks ...cells.Array) []Encoded {
	c.begin(blocks)
	c.coder.AppendAll(c.jobs)
	for i, at := range c.owner {
		c.encoded[at].Payload = c.jobs[i].Code
	}
	for i, b := range blocks {
		e := &c.encoded[i]
		if e.Coding != Arithmetic {
			continue
		}
		if s := bitsOf(b); b.Width == 1 && sparse(e.ones, b.Len) && entropy.RiceBytes(s) < uint64(len(e.Payload)) {
			e.Coding, e.Payload = Positions, entropy.AppendRice(e.Payload[:0], s)
		}
		if PayloadBytes(len(e.Payload)) >= int(b.Bytes()) {
			e.Coding = Raw
		}
	}
	return c.encoded
}

// begin finds the blocks that may have a payload. It encodes those of counters and makes
// jobs of those of bits.
func (c *Codec) begin(blocks []cells.Array) {
	c.encoded = slices.Grow(c.encoded[:0], len(blocks))[:len(blocks)]
	c.strs = slices.Grow(c.strs[:0], len(blocks))
	c.ones = slices.Grow(c.ones[:0], len(blocks))
	c.jobs, c.owner = c.jobs[:0], c.owner[:0]
	for i, b := range blocks {
		e := &c.encoded[i]
		switch e.Coding = Plain(b); {
		case e.Coding != Raw:
		case b.Width > 1:
			e.Coding, e.Payload = Arithmetic, c.Modeler.Append(e.Payload[:0], b)
		default:
			if e.ones = bitsOf(b).Count(); skewed(e.ones, b.Len) {
				e.Coding = Arithmetic
				c.addJob(i, b, e.Payload[:0])
				c.ones = append(c.ones, e.ones)
				c.jobs[len(c.jobs)-1].Ones = c.ones[len(c.ones)-1:]
			}
		}
	}
}

// addJob adds the payload of block i to the jobs.
func (c *Codec) addJob(i int, b cells.Array, code []byte) {
	c.strs = append(c.strs, bitsOf(b))
	c.jobs = append(c.jobs, entropy.Job{Code: code, Strs: c.strs[len(c.strs)-1:]})
	c.owner = append(c.owner, i)
}

func bitsOf(b cells.Array) entropy.Bits { return entropy.Bits{Words: b.Words, Len: b.Len} }

// skewed reports whether arithmetic coding can save two bytes of n bits. If a share p of
// the bits is one, it saves at most (1-2p)² of each: the series of 1-H(p) with all terms
// as large as the first.
func skewed(ones, n uint64) bool {
	d := max(2*ones, n) - min(2*ones, n)
	return d*d > 16*n
}

// sparse reports whether ones are so rare that their positions may take less than
// arithmetic coding. Denser blocks are only smaller as positions if the ones aren't
// spread at random, and trying takes longer than encoding.
func sparse(ones, n uint64) bool { return ones <= 16+n/256 }

// AppendPayload appends a payload after its length.
func AppendPayload(dst, payload []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(payload)))
	return append(dst, payload...)
}

// PayloadBytes returns the number of bytes that AppendPayload appends for a payload of n.
func PayloadBytes(n int) int {
	bytes := n + 1
	for n >>= 7; n > 0; n >>= 7 {
		bytes++
	}
	return bytes
}
