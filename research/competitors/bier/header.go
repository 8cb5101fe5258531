package bier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Limits of the length of bit strings in bits. Lengths are powers of two; the field BSL
// encodes them.
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

// Header is the header of a packet: RFC 8296, section 2, in network byte order.
//
//	 0               1               2               3
//	|               BIFT-id                 | TC  |S|      TTL      |
//	|0 1 0 1|version|  BSL  |               entropy                 |
//	|OAM|Rsv|   DSCP    |   proto   |            BFIR-id            |
//	|                bit string, BSL bits                           …
//
// The version is 0. Rsv is written as zero and ignored when read.
type Header struct {
	BIFT    uint32 // the table of the bits, 20 bits
	TC      uint8  // traffic class, 3 bits; unused without MPLS
	S       bool   // bottom of the label stack; unused without MPLS
	TTL     uint8
	Entropy uint32 // for the choice among equal paths, 20 bits
	OAM     uint8  // for measurements, 2 bits
	DSCP    uint8  // class of service, 6 bits
	Proto   uint8  // protocol after the header, 6 bits
	BFIR    uint16 // the router that made the header
	// Bits is the bit string, BSL/8 bytes. Bit 0, the RFC's bit position 1, is the lowest
	// bit of the last byte.
	Bits []byte
}

// AppendBinary appends the header to dst. It returns dst unchanged and an error if a
// value doesn't fit in its field or if the length of Bits is not valid.
func (h *Header) AppendBinary(dst []byte) ([]byte, error) {
	if h.BIFT >= 1<<20 || h.TC >= 1<<3 || h.Entropy >= 1<<20 || h.OAM >= 1<<2 || h.DSCP >= 1<<6 || h.Proto >= 1<<6 {
		return dst, fmt.Errorf("bier: a value does not fit in its field: BIFT-id %d, TC %d, entropy %d, OAM %d, DSCP %d, proto %d, want below %d, %d, %d, %d, %d, %d",
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

// Parse reads the header at the beginning of b and returns its length. Bits shares the
// memory of b. It returns an error wrapping ErrMalformed or ErrVersion; on error h is
// unchanged.
func (h *Header) Parse(b []byte) (n int, err error) {
	if len(b) < fixed {
		return 0, sentinel.Errorf(ErrMalformed, "bier: %d bytes, want at least %d", len(b), fixed)
	}
	first, second, third := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if second>>28 != mark {
		return 0, sentinel.Errorf(ErrMalformed, "bier: the fifth byte begins with %#x, want %#x", second>>28, mark)
	}
	if v := second >> 24 & 15; v != 0 {
		return 0, sentinel.Errorf(ErrVersion, "bier: version %d, want 0", v)
	}
	c := second >> 20 & 15
	if c < code(MinBSL) || c > code(MaxBSL) {
		return 0, sentinel.Errorf(ErrMalformed, "bier: bit string length code %d, want %d to %d", c, code(MinBSL), code(MaxBSL))
	}
	n = fixed + 4<<c
	if len(b) < n {
		return 0, sentinel.Errorf(ErrMalformed, "bier: %d bytes, want at least %d for %d bits", len(b), n, 32<<c)
	}
	*h = Header{
		BIFT: first >> 12, TC: uint8(first >> 9 & 7), S: first>>8&1 != 0, TTL: uint8(first),
		Entropy: second & (1<<20 - 1),
		OAM:     uint8(third >> 30), DSCP: uint8(third >> 22 & 63), Proto: uint8(third >> 16 & 63), BFIR: uint16(third),
		Bits: b[fixed:n:n],
	}
	return n, nil
}

// mark is the nibble that distinguishes this header from an IP header after MPLS labels.
const mark = 5

// code returns the value of the field BSL for a length: 1 for 64, 7 for 4096.
func code(length int) uint32 { return uint32(bits.TrailingZeros(uint(length))) - 5 }

// setBit sets bit i of a bit string.
func setBit(s []byte, i int) { s[len(s)-1-i>>3] |= 1 << (i & 7) }

// load reads a bit string into words: bit i is bit i&63 of word i>>6. (load and store
// iterate backwards over the bytes, so that bounds are checked once.)
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

// ErrTooLarge means that a network has more nodes, links or hops than packets of the
// scheme can represent.
var ErrTooLarge = errors.New("network too large")

// Options are the options that the routers of a domain share.
type Options struct {
	// MaxBSL is the longest bit string that the routers support, a power of two from 64
	// to 4096; 0 means 4096. Many deployed routers support at most 256.
	MaxBSL int

	// Metric is the metric of BIER's shortest paths: that of the trees with which they
	// are compared. BIER-TE has no paths of its own.
	Metric tree.Metric
}

// longest returns the longest bit string that may be used.
func (o Options) longest() (int, error) {
	switch m := o.MaxBSL; {
	case m == 0:
		return MaxBSL, nil
	case m < MinBSL || m > MaxBSL || m&(m-1) != 0:
		return 0, fmt.Errorf("bier: MaxBSL is %d bits, want a power of two from %d to %d", m, MinBSL, MaxBSL)
	default:
		return m, nil
	}
}

// fitting returns the length of the shortest bit string with at least n bits.
func fitting(n int) int {
	return max(MinBSL, 1<<bits.Len(uint(max(1, n)-1)))
}

// Subdomains separate the tables of BIER and BIER-TE, so that one router may have both:
// RFC 9262, section 4.3.
const (
	plain      = 0
	engineered = 1
)

// bift returns the id of a table, which consists of the length of the bit strings, the
// subdomain and the set: draft-ietf-bier-non-mpls-bift-encoding.
func bift(length, subdomain, set int) uint32 {
	return code(length)<<16 | uint32(subdomain)<<8 | uint32(set)
}

// maxSets is the number of sets that a table id can distinguish.
const maxSets = 1 << 8

// maxTTL is the initial TTL of headers, and so the largest number of hops of a path.
const maxTTL = 255
