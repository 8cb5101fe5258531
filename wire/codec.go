package wire

import (
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
	"github.com/umbel-filters/umbel/internal/model"
)

// codec codes blocks and decodes payloads. It keeps memory from one to the next,
// and serves one goroutine at a time.
type codec struct {
	model   model.Coder
	payload []byte
	rice    []byte
}

// append appends a block in the coding that takes the fewest bytes, and returns
// that coding. Where two take as many it is the one with the lower number.
func (c *codec) append(dst []byte, b cells.Array) ([]byte, byte) {
	k := plain(b)
	if k == raw {
		k = c.pack(b)
	}
	dst = append(dst, k)
	switch k {
	case raw:
		dst = appendWords(dst, b.Words)
	case arithmetic:
		dst = appendPayload(dst, c.payload)
	case positions:
		dst = appendPayload(dst, c.rice)
	}
	return dst, k
}

// pack makes the smallest payload of a block and returns its coding, which is raw
// if no payload is small enough.
func (c *codec) pack(b cells.Array) byte {
	var ones uint64
	if b.Width == 1 {
		if ones = b.Nonzero(); !skewed(ones, b.Len) {
			return raw
		}
	}
	k, most := byte(raw), int(b.Bytes())
	c.payload = c.model.Append(c.payload[:0], b)
	if n := payloadBytes(len(c.payload)); n < most {
		k, most = arithmetic, n
	}
	if s := bitsOf(b); b.Width == 1 && few(ones, b.Len) && payloadBytes(int(entropy.RiceBytes(s))) < most {
		c.rice = entropy.AppendRice(c.rice[:0], s)
		k = positions
	}
	return k
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

// decode sets the cells of a block to those in a payload.
func (c *codec) decode(b cells.Array, coding byte, payload []byte) error {
	if coding == positions {
		return entropy.DecodeRice(payload, bitsOf(b))
	}
	return c.model.Decode(payload, b)
}
