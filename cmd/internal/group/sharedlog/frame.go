package sharedlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/zeebo/xxh3"
)

// A frame is an entry as a medium keeps it:
//
//	offset  bytes
//	     0      3  "uml"
//	     3      1  version 1
//	     4      4  length n of the data
//	     8      4  length s of the scope
//	    12      1  kind
//	    13      3  zeros
//	    16     16  group
//	    32      8  number
//	    40      8  epoch
//	    48      8  index: the number of batches up to this entry
//	    56      8  number of the last claim before this entry, 0 if there is none
//	    64     16  writer: a random number of the process
//	    80     16  chain: the XXH3-128 of the frame before, zeros if there is none
//	    96      4  CRC-32C of bytes 0 to 95
//	   100      s  scope
//	 100+s      n  data
//	             4  CRC-32C of all bytes before
//
// Numbers are little-endian; hashes are in the canonical order of XXH3, most significant byte first.
// Sums and hashes detect faults of media and programs; they do not protect from people who can write to the medium.
const (
	frameVersion = 1
	headerBytes  = 100
	sumBytes     = 4
	// MaxFrame is the maximum number of bytes of a frame.
	MaxFrame = MaxValue
)

// window is the number of entries that a leader may have in flight, and the distance from a claim to the entry after
// it. It is part of the format.
const window = 16

// Kind is what an entry is.
type Kind uint8

const (
	Begin Kind = 1 // the first entry: its data are the settings of the group
	Batch Kind = 2 // changes of filters
	Claim Kind = 3 // begins an epoch: its writer leads from here on; its data describe the writer
	Beat  Kind = 4 // the leader has nothing to write
	Leave Kind = 5 // the leader leads no longer, and another may claim at once
)

var (
	// ErrDamaged is wrapped if a frame is not what its writer has put.
	ErrDamaged = errors.New("damaged entry")
	// ErrVersion is wrapped if a frame has a version that this program does not read.
	ErrVersion = errors.New("entry of another version")
)

var (
	magic      = [3]byte{'u', 'm', 'l'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

type (
	id   = [16]byte
	hash = [16]byte
)

// frame is an entry with everything that its encoding contains.
type frame struct {
	kind          Kind
	group, writer id
	number, epoch uint64
	index, claim  uint64
	chain         hash
	scope, data   []byte
}

// append appends the encoding of f to dst.
func (f *frame) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic[0], magic[1], magic[2], frameVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(f.data)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(f.scope)))
	dst = append(dst, byte(f.kind), 0, 0, 0)
	dst = append(dst, f.group[:]...)
	for _, v := range []uint64{f.number, f.epoch, f.index, f.claim} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	dst = append(dst, f.writer[:]...)
	dst = append(dst, f.chain[:]...)
	sum := crc32.Checksum(dst[start:], castagnoli)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	dst = append(append(dst, f.scope...), f.data...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// parseFrame parses a frame. Scope and data share memory with b. The error wraps ErrDamaged or ErrVersion.
func parseFrame(b []byte) (f frame, err error) {
	switch {
	case len(b) < headerBytes+sumBytes:
		return f, sentinel.Errorf(ErrDamaged, "%d bytes, want at least %d", len(b), headerBytes+sumBytes)
	case [3]byte(b) != magic:
		return f, sentinel.Errorf(ErrDamaged, "it begins with %x, want %x", b[:3], magic)
	case b[3] > frameVersion:
		return f, sentinel.Errorf(ErrVersion, "it has version %d, and this program reads versions up to %d: install a newer program", b[3], frameVersion)
	}
	for _, end := range []int{headerBytes - sumBytes, len(b) - sumBytes} {
		if got, want := crc32.Checksum(b[:end], castagnoli), binary.LittleEndian.Uint32(b[end:]); got != want {
			return f, sentinel.Errorf(ErrDamaged, "the CRC-32C of its first %d bytes is %08x, want %08x", end, got, want)
		}
	}
	n, s := uint64(binary.LittleEndian.Uint32(b[4:])), uint64(binary.LittleEndian.Uint32(b[8:]))
	if want := headerBytes + s + n + sumBytes; uint64(len(b)) != want || b[3] != frameVersion || b[13]|b[14]|b[15] != 0 {
		return f, sentinel.Errorf(ErrDamaged, "version %d and %d bytes, want version %d and %d bytes", b[3], len(b), frameVersion, want)
	}
	u := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
	return frame{
		kind: Kind(b[12]), group: id(b[16:]), number: u(32), epoch: u(40), index: u(48), claim: u(56),
		writer: id(b[64:]), chain: hash(b[80:]),
		scope: b[headerBytes : headerBytes+s : headerBytes+s], data: b[headerBytes+s : headerBytes+s+n : headerBytes+s+n],
	}, nil
}

// position returns the position after an entry with an encoding.
func (f *frame) position(encoded []byte) Position {
	p := Position{Group: f.group, Number: f.number, Epoch: f.epoch, Index: f.index, Claim: f.claim, Hash: xxh3.Hash128(encoded).Bytes()}
	if f.kind == Claim {
		p.Claim = f.number
	}
	return p
}

// Position is a place in a log, after an entry. The zero value is before the first entry.
type Position struct {
	Group  [16]byte // identity of the group
	Number uint64   // of the entry
	Epoch  uint64   // number of claims up to the entry
	Index  uint64   // number of batches up to the entry
	Claim  uint64   // number of the last claim up to the entry, 0 if there is none
	Hash   [16]byte // XXH3-128 of the entry
}

// PositionBytes is the number of bytes of an encoded Position.
const PositionBytes = 64

// AppendBinary appends the encoding of p to dst: its fields, little-endian. The error is nil.
func (p Position) AppendBinary(dst []byte) ([]byte, error) {
	dst = append(dst, p.Group[:]...)
	for _, v := range []uint64{p.Number, p.Epoch, p.Index, p.Claim} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return append(dst, p.Hash[:]...), nil
}

// UnmarshalBinary sets p to the position that b encodes.
func (p *Position) UnmarshalBinary(b []byte) error {
	if len(b) != PositionBytes {
		return fmt.Errorf("a position of %d bytes, want %d", len(b), PositionBytes)
	}
	u := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
	*p = Position{Group: id(b), Number: u(16), Epoch: u(24), Index: u(32), Claim: u(40), Hash: hash(b[48:])}
	return nil
}

// next returns the number of the entry after p.
func (p Position) next() uint64 {
	if p.Number != 0 && p.Number == p.Claim {
		return p.Number + window
	}
	return p.Number + 1
}

// follow checks that an entry is the one after p. Errors wrap ErrOtherGroup, ErrDamaged or ErrFork.
func (p Position) follow(f *frame) error {
	epoch, index := p.Epoch, p.Index
	switch f.kind {
	case Claim:
		epoch++
	case Batch:
		index++
	}
	switch {
	case f.group != p.Group && p.Number != 0:
		return sentinel.Errorf(ErrOtherGroup, "the entry belongs to group %x, want %x: each group needs its own prefix or stream", f.group, p.Group)
	case f.number != p.next():
		return sentinel.Errorf(ErrDamaged, "the entry of number %d is at number %d", f.number, p.next())
	case f.chain != p.Hash:
		return sentinel.Errorf(ErrFork, "the entry follows %x, and this node has %x before it: %s", f.chain, p.Hash, restored)
	case f.kind > Leave:
		return sentinel.Errorf(ErrVersion, "it has kind %d, and this program reads kinds up to %d: install a newer program", f.kind, Leave)
	case f.epoch != epoch || f.index != index || f.claim != p.Claim || f.kind == 0,
		f.kind == Begin != (p.Number == 0), f.kind == Begin != (f.epoch == 0):
		return sentinel.Errorf(ErrDamaged, "kind %d, epoch %d, index %d and claim %d, want epoch %d, index %d and claim %d",
			f.kind, f.epoch, f.index, f.claim, epoch, index, p.Claim)
	}
	return nil
}
