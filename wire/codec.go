package wire

import (
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
	"github.com/umbel-filters/umbel/internal/model"
)

// codec codes blocks and decodes payloads. It keeps memory from one to the next,
// and serves one goroutine at a time.
type codec struct {
	model model.Coder
	bits  entropy.Coder
	forms []form
	jobs  []entropy.Job // those of blocks of bits
	strs  []entropy.Bits
	ones  []uint64 // of each string that is coded
	owner []int    // the block of each job
}

// form is what becomes of a block.
type form struct {
	coding  byte
	ones    uint64 // of a block of bits that may have a payload
	payload []byte
}

// bytes returns how many bytes the form of a block takes.
func (f *form) bytes(b cells.Array) int {
	switch f.coding {
	case raw:
		return 1 + int(b.Bytes())
	case empty, full:
		return 1
	}
	return 1 + payloadBytes(len(f.payload))
}

// append appends the form of a block.
func (f *form) append(dst []byte, b cells.Array) []byte {
	dst = append(dst, f.coding)
	switch f.coding {
	case raw:
		return appendWords(dst, b.Words)
	case empty, full:
		return dst
	}
	return appendPayload(dst, f.payload)
}

// code finds for each block the form that takes the fewest bytes, of those that
// take as many the one with the lowest coding. Forms are valid until the next call.
func (c *codec) code(blocks ...cells.Array) []form {
	c.begin(blocks)
	c.bits.AppendAll(c.jobs)
	for i, at := range c.owner {
		c.forms[at].payload = c.jobs[i].Code
	}
	for i, b := range blocks {
		f := &c.forms[i]
		if f.coding != arithmetic {
			continue
		}
		if s := bitsOf(b); b.Width == 1 && few(f.ones, b.Len) && entropy.RiceBytes(s) < uint64(len(f.payload)) {
			f.coding, f.payload = positions, entropy.AppendRice(f.payload[:0], s)
		}
		if payloadBytes(len(f.payload)) >= int(b.Bytes()) {
			f.coding = raw
		}
	}
	return c.forms
}

// begin finds the blocks that may have a payload, gives those of counters theirs,
// and makes jobs of those of bits.
func (c *codec) begin(blocks []cells.Array) {
	c.forms = slices.Grow(c.forms[:0], len(blocks))[:len(blocks)]
	c.strs = slices.Grow(c.strs[:0], len(blocks))
	c.ones = slices.Grow(c.ones[:0], len(blocks))
	c.jobs, c.owner = c.jobs[:0], c.owner[:0]
	for i, b := range blocks {
		f := &c.forms[i]
		switch f.coding = plain(b); {
		case f.coding != raw:
		case b.Width > 1:
			f.coding, f.payload = arithmetic, c.model.Append(f.payload[:0], b)
		default:
			if f.ones = bitsOf(b).Count(); skewed(f.ones, b.Len) {
				f.coding = arithmetic
				c.addJob(i, b, f.payload[:0])
				c.ones = append(c.ones, f.ones)
				c.jobs[len(c.jobs)-1].Ones = c.ones[len(c.ones)-1:]
			}
		}
	}
}

// addJob adds the payload of block i to the jobs.
func (c *codec) addJob(i int, b cells.Array, code []byte) {
	c.strs = append(c.strs, bitsOf(b))
	c.jobs = append(c.jobs, entropy.Job{Code: code, Strs: c.strs[len(c.strs)-1:]})
	c.owner = append(c.owner, i)
}

func bitsOf(b cells.Array) entropy.Bits { return entropy.Bits{Words: b.Words, Len: b.Len} }

// skewed reports whether ones and zeros are so far from as many that coding can
// save two bytes. With a share p of ones it saves up to (1-2p)^2 bits of each: the
// series of 1-H(p) with all its terms as large as the first.
func skewed(ones, n uint64) bool {
	d := max(2*ones, n) - min(2*ones, n)
	return d*d > 16*n
}

// few reports whether ones are so few that their positions may take less than
// arithmetic coding. Of many that happens where they aren't spread at random, and
// finding out takes longer than coding.
func few(ones, n uint64) bool { return ones <= 16+n/256 }

// append appends a block in the form that takes the fewest bytes, and returns its
// coding.
func (c *codec) append(dst []byte, b cells.Array) ([]byte, byte) {
	f := &c.code(b)[0]
	return f.append(dst, b), f.coding
}

// decode decodes the payloads of a load.
func (c *codec) decode(l *load) {
	c.strs = slices.Grow(c.strs[:0], len(l.coded))
	c.jobs, c.owner = c.jobs[:0], c.owner[:0]
	for _, f := range l.coded {
		b, payload := l.blocks[f.block], l.bytes[f.start:f.end]
		switch {
		case f.coding == positions:
			l.check(f.block, entropy.DecodeRice(payload, bitsOf(b)))
		case b.Width > 1:
			l.check(f.block, c.model.Decode(payload, b))
		default:
			c.addJob(f.block, b, payload)
		}
	}
	c.bits.DecodeAll(c.jobs)
	for i, block := range c.owner {
		l.check(block, c.jobs[i].Err)
	}
}
