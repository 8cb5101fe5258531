package delta

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// reader reads a delta.
type reader struct {
	*format.Reader
	pipeline block.Pipeline[decodeJob]
}

// newReader returns a reader of the change in a delta with a head.
func newReader(delta []byte, h header, l format.Budget) *reader {
	r := newChangeReader(delta[h.change:len(delta)-format.SumBytes], uint64(h.change), l)
	r.Short = h.short
	return r
}

// newChangeReader returns a reader of a change. Offsets count from off.
func newChangeReader(change []byte, off uint64, l format.Budget) *reader {
	return &reader{
		Reader:   format.NewReader(change, off, l),
		pipeline: block.Pipeline[decodeJob]{Workers: l.Workers},
	}
}

// result reads the change from base to the result.
func (r *reader) result(base umbel.State, h header) (umbel.State, error) {
	if base.Kind != h.Kind {
		return umbel.State{}, sentinel.Errorf(umbel.ErrCorrupt, "a delta of kind %s for a filter of kind %s", h.Kind, base.Kind)
	}
	s, err := r.whole(base, h.regular)
	if err != nil {
		return s, err
	}
	if n := s.Bytes(); n != h.Bytes {
		return s, sentinel.Errorf(umbel.ErrCorrupt, "the result has %d bytes of cells, the head says %d", n, h.Bytes)
	}
	return s, nil
}

// whole reads the change of base, and the notes of the result. Without notes it has those of the base.
func (r *reader) whole(base umbel.State, regular bool) (s umbel.State, err error) {
	if regular {
		s, err = r.regular(base)
	} else {
		s, err = r.change(base, 1)
	}
	if err != nil {
		return s, err
	}
	if r.Left() == 0 {
		s.Notes = base.Notes
		return s, nil
	}
	if err := r.Notes(&s.Notes); err != nil {
		return s, fmt.Errorf("after the change: %w", err)
	}
	if left := r.Left(); left != 0 {
		return s, sentinel.Errorf(umbel.ErrCorrupt, "%d bytes follow the notes", left)
	}
	return s, nil
}

// change reads a change of base, for a state at nesting level depth.
func (r *reader) change(base umbel.State, depth int) (umbel.State, error) {
	s := umbel.State{Kind: base.Kind, Hasher: base.Hasher}
	if err := r.ClaimState(); err != nil {
		return s, err
	}
	var err error
	if s.Params, err = r.params(base.Params); err != nil {
		return s, err
	}
	if err := s.Check(); err != nil {
		return s, err
	}
	n, err := r.Byte()
	if err != nil {
		return s, err
	}
	for i := range n {
		a, err := r.array(base.Arrays)
		if err != nil {
			return s, fmt.Errorf("array %d: %w", i, err)
		}
		s.Arrays = append(s.Arrays, a)
	}
	return s, r.parts(base, &s, depth)
}

// regular reads a regular change of base: only the blocks of its arrays, and of those of its parts.
func (r *reader) regular(base umbel.State) (umbel.State, error) {
	s := umbel.State{Kind: base.Kind, Hasher: base.Hasher, Params: slices.Clone(base.Params)}
	for i := range base.Arrays {
		a, err := r.derived(source{form: formSame, index: byte(i)}, base.Arrays)
		if err != nil {
			return s, fmt.Errorf("array %d: %w", i, err)
		}
		s.Arrays = append(s.Arrays, a)
	}
	for i, p := range base.Parts {
		part, err := r.regular(p)
		if err != nil {
			return s, fmt.Errorf("part %d: %w", i, err)
		}
		s.Parts = append(s.Parts, part)
	}
	return s, nil
}

func (r *reader) params(base umbel.Params) (umbel.Params, error) {
	n, err := r.Byte()
	if err != nil {
		return nil, err
	}
	if n == allParams {
		return r.Params(nil)
	}
	params := slices.Clone(base)
	for range n {
		i, err := r.Byte()
		if err == nil && int(i) >= len(params) {
			err = sentinel.Errorf(umbel.ErrCorrupt, "parameter %d of %d", i, len(params))
		}
		if err != nil {
			return nil, err
		}
		if params[i].Value, err = r.Value(params[i].Value.IsFloat()); err != nil {
			return nil, err
		}
	}
	return params, nil
}

func (r *reader) parts(base umbel.State, s *umbel.State, depth int) error {
	n, err := r.Uvarint()
	if err != nil {
		return err
	}
	if n > math.MaxUint16 {
		return sentinel.Errorf(umbel.ErrCorrupt, "%d parts, want at most 65535", n)
	}
	for i := range n {
		part, err := r.part(base, depth+1)
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		s.Parts = append(s.Parts, part)
	}
	return nil
}

func (r *reader) part(base umbel.State, depth int) (s umbel.State, err error) {
	origin, err := r.Uvarint()
	switch {
	case err != nil:
		return s, err
	case origin == 0:
		err = r.State(&s, depth, base.Hasher)
		return s, err
	case origin > uint64(len(base.Parts)):
		return s, sentinel.Errorf(umbel.ErrCorrupt, "a change of part %d of the base, which has %d", origin-1, len(base.Parts))
	}
	// The base isn't nested too deep, so its change isn't either.
	return r.change(base.Parts[origin-1], depth)
}

// array reads an array of a state that changes one with the arrays of base.
func (r *reader) array(base []cells.Array) (a cells.Array, err error) {
	s, err := r.source()
	if err != nil {
		return cells.Array{}, err
	}
	if s.form == formNew {
		err = r.Array(&a)
		return a, err
	}
	return r.derived(s, base)
}

// derived reads an array that s makes of one of the base.
func (r *reader) derived(s source, base []cells.Array) (a cells.Array, err error) {
	if int(s.index) >= len(base) {
		return cells.Array{}, sentinel.Errorf(umbel.ErrCorrupt, "from array %d of the base, which has %d", s.index, len(base))
	}
	b := base[s.index]
	shape, err := s.shape(b)
	if err != nil {
		return shape, err
	}
	if err := r.claim(s, shape); err != nil {
		return shape, err
	}
	a, err = s.predict(b)
	if err != nil {
		return a, sentinel.Wrap(umbel.ErrLimit, err)
	}
	if s.form == formRefine {
		return a, r.units(s, a, b)
	}
	return a, r.runs(s, a)
}

func (r *reader) source() (s source, err error) {
	if s.form, err = r.Byte(); err != nil || s.form == formNew {
		return s, err
	}
	if s.form > formRefine {
		return s, sentinel.Errorf(umbel.ErrCorrupt, "form %d, this program reads 0 to %d: %w", s.form, formRefine, errors.ErrUnsupported)
	}
	if s.index, err = r.Byte(); err != nil || !s.resizes() {
		return s, err
	}
	if s.factor, err = r.Uvarint(); err != nil {
		return s, err
	}
	s.group, err = r.Uvarint()
	return s, err
}

// claim claims the memory of an array. If it unfolds, each of its blocks takes a byte.
func (r *reader) claim(s source, shape cells.Array) error {
	if _, err := cells.WordsFor(shape.Len, shape.Width); err != nil {
		return sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	bytes := uint64(0)
	if s.runs() == 1 {
		bytes = block.Count(shape)
	}
	_, err := r.Claim(shape, bytes)
	return err
}

// decodeJob is a job of decoding: a run of blocks, which are as predicted until its payload
// is decoded, or a unit of a refinement.
type decodeJob struct {
	block.DecodeJob // of a block without a prediction
	cells           cells.Array
	first           uint64 // block of a run
	from, to        uint64 // cells of the fold, of a unit
	coding          byte
	payload         []byte
	end             uint64 // offset in the delta after the job
	err             error
	diff            []uint64
}

// units reads the units of an array, which is zero, that refines its fold.
func (r *reader) units(s source, a, fold cells.Array) error {
	p := block.Pipeline[decodeJob]{Workers: r.Workers}
	if s.group%64 != 0 {
		p.Workers = 0 // units share words
	}
	next := uint64(0)
	p.Read = func(j *decodeJob) bool {
		j.from, j.to = next, min(next+model.RefinementCells(s.factor), fold.Len)
		next = j.to
		if j.from == fold.Len {
			return false
		}
		// At most a bit for each cell, and a few bytes for each string.
		most := (j.to-j.from)*s.factor/8 + 4*s.factor + 64
		j.payload, j.err = r.Payload(j.payload[:0], most)
		j.end = r.Off
		return true
	}
	p.Work = func(j *decodeJob) {
		if j.err == nil {
			j.err = corrupt(j.Codec.Modeler.DecodeRefinement(j.payload, a, fold, s.factor, s.group, j.from, j.to))
		}
	}
	p.Write = func(j *decodeJob) error {
		if j.err != nil {
			r.Off = j.end
			return fmt.Errorf("cells %d to %d of the fold: %w", j.from, j.to, j.err)
		}
		return nil
	}
	return p.Run()
}

// runs reads the blocks of an array, which is as predicted.
func (r *reader) runs(s source, a cells.Array) error {
	n, next := block.Count(a), uint64(0)
	r.pipeline.Read = func(j *decodeJob) bool {
		j.cells, j.err = cells.Array{}, nil
		for j.cells.Len == 0 && j.err == nil && next < n {
			j.first = next
			if next, j.err = r.run(j, s, a, next); j.err != nil {
				next = n // the next run can't be found
			}
		}
		j.end = r.Off
		return j.cells.Len > 0 || j.err != nil
	}
	r.pipeline.Work = (*decodeJob).decode
	r.pipeline.Write = func(j *decodeJob) error {
		if j.err != nil {
			r.Off = j.end
			return fmt.Errorf("block %d: %w", j.first, j.err)
		}
		return nil
	}
	return r.pipeline.Run()
}

// run reads the run that begins with block i of an array, without decoding it, and returns
// the number of the next block. It leaves j.cells empty if the blocks are as predicted.
func (r *reader) run(j *decodeJob, s source, a cells.Array, i uint64) (next uint64, err error) {
	if j.coding, err = r.Byte(); err != nil {
		return i, err
	}
	n := uint64(1)
	switch j.coding {
	case codingSame + codingRun, codingDelta + codingRun, codingPositions + codingRun, codingList + codingRun, codingGaps + codingRun:
		j.coding -= codingRun
		most := block.Count(a) - i
		if j.coding != codingSame && j.coding != codingList && j.coding != codingGaps {
			most = min(most, s.runs())
		}
		if n, err = r.Uvarint(); err != nil {
			return i, err
		}
		if n < 2 || n > most || s.runs() == 1 {
			return i, sentinel.Errorf(umbel.ErrCorrupt, "a run of %d blocks, want 2 to %d, and none if the array unfolds", n, most)
		}
	}
	if j.coding == codingSame {
		return i + n, nil
	}
	j.cells = block.Run(a, i, n)
	switch j.coding {
	case codingGaps:
		if a.Width > 1 {
			return i, sentinel.Errorf(umbel.ErrCorrupt, "gaps between changes of cells of %d bits, want 1", a.Width)
		}
		fallthrough
	case codingDelta, codingPositions, codingList:
		j.payload, err = r.Payload(j.payload[:0], j.cells.Bytes())
		return i + n, err
	}
	clear(j.cells.Words)
	j.Reset(0)
	j.Blocks = append(j.Blocks, j.cells)
	return i + n, r.Block(j.coding, &j.DecodeJob, j.Blocks[0])
}

// decode decodes the payload of a run.
func (j *decodeJob) decode() {
	switch {
	case j.err != nil || j.cells.Len == 0:
	case j.coding == codingDelta:
		j.err = corrupt(j.Codec.Modeler.DecodeDelta(j.payload, j.cells, j.cells))
	case j.coding == codingList:
		j.err = corrupt(j.Codec.Modeler.DecodeListed(j.payload, j.cells))
	case j.coding == codingGaps:
		j.err = corrupt(j.Codec.Modeler.DecodeGapLists(j.payload, j.cells))
	case j.coding == codingPositions:
		j.err = corrupt(j.flip())
	default:
		j.Decode()
		j.err = j.Err
	}
}

// flip flips the bits at the positions in the payload.
func (j *decodeJob) flip() error {
	b := j.cells
	j.diff = slices.Grow(j.diff[:0], len(b.Words))[:len(b.Words)]
	if err := entropy.DecodeRice(j.payload, entropy.Bits{Words: j.diff, Len: b.Len * uint64(b.Width)}); err != nil {
		return err
	}
	for i, w := range j.diff {
		b.Words[i] ^= w
	}
	return nil
}

// corrupt makes the error of a coder one that wraps umbel.ErrCorrupt.
func corrupt(err error) error { return sentinel.Wrap(umbel.ErrCorrupt, err) }
