// Package changes encodes the changes of filters as batches, and decodes them. It does no I/O: package
// journal writes batches to the log, and package recovery replays them.
package changes

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// A batch contains changes of many filters:
//
//	batch   version 1 | flags 1 | position of the first change that ends in it | records
//	record  code 1 | filter, unless it is that of the record before | what the code says:
//	        OpDelete, OpClear, OpSeal, OpFlush, OpLose, OpAcknowledge: nothing
//	        OpExpire, OpFold, OpUnfold, OpAdvance: number
//	        OpRename: length, name
//	        OpMissNames: number | count
//	        OpAdd, OpRemove: count | digests, 16 each
//	        OpWrite: part | plane | offset | last 1 | length, data
//
// Each record is one change, whose position is one more than that of the previous change. A change that
// is long, or has cells, consists of several records. Those of other filters may be between them. It has
// the position of its end:
//
//	begin   code with codeLong 1 | filter | number | part | plane | last 1 | length of the head
//	piece   codeHead 1 | filter | length, bytes: the head goes on
//	        codeCells 1 | filter | plane | offset in bytes | length, bytes: words of a plane
//	end     codeEnd 1 | filter
//	abort   codeAbort 1 | filter: the change is not made, but has a position
//
// The head is the name for OpRename, the data for OpWrite, the name behind its length and
// the shape for OpCreate, the shape for OpReplace. Cells that no piece has are zero. A long
// change without its end was never acknowledged. Numbers are unsigned LEB128, part is zigzag,
// digests and words are little-endian.
const (
	batchVersion = 1
	// batchSession is a flag: the batch is the first of a process, and changes that are unfinished
	// before it stay so.
	batchSession = 1
	// batchLoss is a flag: the batch contains OpLose, OpMissNames, OpAcknowledge or an OpCreate with last.
	// Programs that do not know the flag do not read it.
	batchLoss = 2

	codeAbort = 0x1c
	codeCells = 0x1d
	codeHead  = 0x1e
	codeEnd   = 0x1f
	codeMask  = 0x1f
	codeLong  = 0x40
	codeSame  = 0x80

	// maxHeader is the maximum size of a batch without records, and maxFixed that of a record without
	// its name, digests, data or cells.
	maxHeader = 2 + binary.MaxVarintLen64
	maxFixed  = 3 + 5*binary.MaxVarintLen64

	digestBytes = 16
	// maxPiece is the maximum size of a part of a long change, and of the data of any other change.
	maxPiece = 64 << 10
	// zeroWords is the granularity in words with which cells that are zero are omitted.
	zeroWords = 512
)

const (
	// MaxBatch is the maximum size of a batch in bytes.
	MaxBatch = 768 << 10
	// MaxDigests is the maximum number of digests of a change.
	MaxDigests = 4096
	// EndBytes is the maximum size of what End and Abort append.
	EndBytes = maxFixed
)

// Every record fits into a batch.
const _ = uint(MaxBatch - maxHeader - maxFixed - maxPiece)

// Batch encodes changes.
type Batch struct {
	Bytes  []byte
	First  engine.Position // of the first change that ends in it
	Last   engine.Position // of the last change that ends in it; First-1 if none does
	filter uint64          // of the previous record

	concern concern
}

// Start begins a batch whose first change has a position. It keeps the memory of Bytes, which needs
// room for MaxBatch bytes. session is true for the first batch of a process: changes that are
// unfinished before it stay so.
func (b *Batch) Start(first engine.Position, session bool) {
	flags := byte(0)
	if session {
		flags = batchSession
	}
	b.Bytes = binary.AppendUvarint(append(b.Bytes[:0], batchVersion, flags), uint64(first))
	b.First, b.Last, b.filter = first, first-1, 0
	b.concern.reset()
}

// Append appends a change that is not long and has at most MaxDigests digests. It needs MaxBytes(c).
func (b *Batch) Append(c *engine.Change) {
	if c.Op == engine.OpAdd || c.Op == engine.OpRemove {
		b.digests(c)
		return
	}
	b.short(c)
}

// MaxBytes returns the maximum size of the record that Append appends.
func MaxBytes(c *engine.Change) int {
	return maxFixed + len(c.Name) + len(c.Data) + len(c.Digests)*digestBytes
}

// code appends the beginning of a record.
func (b *Batch) code(code byte, filter uint64) {
	if filter == b.filter {
		b.Bytes = append(b.Bytes, code|codeSame)
		return
	}
	b.filter = filter
	b.concern.filter(filter)
	b.Bytes = binary.AppendUvarint(append(b.Bytes, code), filter)
}

func (b *Batch) uvarint(v uint64) { b.Bytes = binary.AppendUvarint(b.Bytes, v) }

func (b *Batch) flag(v bool) {
	if v {
		b.Bytes = append(b.Bytes, 1)
	} else {
		b.Bytes = append(b.Bytes, 0)
	}
}

// short appends a change that is one record.
func (b *Batch) short(c *engine.Change) {
	b.code(byte(c.Op), c.Filter)
	switch c.Op {
	case engine.OpDelete, engine.OpRename, engine.OpExpire, engine.OpFlush, engine.OpMissNames:
		b.concern.act(c, b.Last+1-b.First)
	}
	switch c.Op {
	case engine.OpLose, engine.OpAcknowledge:
		b.Bytes[1] |= batchLoss
	case engine.OpMissNames:
		b.Bytes[1] |= batchLoss
		b.uvarint(c.Number)
		b.uvarint(c.Count)
	case engine.OpExpire, engine.OpFold, engine.OpUnfold, engine.OpAdvance:
		b.uvarint(c.Number)
	case engine.OpRename:
		b.Bytes = statecode.AppendText(b.Bytes, c.Name)
	case engine.OpWrite:
		b.Bytes = binary.AppendVarint(b.Bytes, int64(c.Part))
		b.uvarint(uint64(c.Array))
		b.uvarint(c.Number)
		b.flag(c.Last)
		b.uvarint(uint64(len(c.Data)))
		b.Bytes = append(b.Bytes, c.Data...)
	}
	b.Last++
}

// digests appends a change of at most MaxDigests digests.
func (b *Batch) digests(c *engine.Change) {
	b.code(byte(c.Op), c.Filter)
	b.uvarint(uint64(len(c.Digests)))
	at := len(b.Bytes)
	b.Bytes = b.Bytes[:at+len(c.Digests)*digestBytes]
	putDigests(b.Bytes[at:], c.Digests)
	b.Last++
}

// End appends the end of a long change.
func (b *Batch) End(filter uint64) {
	b.code(codeEnd, filter)
	b.Last++
}

// Abort appends the end of a long change that is not made.
func (b *Batch) Abort(filter uint64) {
	b.code(codeAbort, filter)
	b.Last++
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

// OpName returns the name of an operation in errors.
func OpName(op engine.Op) string {
	names := [...]string{"", "create", "delete", "rename", "expire", "add", "remove", "clear", "fold", "unfold", "advance",
		"seal", "replace", "write", "flush", "lose", "miss names", "acknowledge"}
	if int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("operation %d", op)
}
