// Package inpacket puts a set of links into a packet: a filter of a few dozen bytes
// in the header, which each router asks about its own links, keeping no state of
// any group. Jokela et al. 2009 (LIPSIN) and Heszberger et al. 2010 describe it.
//
// A link has a secret [Key], of which each epoch makes a [Codeword]. The sender
// knows the links of a tree and those next to it, and searches for the shortest
// filter that holds the first and none of the second ([Search]). A router has the
// codewords of its own links in a [Table] and asks which of them the [Header]'s
// filter holds.
//
// Filters come in forms; see [Form]. Nothing is computed in floating point that a
// router and a sender have to agree on. The bytes are those of spec/inpacket.md.
package inpacket

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dchest/siphash"
)

// Sentinels, to be tested with errors.Is. The errors that wrap them say what was
// wrong. What a form can't do wraps errors.ErrUnsupported instead.
var (
	// ErrVersion: the header is of a version that this package doesn't know.
	ErrVersion = errors.New("unknown version")
	// ErrMalformed: the header is none, is cut off, or holds what no sender writes.
	ErrMalformed = errors.New("malformed header")
)

func malformed(format string, a ...any) error {
	return fmt.Errorf("inpacket: "+format+": %w", append(a, ErrMalformed)...)
}

func cut(have, want int) error {
	return malformed("%d bytes, want at least %d", have, want)
}

// check returns an error unless h is as its fields' comments say.
func (h *Header) check() error {
	if h.Bits < 1 || h.Bits > MaxBits {
		return malformed("a filter of %d bits, want 1 to %d", h.Bits, MaxBits)
	}
	if want := (h.Bits + 7) >> 3; len(h.Filter) != want {
		return malformed("a filter of %d bytes for %d bits, want %d", len(h.Filter), h.Bits, want)
	}
	if used := h.Bits & 7; used != 0 && h.Filter[len(h.Filter)-1]>>used != 0 {
		return malformed("last byte %#x of a filter of %d bits, want zeros from bit %d on", h.Filter[len(h.Filter)-1], h.Bits, used)
	}
	if !h.Sequenced && h.Source|h.Sequence != 0 {
		return malformed("source %d and sequence %d in a packet without: set Sequenced", h.Source, h.Sequence)
	}
	if h.Trace != nil && (h.Trace.Capacity < 0 || h.Trace.Capacity > 255 || len(h.Trace.Nodes) > h.Trace.Capacity) {
		return malformed("a trace of %d nodes with room for %d, want room for them and at most 255", len(h.Trace.Nodes), h.Trace.Capacity)
	}
	return h.checkForm()
}

func (h *Header) checkForm() error {
	if h.K > 15 {
		return malformed("K is %d, want at most 15", h.K)
	}
	switch h.Form {
	case Single, Staged, Folded:
		if h.K == 0 {
			return malformed("K is 0, want 1 to 15")
		}
	case Linear:
	case Dense:
		if h.K != 0 {
			return malformed("K is %d in a filter of stored codewords, want 0", h.K)
		}
	default:
		return malformed("form %d, want 0 to %d", h.Form, Dense)
	}
	if h.Form == Folded {
		if h.Seed != 0 {
			return malformed("seed %d in a folded filter, want 0", h.Seed)
		}
		if FoldBase%h.Bits != 0 {
			return malformed("a folded filter of %d bits, want a divisor of %d", h.Bits, FoldBase)
		}
	}
	if h.Form == Staged {
		return checkStages(h.Filter, h.Bits)
	}
	return nil
}

// Form is how a header's filter holds links. Values are those on the wire and are
// never given another meaning.
type Form uint8

const (
	// Single is one Bloom filter of any length m: K positions a link, by range
	// mapping, from the link's codeword and the header's seed. Links are added by OR.
	Single Form = iota
	// Staged is one Bloom filter for each hop, the one for the last hop first, each
	// with a seed and a length of its own: a router asks that of the TTL it sees.
	Staged
	// Folded is Single with the seed 0 and a length that divides [FoldBase], so that a
	// router may keep the positions of a link at that length and divide them. Links
	// are added by OR.
	Folded
	// Linear is up to four planes of bits, solved from the links of the tree and
	// those next to it: a link is held if the parity of its row and each plane is odd.
	// It is the shortest form for trees of more than a few links.
	Linear
	// Dense is a Bloom filter of stored codewords, arrays of bits of which the first
	// m are compared: LIPSIN's, and the truncated ones of Heszberger et al. The seed
	// says which of a link's stored codewords.
	Dense
)

// FoldBase is the length at which positions of the form [Folded] are kept: no
// smaller number has as many divisors, 120.
const FoldBase = 55440

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
