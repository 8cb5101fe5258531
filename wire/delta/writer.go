package delta

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// writer writes a delta.
type writer struct {
	format.Writer
	pipeline block.Pipeline[encodeJob]
	buffered bool   // Buf is not flushed after a run
	known    *known // the changes of arrays; nil if they are found by comparing
}

func newWriter(w io.Writer, workers int, k *known) *writer {
	packed := format.Packed(workers, nil, nil)
	return &writer{
		Writer:   format.Writer{W: w, Arrays: packed},
		pipeline: block.Pipeline[encodeJob]{Workers: workers, Pool: &encodeJobs},
		known:    k,
	}
}

// encodeJobs keeps the memory of jobs, which is several times that of a run, for the next delta: a
// publisher encodes a few in a row.
var encodeJobs = sync.Pool{New: func() any { return new(encodeJob) }}

// close ends the writer.
func (w *writer) close() {
	w.pipeline.Close((*encodeJob).forget)
}

// delta writes the short delta from base to result between the prefixes of their IDs and the checksum.
func (w *writer) delta(base, result umbel.State) {
	regular := isRegular(base, result)
	w.ShortKind(result.Kind, !regular)
	if regular {
		w.regular(base, result)
	} else {
		w.Uvarint(result.Bytes())
		w.change(base, result)
	}
	w.notes(base, result)
}

// isRegular reports whether base and result differ in the cells of their arrays only, and each array of the result comes from
// that of the base with its number. Such a change is written as the blocks of the arrays.
func isRegular(base, result umbel.State) bool {
	if !base.SameShape(result) || !slices.Equal(base.Params, result.Params) {
		return false
	}
	for i, a := range result.Arrays {
		if s, _, _ := closest(base.Arrays, i, a); int(s.index) != i {
			return false
		}
	}
	for i, j := range matchParts(base.Parts, result.Parts) {
		if j != i || !isRegular(base.Parts[i], result.Parts[i]) {
			return false
		}
	}
	return true
}

// regular writes a regular change.
func (w *writer) regular(base, result umbel.State) {
	for i, a := range result.Arrays {
		w.blocks(source{form: formSame, index: byte(i)}, compare(a, base.Arrays[i]))
	}
	for i, p := range result.Parts {
		w.regular(base.Parts[i], p)
	}
}

// notes writes the notes of the result if they are others.
func (w *writer) notes(base, result umbel.State) {
	if base.Notes != result.Notes {
		w.Notes(result.Notes)
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
	var from []int // part i comes from part i if the changes are known
	if w.known == nil {
		from = matchParts(base.Parts, result.Parts)
	}
	for i, p := range result.Parts {
		j := i
		if from != nil {
			j = from[i]
		}
		w.Buf = binary.AppendUvarint(w.Buf, uint64(j+1))
		if j < 0 {
			w.State(p, result.Hasher)
		} else {
			w.change(base.Parts[j], p)
		}
	}
}

// params writes the values that changed, or all parameters if something else changed.
func (w *writer) params(base, result umbel.Params) {
	sameNames := slices.EqualFunc(base, result, func(p, q umbel.Param) bool {
		return p.Name == q.Name && p.Value.IsFloat() == q.Value.IsFloat()
	})
	var changed []int
	for i, p := range result {
		if sameNames && p != base[i] {
			changed = append(changed, i)
		}
	}
	if !sameNames || len(changed) >= allParams {
		w.Buf = append(w.Buf, allParams)
		w.Params(result)
		return
	}
	w.Buf = append(w.Buf, byte(len(changed)))
	for _, i := range changed {
		w.Buf = append(w.Buf, byte(i))
		w.Value(result[i].Value)
	}
}

// array writes array i of a state.
func (w *writer) array(base []cells.Array, i int, a cells.Array) {
	if w.known != nil {
		s := source{form: formSame, index: byte(i)}
		w.Buf = append(w.Buf, s.form, s.index)
		w.blocks(s, w.known.next(a))
		return
	}
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
	switch {
	case s.form == formRefine:
		w.units(s, a, base[s.index].Len)
	case s.runs() == 1:
		w.blocks(s, difference{a: a, predicted: predicted})
	default:
		w.blocks(s, compare(a, predicted))
	}
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

// blocks writes the blocks of an array with a prediction. If few bits change, it also encodes the array as one
// run with lists, and writes that if it is shorter.
func (w *writer) blocks(s source, d difference) {
	if !d.hasFew() {
		w.runs(s, d)
		return
	}
	start := len(w.Buf)
	w.buffered = true
	w.runs(s, d)
	w.buffered = false
	j := encodeJobs.Get().(*encodeJob)
	if j.list(d); len(j.bytes) > 0 && len(j.bytes) < len(w.Buf)-start {
		w.Buf = append(w.Buf[:start], j.bytes...)
	}
	w.Flush()
	j.forget()
	encodeJobs.Put(j)
}

// runs writes the blocks of an array in runs.
func (w *writer) runs(s source, d difference) {
	w.pipeline.Read = nextRun(d, s.runs())
	w.pipeline.Work = (*encodeJob).encode
	w.pipeline.Write = func(j *encodeJob) error {
		w.same(s, j.same)
		w.Buf = append(w.Buf, j.bytes...)
		if !w.buffered {
			w.Flush()
		}
		return w.Err
	}
	_ = w.pipeline.Run() // w keeps the error
}

// same writes that n blocks are as predicted.
func (w *writer) same(s source, n uint64) {
	if n > 1 && s.runs() > 1 {
		w.Buf = binary.AppendUvarint(append(w.Buf, codingSame+codingRun), n)
		return
	}
	for range n {
		w.Buf = append(w.Buf, codingSame)
	}
}
