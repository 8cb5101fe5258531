package store

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// A batch is the changes of many filters in a row:
//
//	batch   version 1 | flags 1 | position of the first change that ends in it | records
//	record  code 1 | filter, unless it is that of the record before | what the code says:
//	        OpDelete, OpClear, OpSeal, OpFlush: nothing
//	        OpExpire, OpFold, OpUnfold, OpAdvance: number
//	        OpRename: length, name
//	        OpAdd, OpRemove: count | digests, 16 each
//	        OpWrite: part | plane | offset | last 1 | length, data
//
// Each record is one change, whose position is one more than that of the change before.
// What is long, or has cells, is a row of records instead, between which those of other
// filters may stand. It has the position of its end:
//
//	begin   code with codeLong 1 | filter | number | part | plane | last 1 | length of the head
//	piece   codeHead 1 | filter | length, bytes: the head goes on
//	        codeCells 1 | filter | plane | offset in bytes | length, bytes: words of a plane
//	end     codeEnd 1 | filter
//	abort   codeAbort 1 | filter: the change is not made, but has a position
//
// The head is the name for OpRename, the data for OpWrite, the name behind its length and
// the shape for OpCreate, the shape for OpReplace. Cells that no piece has are zero. A row
// without its end was never acknowledged. Numbers are unsigned LEB128, part is zigzag,
// digests and words are little-endian.
const (
	batchVersion = 1
	// batchSession, in the flags, says that the batch is the first of a process: rows that
	// are open never get their end.
	batchSession = 1

	codeAbort = 0x1c
	codeCells = 0x1d
	codeHead  = 0x1e
	codeEnd   = 0x1f
	codeMask  = 0x1f
	codeLong  = 0x40
	codeSame  = 0x80

	// maxHeader is the longest batch header, and maxFixed the longest record without its
	// name, digests, data or cells.
	maxHeader = 2 + binary.MaxVarintLen64
	maxFixed  = 3 + 5*binary.MaxVarintLen64

	digestBytes = 16
	// maxDigests is how many go to one record: what comes at once beyond that becomes
	// several changes.
	maxDigests = 4096
	// maxPiece is how much of a long change is written at a time, and what a change that
	// is one record has at most: other filters get their turn in between.
	maxPiece = 64 << 10
	// zeroWords is the grain in which cells that are zero are left out.
	zeroWords = 512
)

// Every record fits into a batch.
const _ = uint(oplog.MaxBatch - maxHeader - maxFixed - maxPiece)

// batch is changes on their way to the log.
type batch struct {
	bytes        []byte
	filter       uint64          // of the record before
	first        engine.Position // of the first change that ends in it
	last         engine.Position // of the last that does, or of the one before
	since        time.Time       // of its first change
	begun, ended []*row
	settled      chan struct{} // closed when the batch is kept, and when that fails
}

// row is a long change that is being written.
type row struct{ begin uint64 } // number of the batch of its beginning, once that is kept

func (b *batch) start(first engine.Position, session bool) {
	flags := byte(0)
	if session {
		flags = batchSession
	}
	b.first, b.last = first, first-1
	b.bytes = binary.AppendUvarint(append(b.bytes[:0], batchVersion, flags), uint64(first))
}

// code appends the beginning of a record.
func (b *batch) code(code byte, filter uint64) {
	if filter == b.filter {
		b.bytes = append(b.bytes, code|codeSame)
		return
	}
	b.filter = filter
	b.bytes = binary.AppendUvarint(append(b.bytes, code), filter)
}

func (b *batch) uvarint(v uint64) { b.bytes = binary.AppendUvarint(b.bytes, v) }

func (b *batch) flag(v bool) {
	if v {
		b.bytes = append(b.bytes, 1)
	} else {
		b.bytes = append(b.bytes, 0)
	}
}

// short appends a change that is one record.
func (b *batch) short(c *engine.Change) {
	b.code(byte(c.Op), c.Filter)
	switch c.Op {
	case engine.OpExpire, engine.OpFold, engine.OpUnfold, engine.OpAdvance:
		b.uvarint(c.Number)
	case engine.OpRename:
		b.bytes = appendText(b.bytes, c.Name)
	case engine.OpWrite:
		b.bytes = binary.AppendVarint(b.bytes, int64(c.Part))
		b.uvarint(uint64(c.Array))
		b.uvarint(c.Number)
		b.flag(c.Last)
		b.uvarint(uint64(len(c.Data)))
		b.bytes = append(b.bytes, c.Data...)
	}
	b.last++
}

// digests appends a change of up to maxDigests digests.
func (b *batch) digests(op engine.Op, filter uint64, ds []umbel.Digest) {
	b.code(byte(op), filter)
	b.uvarint(uint64(len(ds)))
	at := len(b.bytes)
	b.bytes = b.bytes[:at+len(ds)*digestBytes]
	putDigests(b.bytes[at:], ds)
	b.last++
}

// begin appends the beginning of a long change.
func (b *batch) begin(c *engine.Change, head int) {
	b.code(byte(c.Op)|codeLong, c.Filter)
	b.uvarint(c.Number)
	b.bytes = binary.AppendVarint(b.bytes, int64(c.Part))
	b.uvarint(uint64(c.Array))
	b.flag(c.Last)
	b.uvarint(uint64(head))
}

func (b *batch) head(filter uint64, piece []byte) {
	b.code(codeHead, filter)
	b.uvarint(uint64(len(piece)))
	b.bytes = append(b.bytes, piece...)
}

func (b *batch) cells(filter uint64, plane int, offset uint64, words []uint64) {
	b.code(codeCells, filter)
	b.uvarint(uint64(plane))
	b.uvarint(offset)
	b.uvarint(uint64(len(words)) * 8)
	at := len(b.bytes)
	b.bytes = b.bytes[:at+len(words)*8]
	putWords(b.bytes[at:], words)
}

func (b *batch) end(filter uint64) {
	b.code(codeEnd, filter)
	b.last++
}

// abort appends the end of a long change that is not made.
func (b *batch) abort(filter uint64) {
	b.code(codeAbort, filter)
	b.last++
}

// isLong reports whether a change becomes a row of records.
func isLong(c *engine.Change) bool {
	return c.State != nil || len(c.Name) > maxPiece || len(c.Data) > maxPiece
}

// longHead returns the head of a long change.
func longHead(c *engine.Change) []byte {
	switch c.Op {
	case engine.OpCreate:
		return appendShape(appendText(nil, c.Name), c.State)
	case engine.OpReplace:
		return appendShape(nil, c.State)
	case engine.OpRename:
		return []byte(c.Name)
	}
	return c.Data
}

// runs calls yield with the parts of words that are not all zero, up to maxPiece bytes
// each, and where they begin, until it returns false.
func runs(words []uint64, yield func(offset uint64, run []uint64) bool) bool {
	for at := 0; at < len(words); {
		end := at
		for end < len(words) && end-at < maxPiece/8 {
			unit := words[end:min(end+zeroWords, len(words))]
			if allZero(unit) {
				break
			}
			end += len(unit)
		}
		if end == at {
			at += zeroWords
			continue
		}
		if !yield(uint64(at)*8, words[at:end]) {
			return false
		}
		at = end
	}
	return true
}

func allZero(words []uint64) bool {
	var or uint64
	for _, w := range words {
		or |= w
	}
	return or == 0
}

func putDigests(dst []byte, ds []umbel.Digest) {
	for i, d := range ds {
		at := dst[i*digestBytes : i*digestBytes+digestBytes]
		binary.LittleEndian.PutUint64(at, d.H1)
		binary.LittleEndian.PutUint64(at[8:], d.H2)
	}
}

func getDigests(dst []umbel.Digest, src []byte) []umbel.Digest {
	for ; len(src) >= digestBytes; src = src[digestBytes:] {
		dst = append(dst, umbel.Digest{H1: binary.LittleEndian.Uint64(src), H2: binary.LittleEndian.Uint64(src[8:])})
	}
	return dst
}

// name returns what an op is called in errors.
func name(op engine.Op) string {
	names := [...]string{"", "create", "delete", "rename", "expire", "add", "remove", "clear", "fold", "unfold", "advance", "seal", "replace", "write", "flush"}
	if int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("operation %d", op)
}
