// Package inpacket encodes a set of links into a packet: the header contains a filter of
// a few dozen bytes, and each router queries the filter for its own links. Routers keep
// no state per group. Jokela et al. 2009 (LIPSIN) and Heszberger et al. 2010 describe the
// method.
//
// A link has a secret [Key], from which each epoch derives a [Codeword]. The sender knows
// the links of a tree and the links next to it. It searches for the shortest filter that
// contains the former and none of the latter ([Search]). A router has the codewords of
// its own links in a [Table], which returns the links that the filter of a [Header]
// contains.
//
// Filters have several forms; see [Form]. No value that a router and a sender must agree
// on is computed in floating point. The encoding is specified in spec/inpacket.md.
package inpacket

import (
	"encoding/binary"
	"errors"

	"github.com/dchest/siphash"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The errors of this package wrap these sentinels. Operations that a form does not
// support wrap errors.ErrUnsupported instead.
var (
	// ErrVersion means that the header has a version that this package doesn't know.
	ErrVersion = errors.New("unknown version")
	// ErrMalformed means that the header is not valid or is cut off.
	ErrMalformed = errors.New("malformed header")
)

func malformed(format string, a ...any) error {
	return sentinel.Errorf(ErrMalformed, ""+format, a...)
}

func cut(have, want int) error {
	return malformed("%d bytes, want at least %d", have, want)
}

// check returns an error unless the fields of h are as their comments require.
func (h *Header) check() error {
	if h.Bits < 1 || h.Bits > MaxBits {
		return malformed("a filter of %d bits, want 1 to %d", h.Bits, MaxBits)
	}
	if want := (h.Bits + 7) >> 3; len(h.Filter) != want {
		return malformed("the filter has %d bytes for %d bits, want %d", len(h.Filter), h.Bits, want)
	}
	if used := h.Bits & 7; used != 0 && h.Filter[len(h.Filter)-1]>>used != 0 {
		return malformed("the last byte of a filter of %d bits is %#x, want zeros from bit %d on", h.Bits, h.Filter[len(h.Filter)-1], used)
	}
	if !h.Sequenced && h.Source|h.Sequence != 0 {
		return malformed("source %d and sequence %d without Sequenced", h.Source, h.Sequence)
	}
	if h.Trace != nil && (h.Trace.Capacity < 0 || h.Trace.Capacity > 255 || len(h.Trace.Nodes) > h.Trace.Capacity) {
		return malformed("a trace of %d nodes with capacity %d, want at most the capacity, and that at most 255", len(h.Trace.Nodes), h.Trace.Capacity)
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
	case Linear, Deep, Complement:
	case Dense:
		if h.K != 0 {
			return malformed("K is %d in a filter of stored codewords, want 0", h.K)
		}
	default:
		return malformed("form %d, want 0 to %d, %d or %d", h.Form, Dense, Deep, Complement)
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

// Form is the representation of a filter. The values are those on the wire and are never
// given another meaning.
type Form uint8

const (
	// Single is one Bloom filter of any length m. A link has K positions, which range
	// reduction derives from the link's codeword and the header's seed. Links are added
	// by OR.
	Single Form = iota
	// Staged is one Bloom filter per hop, the one for the last hop first, each with its
	// own seed and length. A router queries the filter for the TTL of the packet.
	Staged
	// Folded is Single with seed 0 and a length that divides [FoldBase]: a router can
	// store a link's positions at that length and divide them. Links are added by OR.
	Folded
	// Linear is one to four sections of bits, solved from the links of the tree and the
	// links next to it. The filter contains a link if the parity of the link's row and
	// each section is odd. This is the shortest form for trees of more than a few links.
	Linear
	// Dense is a Bloom filter of stored codewords, which are bit arrays; their
	// first m bits are compared: those of LIPSIN, and the truncated ones of Heszberger et
	// al. The seed selects one of a link's stored codewords.
	Dense
	_ // 5: routers refuse it
	// Deep is Linear with five to eight sections, for trees next to more than about twenty
	// times as many other links.
	Deep
	// Complement is Linear with two sections, for the links that the filter must not match:
	// it contains a link unless the parity of the link's row and both sections is odd. It is
	// the shortest form for trees with more than about twice as many links as are next to
	// them. A link that was not added matches with probability 3/4, which is why the form
	// has no more sections.
	Complement
)

// FoldBase is the length at which positions of the form [Folded] are stored. It has 120
// divisors; no smaller number has as many.
const FoldBase = 55440

// Key is the secret of a network, from which the keys of its links derive, or of one link
// in one direction. Anyone who knows the key of a link can send packets over it. Nobody else
// can make filters that contain the link, except by chance.
type Key [16]byte

// Derive returns the key that derives from k for a label, for example a link: SipHash-128
// of the label under k.
func (k Key) Derive(label []byte) Key {
	lo, hi := k.hash(label)
	var d Key
	binary.LittleEndian.PutUint64(d[:8], lo)
	binary.LittleEndian.PutUint64(d[8:], hi)
	return d
}

// Codeword is derived from a link's key for one epoch. It is the seed of all bits that
// represent the link in filters of that epoch. It is secret like the key until the epoch
// ends.
type Codeword struct{ H1, H2 uint64 }

// Codeword returns the codeword of the link with key k in an epoch: SipHash-128 of the
// two bytes of the epoch, high byte first, under k.
func (k Key) Codeword(epoch uint16) Codeword {
	h1, h2 := k.hash([]byte{byte(epoch >> 8), byte(epoch)})
	return Codeword{h1, h2}
}

func (k Key) hash(b []byte) (uint64, uint64) {
	return siphash.Hash128(binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:]), b)
}
