package changes

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// IsLong reports whether a change consists of several records.
func IsLong(c *engine.Change) bool {
	return c.State != nil || len(c.Name) > maxPiece || len(c.Data) > maxPiece
}

// WriteLong passes the records of a long change, except the end, to put: the maximum size of a record,
// and a function that appends it to a batch. It ends at the first error of put and returns it.
func WriteLong(c *engine.Change, put func(n int, write func(*Batch)) error) error {
	head := longHead(c)
	err := put(maxFixed, func(b *Batch) { b.begin(c, len(head)) })
	for err == nil && len(head) > 0 {
		piece := head[:min(len(head), maxPiece)]
		head = head[len(piece):]
		err = put(maxFixed+len(piece), func(b *Batch) { b.head(c, piece) })
	}
	if c.State == nil {
		return err
	}
	for i, p := range c.State.AllArrays() {
		if err != nil {
			break
		}
		runs(p.Words, func(offset uint64, run []uint64) bool {
			err = put(maxFixed+len(run)*8, func(b *Batch) { b.cells(c, i, offset, run) })
			return err == nil
		})
	}
	return err
}

// headBytes is more than the head of most changes has.
const headBytes = 256

// longHead returns the head of a long change.
func longHead(c *engine.Change) []byte {
	switch c.Op {
	case engine.OpCreate:
		return statecode.Append(statecode.AppendText(make([]byte, 0, headBytes), c.Name), c.State)
	case engine.OpReplace:
		return statecode.Append(make([]byte, 0, headBytes), c.State)
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

// begin appends the beginning of a long change.
func (b *Batch) begin(c *engine.Change, head int) {
	b.code(byte(c.Op)|codeLong, c.Filter)
	b.concern.begin(c, b.Last+1-b.First)
	if c.Op == engine.OpCreate && c.Last {
		b.Bytes[1] |= batchLoss
	}
	b.uvarint(c.Number)
	b.Bytes = binary.AppendVarint(b.Bytes, int64(c.Part))
	b.uvarint(uint64(c.Array))
	b.flag(c.Last)
	b.uvarint(uint64(head))
}

func (b *Batch) head(c *engine.Change, piece []byte) {
	b.code(codeHead, c.Filter)
	b.concern.create(c, b.Last+1-b.First)
	b.uvarint(uint64(len(piece)))
	b.Bytes = append(b.Bytes, piece...)
}

func (b *Batch) cells(c *engine.Change, plane int, offset uint64, words []uint64) {
	b.code(codeCells, c.Filter)
	b.concern.create(c, b.Last+1-b.First)
	b.uvarint(uint64(plane))
	b.uvarint(offset)
	b.uvarint(uint64(len(words)) * 8)
	at := len(b.Bytes)
	b.Bytes = b.Bytes[:at+len(words)*8]
	statecode.PutWords(b.Bytes[at:], words)
}
