package bier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Lengths of bit strings: powers of two, the field BSL says which.
const (
	MinBSL = 64
	MaxBSL = 4096
)

// fixed is the length of a header before its bit string.
const fixed = 12

// Errors of [Header.Parse].
var (
	ErrMalformed = errors.New("not a header")
	ErrVersion   = errors.New("unknown version")
)

// Header is what a packet begins with: RFC 8296, section 2, in network byte order.
//
//	 0               1               2               3
//	|               BIFT-id                 | TC  |S|      TTL      |
//	|0 1 0 1|version|  BSL  |               entropy                 |
//	|OAM|Rsv|   DSCP    |   proto   |            BFIR-id            |
//	|                bit string, BSL bits                           …
//
// The version is 0; Rsv is written as zero and not read.
type Header struct {
	BIFT    uint32 // whose table the bits are looked up in, 20 bits
	TC      uint8  // traffic class, 3 bits; without MPLS it means nothing
	S       bool   // bottom of the stack of labels; without MPLS it means nothing
	TTL     uint8
	Entropy uint32 // for choosing among equal paths, 20 bits
	OAM     uint8  // for measurements, 2 bits
	DSCP    uint8  // class of service, 6 bits
	Proto   uint8  // what comes after the header, 6 bits
	BFIR    uint16 // the router that made the header
	// Bits is the bit string, BSL/8 bytes: bit 0, the RFC's bit position 1, is the
	// lowest of the last byte.
	Bits []byte
}

// AppendBinary appends the header to dst. It is an error, and dst comes back as it
// was, if a field is beyond its bits or Bits isn't of a length that there is.
func (h *Header) AppendBinary(dst []byte) ([]byte, error) {
	if h.BIFT >= 1<<20 || h.TC >= 1<<3 || h.Entropy >= 1<<20 || h.OAM >= 1<<2 || h.DSCP >= 1<<6 || h.Proto >= 1<<6 {
		return dst, fmt.Errorf("bier: a field is beyond its bits: BIFT-id %d, TC %d, entropy %d, OAM %d, DSCP %d, proto %d, want below %d, %d, %d, %d, %d, %d",
			h.BIFT, h.TC, h.Entropy, h.OAM, h.DSCP, h.Proto, 1<<20, 1<<3, 1<<20, 1<<2, 1<<6, 1<<6)
	}
	length := 8 * len(h.Bits)
	if length < MinBSL || length > MaxBSL || length&(length-1) != 0 {
		return dst, fmt.Errorf("bier: bit string of %d bits, want a power of two from %d to %d", length, MinBSL, MaxBSL)
	}
	first := h.BIFT<<12 | uint32(h.TC)<<9 | uint32(h.TTL)
	if h.S {
		first |= 1 << 8
	}
	dst = binary.BigEndian.AppendUint32(dst, first)
	dst = binary.BigEndian.AppendUint32(dst, mark<<28|code(length)<<20|h.Entropy)
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.OAM)<<30|uint32(h.DSCP)<<22|uint32(h.Proto)<<16|uint32(h.BFIR))
	return append(dst, h.Bits...), nil
}

// Parse reads the header that b begins with, and returns its length. Bits shares b.
// On an error, ErrMalformed or ErrVersion, h is as it was.
func (h *Header) Parse(b []byte) (n int, err error) {
	if len(b) < fixed {
		return 0, fmt.Errorf("bier: %d bytes, want at least %d: %w", len(b), fixed, ErrMalformed)
	}
	first, second, third := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if second>>28 != mark {
		return 0, fmt.Errorf("bier: the fifth byte begins with %#x, want %#x: %w", second>>28, mark, ErrMalformed)
	}
	if v := second >> 24 & 15; v != 0 {
		return 0, fmt.Errorf("bier: version %d, want 0: %w", v, ErrVersion)
	}
	c := second >> 20 & 15
	if c < code(MinBSL) || c > code(MaxBSL) {
		return 0, fmt.Errorf("bier: code %d of the length of the bit string, want %d to %d: %w", c, code(MinBSL), code(MaxBSL), ErrMalformed)
	}
	n = fixed + 4<<c
	if len(b) < n {
		return 0, fmt.Errorf("bier: %d bytes, want at least %d for %d bits: %w", len(b), n, 32<<c, ErrMalformed)
	}
	*h = Header{
		BIFT: first >> 12, TC: uint8(first >> 9 & 7), S: first>>8&1 != 0, TTL: uint8(first),
		Entropy: second & (1<<20 - 1),
		OAM:     uint8(third >> 30), DSCP: uint8(third >> 22 & 63), Proto: uint8(third >> 16 & 63), BFIR: uint16(third),
		Bits: b[fixed:n:n],
	}
	return n, nil
}

// mark is the nibble that tells a header from one of IP behind labels of MPLS.
const mark = 5

// code returns what the field BSL has for a length: 1 for 64, 7 for 4096.
func code(length int) uint32 { return uint32(bits.TrailingZeros(uint(length))) - 5 }

// setBit sets bit i of a bit string of bytes.
func setBit(s []byte, i int) { s[len(s)-1-i>>3] |= 1 << (i & 7) }

// load reads a bit string into words, bit i as bit i&63 of word i>>6. (Both count
// down the bytes so that their bounds are checked once.)
func load(words []uint64, s []byte) {
	for i := range words {
		n := len(s) - 8
		words[i] = binary.BigEndian.Uint64(s[n:])
		s = s[:n]
	}
}

// store writes words as a bit string.
func store(s []byte, words []uint64) {
	for _, w := range words {
		n := len(s) - 8
		binary.BigEndian.PutUint64(s[n:], w)
		s = s[:n]
	}
}

// ErrTooLarge says that a network has more nodes, links or hops than packets of
// the scheme can name.
var ErrTooLarge = errors.New("network too large")

// Options are choices that a domain's routers have in common.
type Options struct {
	// MaxBSL is the longest bit string that the routers know, a power of two from 64
	// to 4096; zero is 4096, the longest there is. Many in use end at 256.
	MaxBSL int

	// Metric is what BIER's paths are short by; that of the trees they are compared
	// with. BIER-TE has no paths of its own.
	Metric tree.Metric
}

// longest returns the longest bit string that may be used.
func (o Options) longest() (int, error) {
	switch m := o.MaxBSL; {
	case m == 0:
		return MaxBSL, nil
	case m < MinBSL || m > MaxBSL || m&(m-1) != 0:
		return 0, fmt.Errorf("bier: bit strings of up to %d bits, want a power of two from %d to %d", m, MinBSL, MaxBSL)
	default:
		return m, nil
	}
}

// fitting returns the length of the shortest bit string that has so many bits.
func fitting(n int) int {
	return max(MinBSL, 1<<bits.Len(uint(max(1, n)-1)))
}

// Subdomains keep apart the tables of BIER and BIER-TE, which one router may have
// both of: RFC 9262, section 4.3.
const (
	plain      = 0
	engineered = 1
)

// bift returns the id of a table, made of the length of the bit strings, the
// subdomain and the set: draft-ietf-bier-non-mpls-bift-encoding.
func bift(length, subdomain, set int) uint32 {
	return code(length)<<16 | uint32(subdomain)<<8 | uint32(set)
}

// maxSets is how many sets a table's id can name.
const maxSets = 1 << 8

// maxTTL is what headers begin with; a path may have as many hops.
const maxTTL = 255
