package delta

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// encodeJob is a job of encoding: a run of blocks and the blocks before it that are as predicted, or a unit
// of a refinement.
type encodeJob struct {
	run
	runMemory
	same     uint64 // blocks before the run that are as predicted
	n        uint64 // blocks of the run; 0 at the end of the array
	flips    uint64 // bits in which the run differs from its prediction
	from, to uint64 // cells of the fold, of a unit
	payload  []byte
	bytes    []byte // the encoded run
	codec    block.Codec
}

// forget removes what belongs to the caller of the encoder.
func (j *encodeJob) forget() { j.run = run{} }

// Blocks in which about as many bits differ are coded together, which saves the few bytes
// that begin a code. A run has at most shortRun blocks; if few bits differ in each, it has
// maxRun, because its code would otherwise be mostly its beginning.
const (
	shortRun    = 32
	sparseRun   = 16      // bits that differ in a block of a long run
	rareFactor  = 1 << 17 // bits per bit that differs from which positions are shorter
	tinyBytes   = 32      // of a payload for which no shorter coding is tried
	sparseWords = 16      // words per bit that differs from which a run is encoded without reading all of it
)

// nextRun returns the Read step for the runs of an array, each of at most the given number of blocks.
func nextRun(d difference, most uint64) func(*encodeJob) bool {
	next, total := uint64(0), block.Count(d.a)
	return func(j *encodeJob) bool {
		j.n, j.flips = 0, 0
		differs := d.next(next)
		j.same, next = differs-next, differs
		if next == total {
			return j.same > 0
		}
		j.n, j.flips = 1, d.flips(next)
		if d.isRaw(next) {
			j.extend(&d, next, min(most, total-next))
		}
		j.run = d.run(next, j.n)
		next += j.n
		return true
	}
}

// extend adds blocks to a run that begins with block i, up to most.
func (j *encodeJob) extend(d *difference, i, most uint64) {
	low, high, sum := j.flips, j.flips, j.flips
	for n := uint64(1); n < most; n++ {
		x := d.flips(i + n)
		sum += x
		full := x
		if words := block.NumWords(d.a) - (i+n)*block.Words; words < block.Words { // the last block counts as if it were as long as others
			full = x * block.Words / words
		}
		low, high = min(low, full), max(high, full)
		if high > 2*low+sparseRun || high > sparseRun && n >= shortRun || x > 0 && !d.isRaw(i+n) {
			return
		}
		if x > 0 {
			j.n, j.flips = n+1, sum
		}
	}
}

// encode encodes the run in as few bytes as it can.
func (j *encodeJob) encode() {
	j.bytes = j.bytes[:0]
	bits := j.cells.Bytes() * 8
	switch {
	case j.n == 0:
	case j.n == 1 && block.Plain(j.cells) != block.Raw:
		j.bytes = j.codec.Append(j.bytes, j.cells)
	case j.flips*rareFactor < bits:
		j.payload = entropy.AppendRiceSparse(j.payload[:0], j.positions(&j.runMemory))
		n := len(j.payload)
		j.append(codingPositions)
		if j.cells.Width > 1 && n > tinyBytes {
			// A counter that changes flips several bits.
			if j.encodeDelta(); len(j.payload) < n {
				j.bytes = j.bytes[:0]
				j.append(codingDelta)
			}
		}
	default:
		// Bits given the base take at most a byte or two more than alone; counters may
		// take more, because their coding assumes that most of them stay or change by one.
		j.encodeDelta()
		doubtful := 32*uint64(len(j.payload)) > bits || j.cells.Width > 1 && uint64(len(j.payload)) > j.leastAlone()
		if !doubtful || !j.encodeAlone() {
			j.append(codingDelta)
		}
	}
}

// encodeDelta sets the payload to the run given its prediction.
func (j *encodeJob) encodeDelta() {
	if j.ones.blocks != nil && j.flips <= uint64(len(j.cells.Words)/sparseWords) {
		gone, come := j.split(&j.runMemory)
		j.payload = j.codec.Modeler.AppendFlips(j.payload[:0], gone, come)
	} else {
		j.payload = j.codec.Modeler.AppendDelta(j.payload[:0], j.prediction(&j.runMemory), j.cells)
	}
}

// leastAlone returns a lower bound of the bytes of the run as a container would encode it: which
// cells of a block are zero takes m·H(x/m) ≥ 2·min(x, m-x) bits, where x of m are.
func (j *encodeJob) leastAlone() (bytes uint64) {
	for b := range block.All(j.cells) {
		x := b.Nonzero()
		bytes += min(x, b.Len-x) / 4
	}
	return bytes
}

// encodeAlone encodes the run as a container would, and reports whether that is shorter than
// the payload. Otherwise bytes stays empty.
func (j *encodeJob) encodeAlone() bool {
	for b := range block.All(j.cells) {
		j.bytes = j.codec.Append(j.bytes, b)
	}
	if len(j.bytes) <= 2+block.PayloadBytes(len(j.payload)) {
		return true
	}
	j.bytes = j.bytes[:0]
	return false
}

// append appends the payload after its coding.
func (j *encodeJob) append(coding byte) {
	if j.n == 1 {
		j.bytes = append(j.bytes, coding)
	} else {
		j.bytes = binary.AppendUvarint(append(j.bytes, coding+codingRun), j.n)
	}
	j.bytes = block.AppendPayload(j.bytes, j.payload)
}
