package inpacket

import (
	"encoding/binary"

	"github.com/dchest/siphash"
)

// Key is a secret: of a network, from which the keys of its links derive, or of one
// link in one direction. Whoever knows a link's key can send packets over it, and
// nobody else can make filters that hold it but by chance.
type Key [16]byte

// Derive returns the key that k gives to what the label names, for example a link:
// SipHash-128 of the label under k.
func (k Key) Derive(label []byte) Key {
	lo, hi := k.hash(label)
	var d Key
	binary.LittleEndian.PutUint64(d[:8], lo)
	binary.LittleEndian.PutUint64(d[8:], hi)
	return d
}

// Codeword is what a link's key gives for one epoch: the seed of all the bits by
// which filters of that epoch hold the link. It is as secret as the key, until the
// epoch is over.
type Codeword struct{ H1, H2 uint64 }

// Codeword returns the codeword of the link with key k in an epoch: SipHash-128 of
// the epoch's two bytes, high one first, under k.
func (k Key) Codeword(epoch uint16) Codeword {
	h1, h2 := k.hash([]byte{byte(epoch >> 8), byte(epoch)})
	return Codeword{h1, h2}
}

func (k Key) hash(b []byte) (uint64, uint64) {
	return siphash.Hash128(binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:]), b)
}
