package inpacket

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Version is the version of the headers that this package reads and writes.
const Version = 1

// FixedSize is the size in bytes of a header before its filter.
const FixedSize = 12

// MaxBits is the largest number of bits of a filter.
const MaxBits = 1<<16 - 1

// The flags of a header, in the low half of its first byte.
const (
	flagTrace    = 8
	flagSequence = 4
	flagWide     = 2
	flagReserved = 1
)

// Header is the first part of a packet. It contains the set of links that the packet is
// sent over, and what else routers and receivers need. On the wire, in network byte
// order:
//
//	 0               1               2               3
//	+-------+-------+---------------+-------+-------+---------------+
//	|version| TQW 0 |      TTL      |   K   | form  |  seed, low    |
//	+-------+-------+---------------+-------+-------+---------------+
//	|          bits m (16)          |          epoch (16)           |
//	+-------------------------------+-------------------------------+
//	|                            group (32)                         |
//	+---------------------------------------------------------------+
//	| seed, high (8, with W) | filter (⌈m/8⌉ bytes) | zeros to 32 n |
//	+---------------------------------------------------------------+
//	| source (32), sequence (32), with Q                            |
//	+---------------+---------------+-------------------------------+
//	| T: count      | capacity      | zeros                         |
//	+---------------+---------------+-------------------------------+
//	| nodes (32 each), capacity of them                             |
//	+---------------------------------------------------------------+
//
// The payload follows. A header has exactly one encoding.
type Header struct {
	TTL  uint8 // number of links that the packet may still traverse, one after the other
	Form Form
	K    uint8 // positions per link, 1 to 15; for forms with sections 0 to 15, see Sections; for Dense 0

	// Seed selects one of the filters with the same links. For Dense it selects one of a
	// link's stored codewords; for Folded it is 0.
	Seed uint16

	Bits   int    // m, 1 to MaxBits; for Folded, a divisor of FoldBase
	Epoch  uint16 // the epoch of the filter's codewords
	Group  uint32 // identifies the packet to receivers
	Filter []byte // ⌈m/8⌉ bytes; bit b is bit b&7 of byte b>>3; bits from m on are zero

	Sequenced        bool   // whether the packet has a source and a sequence number
	Source, Sequence uint32 // 0 unless Sequenced

	Trace *Trace // the nodes that the packet passed, or nil
}

// Size returns the size of h in bytes, as written by AppendBinary.
func (h *Header) Size() int {
	size := FixedSize + filterField(h.Seed > 0xff, len(h.Filter))
	if h.Sequenced {
		size += sequenceSize
	}
	if h.Trace != nil {
		size += traceHead + h.Trace.Capacity*nodeSize
	}
	return size
}

const sequenceSize = 8

// filterField returns the size in bytes of the filter, the padding and, if wide, the high
// byte of the seed.
func filterField(wide bool, filter int) int {
	if wide {
		filter++
	}
	return (filter + 3) &^ 3
}

// AppendBinary appends h to dst. It returns dst unchanged and an error wrapping
// [ErrMalformed] if a field of h is not as its comment requires.
func (h *Header) AppendBinary(dst []byte) ([]byte, error) {
	if err := h.check(); err != nil {
		return dst, err
	}
	first := byte(Version << 4)
	wide := h.Seed > 0xff
	if wide {
		first |= flagWide
	}
	if h.Sequenced {
		first |= flagSequence
	}
	if h.Trace != nil {
		first |= flagTrace
	}
	dst = append(dst, first, h.TTL, h.K<<4|byte(h.Form), byte(h.Seed))
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.Bits))
	dst = binary.BigEndian.AppendUint16(dst, h.Epoch)
	dst = binary.BigEndian.AppendUint32(dst, h.Group)
	used := len(h.Filter)
	if wide {
		dst = append(dst, byte(h.Seed>>8))
		used++
	}
	dst = append(dst, h.Filter...)
	for ; used&3 != 0; used++ {
		dst = append(dst, 0)
	}
	if h.Sequenced {
		dst = binary.BigEndian.AppendUint32(dst, h.Source)
		dst = binary.BigEndian.AppendUint32(dst, h.Sequence)
	}
	if h.Trace != nil {
		dst = h.Trace.append(dst)
	}
	return dst, nil
}

// Parse reads the header at the beginning of a packet and returns its size n; the payload
// is packet[n:]. h.Filter shares the packet's memory. Parse allocates only the nodes of a
// trace.
//
// It returns an error wrapping [ErrVersion] or [ErrMalformed] if the header is not valid;
// on error h is unchanged. AppendBinary writes a parsed header with the same bytes.
func (h *Header) Parse(packet []byte) (n int, err error) {
	if len(packet) > 0 && packet[0]>>4 != Version {
		return 0, sentinel.Errorf(ErrVersion, "header of version %d, want %d", packet[0]>>4, Version)
	}
	if len(packet) < FixedSize {
		return 0, cut(len(packet), FixedSize)
	}
	flags := packet[0] & 15
	if flags&flagReserved != 0 {
		return 0, malformed("the reserved flag is set, want 0")
	}
	p := Header{
		TTL:   packet[1],
		Form:  Form(packet[2] & 15),
		K:     packet[2] >> 4,
		Seed:  uint16(packet[3]),
		Bits:  int(binary.BigEndian.Uint16(packet[4:])),
		Epoch: binary.BigEndian.Uint16(packet[6:]),
		Group: binary.BigEndian.Uint32(packet[8:]),
	}
	wide, size := flags&flagWide != 0, (p.Bits+7)>>3
	n = FixedSize + filterField(wide, size)
	if len(packet) < n {
		return 0, cut(len(packet), n)
	}
	at := FixedSize
	if wide {
		if packet[at] == 0 {
			return 0, malformed("a wide seed of %d, want at least 256", p.Seed)
		}
		p.Seed |= uint16(packet[at]) << 8
		at++
	}
	p.Filter = packet[at : at+size : at+size]
	for _, b := range packet[at+size : n] {
		if b != 0 {
			return 0, malformed("padding of %#x after the filter, want 0", b)
		}
	}
	if flags&flagSequence != 0 {
		if len(packet) < n+sequenceSize {
			return 0, cut(len(packet), n+sequenceSize)
		}
		p.Sequenced = true
		p.Source = binary.BigEndian.Uint32(packet[n:])
		p.Sequence = binary.BigEndian.Uint32(packet[n+4:])
		n += sequenceSize
	}
	if err := p.check(); err != nil {
		return 0, err
	}
	if flags&flagTrace != 0 {
		trace, err := parseTrace(packet, n)
		if err != nil {
			return 0, err
		}
		p.Trace = trace
		n += traceHead + trace.Capacity*nodeSize
	}
	*h = p
	return n, nil
}
