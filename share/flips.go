package share

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/umbel-filters/umbel/wire/delta"
)

// packedFlips are the flips of an array, encoded: few bits of a word change from one version to the next, so
// that 2 bytes per flip suffice instead of 16. Each flip has the number of words that it skips, as a uvarint,
// and its mask: the number of its only bit, or manyBits plus the number n of its bits and these n in
// ascending order, or wholeMask and 8 bytes.
type packedFlips []byte

const (
	manyBits  = 64
	wholeMask = manyBits + 8
)

// packFlips encodes flips whose words ascend.
func packFlips(list []delta.Flip) packedFlips {
	if len(list) == 0 {
		return nil
	}
	b := make([]byte, 0, 2*len(list)+binary.MaxVarintLen64)
	next := uint64(0)
	for _, f := range list {
		b = binary.AppendUvarint(b, f.Word-next)
		next = f.Word + 1
		switch n := bits.OnesCount64(f.Mask); {
		case n >= 8:
			b = binary.LittleEndian.AppendUint64(append(b, wholeMask), f.Mask)
			continue
		case n > 1:
			b = append(b, manyBits+byte(n))
		}
		for m := f.Mask; m != 0; m &= m - 1 {
			b = append(b, byte(bits.TrailingZeros64(m)))
		}
	}
	return append(make(packedFlips, 0, len(b)), b...)
}

// all yields the flips, of which there is no damaged one: packFlips or indexReader.flips made them.
func (p packedFlips) all() iter.Seq[delta.Flip] {
	return func(yield func(delta.Flip) bool) {
		word := uint64(0)
		for b := []byte(p); len(b) > 0; word++ {
			gap, n := binary.Uvarint(b)
			word += gap
			var mask uint64
			mask, b = unpackMask(b[n:])
			if !yield(delta.Flip{Word: word, Mask: mask}) {
				return
			}
		}
	}
}

// unpack returns the flips.
func (p packedFlips) unpack() []delta.Flip {
	if len(p) == 0 {
		return nil
	}
	list := make([]delta.Flip, 0, len(p)/2)
	for f := range p.all() {
		list = append(list, f)
	}
	return list
}

// unpackMask decodes a mask and returns the bytes after it. The mask is zero if it is damaged.
func unpackMask(b []byte) (mask uint64, rest []byte) {
	if len(b) == 0 {
		return 0, nil
	}
	form := b[0]
	switch b = b[1:]; {
	case form < manyBits:
		return 1 << form, b
	case form == wholeMask && len(b) >= 8:
		return binary.LittleEndian.Uint64(b), b[8:]
	}
	n := int(form) - manyBits
	if n < 2 || n > 7 || len(b) < n {
		return 0, nil
	}
	for _, bit := range b[:n] {
		mask |= 1 << bit
	}
	if bits.OnesCount64(mask) < n {
		return 0, nil
	}
	return mask, b[n:]
}
