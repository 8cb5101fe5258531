package delta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// ErrCompare is returned by [Series.AppendChange] if the states have too many differences, so that both are needed.
var ErrCompare = errors.New("delta: the states have to be compared")

// Series encodes the changes from earlier and earlier states to one result, for a caller who knows in
// which words they differ. For arrays of bits of which few change, that takes time in proportion to the
// number of these words, and not to the size of the states. A Series is not safe for concurrent use.
type Series struct {
	e      Encoder
	result umbel.State
	arrays []cells.Array // of result and its parts
	ones   *Ones
	lists  [][]ranked // of each array
}

// ranked is a flip, and the number of ones of the result that precede its word in the block.
type ranked struct {
	Flip
	before uint32
}

// NewSeries returns a series whose first base is result itself. Ones is that of result; neither may be
// changed while the series is used. Errors are those of [Encoder.AppendChange].
func (e Encoder) NewSeries(result umbel.State, ones *Ones) (*Series, error) {
	if err := result.Check(); err != nil {
		return nil, fmt.Errorf("delta: %w", err)
	}
	arrays := result.AllArrays()
	return &Series{e, result, arrays, ones, make([][]ranked, len(arrays))}, nil
}

// Extend makes an earlier state the base. It differs from the base before by flips: those of each array,
// counted through all states, in ascending order. Extend panics if a word doesn't exist.
func (s *Series) Extend(flips [][]Flip) {
	for i, list := range flips {
		if len(list) == 0 {
			continue
		}
		words := s.arrays[i].Words
		if last := list[len(list)-1].Word; last >= uint64(len(words)) {
			panic(fmt.Sprintf("delta: a flip of word %d of %d", last, len(words)))
		}
		rank := func(uint64) uint32 { return 0 }
		if s.arrays[i].Width <= 1 {
			r := ranker{words: words, arrayOnes: s.ones.arrays[i]}
			rank = func(word uint64) uint32 { return r.rank(int(word)) }
		}
		s.lists[i] = merge(s.lists[i], list, rank)
	}
}

// merge returns the flips that have the effect of old and list together.
func merge(old []ranked, list []Flip, rank func(word uint64) uint32) []ranked {
	merged := make([]ranked, 0, len(old)+len(list))
	for _, f := range list {
		for len(old) > 0 && old[0].Word < f.Word {
			merged, old = append(merged, old[0]), old[1:]
		}
		if len(old) == 0 || old[0].Word > f.Word {
			merged = append(merged, ranked{f, rank(f.Word)})
			continue
		}
		if both := old[0]; both.Mask != f.Mask {
			both.Mask ^= f.Mask
			merged = append(merged, both)
		}
		old = old[1:]
	}
	return append(merged, old...)
}

// AppendChange appends the change from the base to the result. Base has the kind, the hasher, the parameters
// and the parts of the base; it needs no arrays.
//
// If AppendChange returns no error, the bytes are those of [Encoder.AppendChange], unless that finds a part
// of another number that is closer. It returns [ErrCompare] if Encoder.AppendChange may do better since much
// of an array has changed. Other errors are those of that method. On error dst is unchanged.
func (s *Series) AppendChange(dst []byte, base umbel.State) ([]byte, error) {
	if err := base.CheckMatch(s.result); err != nil {
		return dst, fmt.Errorf("delta: these filters have no delta, send a container: %w", err)
	}
	if len(s.arrays) > 1 {
		for i, a := range s.arrays {
			if !isNear(a.Words, s.lists[i]) {
				return dst, ErrCompare
			}
		}
	}
	out := format.Appender(dst)
	w := seriesWriter{writer: newWriter(&out, s.e.Workers), s: s}
	defer w.close()
	w.change(base, s.result)
	w.notes(base, s.result)
	w.Flush()
	return out, w.Err
}

// isNear reports what sampleDistance does for an array and the same array before flips.
func isNear(words []uint64, flips []ranked) bool {
	if len(flips) == 0 {
		return true
	}
	step := uint64(sampleStep(len(words)))
	d, ones, n := uint64(0), uint64(0), uint64(0)
	for i := uint64(0); i < uint64(len(words)); i += step {
		ones += uint64(bits.OnesCount64(words[i]))
		n++
	}
	for _, f := range flips {
		if f.Word%step == 0 {
			d += uint64(bits.OnesCount64(f.Mask))
		}
	}
	return 2*d <= min(ones, 64*n-ones)
}

// seriesWriter writes a change of a series.
type seriesWriter struct {
	*writer
	s    *Series
	next int // array, counted through all states
}

// change is writer.change for states of one shape.
func (w *seriesWriter) change(base, result umbel.State) {
	w.params(base.Params, result.Params)
	w.Buf = append(w.Buf, byte(len(result.Arrays)))
	for i, a := range result.Arrays {
		from := source{form: formSame, index: byte(i)}
		w.Buf = append(w.Buf, from.form, from.index)
		k := newKnown(a, w.s.lists[w.next], w.s.ones.arrays[w.next].blocks)
		w.next++
		if k.isRare() {
			w.rare(from, k)
		} else {
			w.writeRuns(from, nextRun(k, block.Count(a), from.runs()), (*encodeJob).encodeKnown)
		}
	}
	w.Buf = binary.AppendUvarint(w.Buf, uint64(len(result.Parts)))
	for i, p := range result.Parts {
		w.Buf = binary.AppendUvarint(w.Buf, uint64(i+1))
		w.change(base.Parts[i], p)
	}
}
