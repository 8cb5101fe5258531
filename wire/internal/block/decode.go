package block

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// DecodeJob is a job of a [Pipeline]: blocks of an array that were read in order and whose
// payloads are to be decoded.
type DecodeJob struct {
	First   uint64        // number of the first block
	Blocks  []cells.Array // receive the cells
	Ends    []uint64      // offsets in the container after each block
	Bytes   []byte        // the payloads
	Bad     int           // index of the first corrupt block, if Err isn't nil
	Err     error
	Scratch Scratch // for blocks that are in no array
	Codec   Codec
	coded   []payload
}

// payload is the part of Bytes that belongs to a block.
type payload struct {
	block      int
	coding     byte
	start, end int
}

// Reset empties the job; the next block to read has number first.
func (j *DecodeJob) Reset(first uint64) {
	j.First, j.Err = first, nil
	j.Blocks, j.Ends, j.coded, j.Bytes = j.Blocks[:0], j.Ends[:0], j.coded[:0], j.Bytes[:0]
}

// AddPayload records that the last block has the payload Bytes[start:].
func (j *DecodeJob) AddPayload(coding byte, start int) {
	j.coded = append(j.coded, payload{len(j.Blocks) - 1, coding, start, len(j.Bytes)})
}

// Fail records the error of block i, unless there is an error of an earlier block.
func (j *DecodeJob) Fail(i int, err error) {
	if err != nil && (j.Err == nil || i < j.Bad) {
		j.Err, j.Bad = err, i
	}
}

// Good returns the blocks before the first corrupt one.
func (j *DecodeJob) Good() []cells.Array {
	if j.Err != nil {
		return j.Blocks[:j.Bad]
	}
	return j.Blocks
}

// Decode decodes the payloads.
func (j *DecodeJob) Decode() { j.Codec.decode(j) }

func (c *Codec) decode(j *DecodeJob) {
	c.strs = slices.Grow(c.strs[:0], len(j.coded))
	c.jobs, c.owner = c.jobs[:0], c.owner[:0]
	for _, p := range j.coded {
		b, code := j.Blocks[p.block], j.Bytes[p.start:p.end]
		switch {
		case p.coding == Positions:
			j.Fail(p.block, corrupt(entropy.DecodeRice(code, bitsOf(b))))
		case b.Width > 1:
			j.Fail(p.block, corrupt(c.Modeler.Decode(code, b)))
		default:
			c.addJob(p.block, b, code)
		}
	}
	c.coder.DecodeAll(c.jobs)
	for i, block := range c.owner {
		j.Fail(block, corrupt(c.jobs[i].Err))
	}
}

// corrupt makes the error of a coder one that wraps umbel.ErrCorrupt.
func corrupt(err error) error { return sentinel.Wrap(umbel.ErrCorrupt, err) }
