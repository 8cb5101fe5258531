package delta

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// writer writes a delta.
type writer struct {
	format.Writer
	pipeline block.Pipeline[encodeJob]
	held     bool // Buf is not flushed after a run
}

func newWriter(w io.Writer, workers int) *writer {
	packed := format.Packed(workers, format.InMemory, func(*block.EncodeJob) {})
	return &writer{
		Writer:   format.Writer{W: w, Arrays: packed},
		pipeline: block.Pipeline[encodeJob]{Workers: workers, Pool: &encodeJobs},
	}
}

// encodeJobs keeps the memory of jobs, which is several times that of a run, for the next delta: a
// publisher encodes a few in a row.
var encodeJobs = sync.Pool{New: func() any { return new(encodeJob) }}

// close ends the writer.
func (w *writer) close() {
	w.pipeline.Close((*encodeJob).forget)
}

// whole writes the change from base to result, and the notes of the result if they are others.
func (w *writer) whole(base, result umbel.State) {
	w.change(base, result)
	w.notes(base, result)
}

func (w *writer) notes(base, result umbel.State) {
	if base.Planned != result.Planned || base.Tick != result.Tick {
		w.Notes(result)
	}
}

// change writes the change from base to result, whose kinds and hashers are equal.
func (w *writer) change(base, result umbel.State) {
	w.params(base.Params, result.Params)
	w.Buf = append(w.Buf, byte(len(result.Arrays)))
	for i, a := range result.Arrays {
		w.array(base.Arrays, i, a)
	}
	w.Buf = binary.AppendUvarint(w.Buf, uint64(len(result.Parts)))
	for i, j := range matchParts(base.Parts, result.Parts) {
		w.Buf = binary.AppendUvarint(w.Buf, uint64(j+1))
		if j < 0 {
			w.State(result.Parts[i])
		} else {
			w.change(base.Parts[j], result.Parts[i])
		}
	}
}

// params writes the values that changed, or all parameters if something else changed.
func (w *writer) params(base, result umbel.Params) {
	sameNames := slices.EqualFunc(base, result, func(p, q umbel.Param) bool {
		return p.Name == q.Name && p.Value.IsFloat() == q.Value.IsFloat()
	})
	var changed []byte
	n := 0
	for i, p := range result {
		if sameNames && p != base[i] {
			n++
			changed = append(changed, byte(i))
			changed = binary.LittleEndian.AppendUint64(changed, p.Value.Bits())
		}
	}
	if sameNames && n < allParams {
		w.Buf = append(w.Buf, byte(n))
		w.Buf = append(w.Buf, changed...)
		return
	}
	w.Buf = append(w.Buf, allParams)
	w.Params(result)
}

// array writes array i of a state.
func (w *writer) array(base []cells.Array, i int, a cells.Array) {
	s, predicted := sourceOf(base, i, a)
	w.Buf = append(w.Buf, s.form)
	if s.form == formNew {
		w.Array(a)
		return
	}
	w.Buf = append(w.Buf, s.index)
	if s.resizes() {
		w.Buf = binary.AppendUvarint(w.Buf, s.factor)
		w.Buf = binary.AppendUvarint(w.Buf, s.group)
	}
	if s.form == formRefine {
		w.units(s, a, base[s.index].Len)
	} else {
		w.runs(s, a, predicted)
	}
}

// encodeJob is a job of encoding: a run of blocks and the kept blocks before it, or a unit
// of a refinement.
type encodeJob struct {
	kept             uint64 // blocks before the run that are as predicted
	n                uint64 // blocks of the run; 0 at the end of the array
	cells, predicted cells.Array
	flips            uint64 // bits in which the run differs from its prediction
	from, to         uint64 // cells of the fold, of a unit
	payload          []byte
	bytes            []byte // the encoded run
	codec            block.Codec
	diff             []uint64
	known            knownRun // how it differs, if that is known
}

// forget removes what belongs to the caller of the encoder.
func (j *encodeJob) forget() {
	j.cells, j.predicted = cells.Array{}, cells.Array{}
	j.known.forget()
}

// units writes the units of an array that refines its fold of n cells.
func (w *writer) units(s source, a cells.Array, n uint64) {
	next := uint64(0)
	w.pipeline.Read = func(j *encodeJob) bool {
		j.from, j.to = next, min(next+model.RefinementCells(s.factor), n)
		next = j.to
		return j.from < n
	}
	w.pipeline.Work = func(j *encodeJob) {
		j.payload = j.codec.Modeler.AppendRefinement(j.payload[:0], a, s.factor, s.group, j.from, j.to)
	}
	w.pipeline.Write = func(j *encodeJob) error {
		w.Buf = block.AppendPayload(w.Buf, j.payload)
		w.Flush()
		return w.Err
	}
	_ = w.pipeline.Run() // w keeps the error
}

// runs writes the blocks of an array with a prediction.
func (w *writer) runs(s source, a, predicted cells.Array) {
	if s.runs() > 1 {
		if k, ok := rareFlips(a, predicted); ok {
			w.rare(s, k)
			return
		}
	}
	w.writeRuns(s, nextRun(compared{a, predicted}, block.Count(a), s.runs()), (*encodeJob).encode)
}

// writeRuns writes the blocks of an array in the runs that next returns.
func (w *writer) writeRuns(s source, next func(*encodeJob) bool, encode func(*encodeJob)) {
	w.pipeline.Read = next
	w.pipeline.Work = encode
	w.pipeline.Write = func(j *encodeJob) error {
		w.kept(s, j.kept)
		w.Buf = append(w.Buf, j.bytes...)
		if !w.held {
			w.Flush()
		}
		return w.Err
	}
	_ = w.pipeline.Run() // w keeps the error
}

// kept writes that n blocks are as predicted.
func (w *writer) kept(s source, n uint64) {
	if n > 1 && s.runs() > 1 {
		w.Buf = binary.AppendUvarint(append(w.Buf, kept+runs), n)
		return
	}
	for range n {
		w.Buf = append(w.Buf, kept)
	}
}

// Blocks in which about as many bits differ are coded together, which saves the few bytes
// that begin a code. A run has at most shortRun blocks; if few bits differ in each, it has
// maxRun, because its code would otherwise be mostly its beginning.
const (
	shortRun   = 16
	sparseRun  = 16      // bits that differ in a block of a long run
	rareFactor = 1 << 17 // bits per bit that differs from which positions are shorter
	tinyBytes  = 32      // of a payload for which no shorter coding is tried
)

// comparison compares the blocks of an array with their prediction.
type comparison interface {
	// next returns the number of the first block from i on that differs, or that of blocks.
	next(i uint64) uint64
	// flips returns the number of bits in which block i differs.
	flips(i uint64) uint64
	// isRaw reports whether block i, which differs, has zero and other cells.
	isRaw(i uint64) bool
	// take makes n blocks from block i on the run of a job.
	take(j *encodeJob, i, n uint64)
}

// compared is the comparison of two arrays in memory.
type compared struct{ a, predicted cells.Array }

func (c compared) next(i uint64) uint64 {
	total := block.Count(c.a)
	for i < total && slices.Equal(block.At(c.a, i).Words, block.At(c.predicted, i).Words) {
		i++
	}
	return i
}

func (c compared) flips(i uint64) uint64 { return flips(block.At(c.a, i), block.At(c.predicted, i)) }

func (c compared) isRaw(i uint64) bool { return block.Plain(block.At(c.a, i)) == block.Raw }

func (c compared) take(j *encodeJob, i, n uint64) {
	j.cells, j.predicted = block.Run(c.a, i, n), block.Run(c.predicted, i, n)
}

// nextRun returns the Read step for the runs of an array of total blocks, each of at most the given
// number of blocks.
func nextRun(c comparison, total, most uint64) func(*encodeJob) bool {
	next := uint64(0)
	return func(j *encodeJob) bool {
		j.kept, j.n, j.flips = 0, 0, 0
		differs := c.next(next)
		j.kept, next = differs-next, differs
		if next == total {
			return j.kept > 0
		}
		j.n, j.flips = 1, c.flips(next)
		if c.isRaw(next) {
			j.extend(c, next, min(most, total-next))
		}
		c.take(j, next, j.n)
		next += j.n
		return true
	}
}

// extend adds blocks to a run that begins with block i, up to most.
func (j *encodeJob) extend(c comparison, i, most uint64) {
	low, high, sum := j.flips, j.flips, j.flips
	for n := uint64(1); n < most; n++ {
		d := c.flips(i + n)
		low, high, sum = min(low, d), max(high, d), sum+d
		if high > 2*low+sparseRun || high > sparseRun && n >= shortRun || d > 0 && !c.isRaw(i+n) {
			return
		}
		if d > 0 {
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
		j.payload = entropy.AppendRice(j.payload[:0], j.difference())
		n := len(j.payload)
		j.append(flipped)
		if j.cells.Width > 1 && n > tinyBytes {
			// A counter that changes flips several bits.
			if j.encodeGiven(); len(j.payload) < n {
				j.bytes = j.bytes[:0]
				j.append(given)
			}
		}
	default:
		// Bits given the base take at most a byte or two more than alone; counters may
		// take more, because their coding assumes that most of them stay or change by one.
		j.encodeGiven()
		doubtful := 32*uint64(len(j.payload)) > bits || j.cells.Width > 1 && uint64(len(j.payload)) > j.leastAlone()
		if !doubtful || !j.encodeAlone() {
			j.append(given)
		}
	}
}

// encodeGiven sets the payload to the run given its prediction.
func (j *encodeJob) encodeGiven() {
	j.payload = j.codec.Modeler.AppendDelta(j.payload[:0], j.predicted, j.cells)
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
		j.bytes = binary.AppendUvarint(append(j.bytes, coding+runs), j.n)
	}
	j.bytes = block.AppendPayload(j.bytes, j.payload)
}

// difference returns the bits in which the run differs from its prediction.
func (j *encodeJob) difference() entropy.Bits {
	j.diff = slices.Grow(j.diff[:0], len(j.cells.Words))[:len(j.cells.Words)]
	for i, w := range j.cells.Words {
		j.diff[i] = w ^ j.predicted.Words[i]
	}
	return entropy.Bits{Words: j.diff, Len: j.cells.Len * uint64(j.cells.Width)}
}
