// Package delta encodes the difference between two states of a filter, the base and the
// result: [Append] makes a message with which a reader who has the base reconstructs the
// result by [Apply]. [Refine] makes one with which a folded filter becomes the whole one
// again. Package delta handles states of any kind.
//
// All functions may be called concurrently. They read states with plain loads: nothing may
// change a filter, not even atomically, while its state is read.
//
// The format is spec/delta.md and spec/codings.md. All versions of this package read
// version 1.
package delta

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
	"github.com/umbel-filters/umbel/wire/internal/roots"
)

// Append appends the delta from base to result to dst. Each bit is coded given the bit of
// the base. Mitzenmacher 2002, section IV, sends the exclusive or of both states instead;
// that takes as much if filters are half full and up to 30 % more if they are sparse
// (docs/papers.md). A delta is at most a hundred bytes longer than the container of the
// result that a [wire.Packer] writes.
//
// The states may differ in everything but kind and hasher: in parameters and in the number
// and length of arrays and parts. A delta has the Planned and Tick of the result if they are others than those of the base; only
// that they become zero is not coded. Append returns an error wrapping umbel.ErrMismatch if kind
// or hasher differ; send a container then. Other errors are those of [wire.Append] for
// either state. On error dst is unchanged.
func Append(dst []byte, base, result umbel.State) ([]byte, error) {
	return Encoder{}.Append(dst, base, result)
}

// Refine appends the delta from a folded filter to the filter before the fold, which encodes
// what the fold lost. A fold can be sent at once and the refinement later; together they
// take about 100 bytes more than the whole filter, because H(full) = H(folded) + H(full | folded).
// [Apply] takes the refinement with folded as the base.
//
// Each array of folded must be equal to that of full or its fold, all by the same factor;
// parameters may differ. Otherwise Refine returns an error wrapping umbel.ErrMismatch. Other
// errors are those of [Append]. On error dst is unchanged.
func Refine(dst []byte, folded, full umbel.State) ([]byte, error) {
	return Encoder{}.Refine(dst, folded, full)
}

// Encoder makes deltas with known IDs or on several goroutines. Its zero value is ready. An
// Encoder is safe for concurrent use.
type Encoder struct {
	// Base and Result are the IDs of the two states; an ID of zero is computed. That takes
	// longer than encoding a small change, so a program that sends one delta after the
	// other should pass the last result's ID as Base. With a wrong ID, Apply refuses the
	// delta.
	Base, Result wire.ID
	// Workers is the number of goroutines that encode blocks and compute IDs, at most twice
	// GOMAXPROCS. With 0 or 1 the caller's goroutine does all work. The bytes are the same.
	Workers int
}

// Append is [Append].
func (e Encoder) Append(dst []byte, base, result umbel.State) ([]byte, error) {
	if err := checkBoth(base, result); err != nil {
		return dst, err
	}
	if e.Base == (wire.ID{}) {
		e.Base = roots.Identify(base, e.Workers)
	}
	if e.Result == (wire.ID{}) {
		e.Result = roots.Identify(result, e.Workers)
	}
	out := format.Appender(dst)
	w := newWriter(&out, e.Workers, nil)
	defer w.close()
	w.Buf = append(w.Buf, format.DeltaMagic...)
	w.Buf = append(w.Buf, e.Base[:]...)
	w.Buf = append(w.Buf, e.Result[:]...)
	w.Buf = binary.LittleEndian.AppendUint64(w.Buf, result.Bytes())
	w.Name(result.Kind)
	w.whole(base, result)
	w.Sum()
	return out, nil
}

// Refine is [Refine].
func (e Encoder) Refine(dst []byte, folded, full umbel.State) ([]byte, error) {
	if err := checkBoth(folded, full); err != nil {
		return dst, err
	}
	r := uint64(1)
	if err := checkFolds(folded, full, &r); err != nil {
		return dst, sentinel.Errorf(umbel.ErrMismatch, "delta: refine: %w", err)
	}
	return e.Append(dst, folded, full)
}

// checkBoth returns an error unless a delta from base to result exists.
func checkBoth(base, result umbel.State) error {
	for _, s := range []umbel.State{base, result} {
		if err := s.Check(); err != nil {
			return fmt.Errorf("delta: %w", err)
		}
	}
	if err := base.CheckMatch(result); err != nil {
		return fmt.Errorf("delta: these filters have no delta, send a container: %w", err)
	}
	return nil
}

// checkFolds returns an error unless folded is the fold of full by r, or by any factor if r
// is 1. It sets r to the factor.
func checkFolds(folded, full umbel.State, r *uint64) error {
	if n, want := len(folded.Arrays), len(full.Arrays); n != want {
		return fmt.Errorf("the fold has %d arrays, the filter %d", n, want)
	}
	if n, want := len(folded.Parts), len(full.Parts); n != want {
		return fmt.Errorf("the fold has %d parts, the filter %d", n, want)
	}
	for i, a := range full.Arrays {
		if err := checkFold(folded.Arrays[i], a, r); err != nil {
			return fmt.Errorf("array %d: %w", i, err)
		}
	}
	for i, p := range full.Parts {
		if err := folded.Parts[i].CheckMatch(p); err != nil {
			return fmt.Errorf("part %d: %v", i, err)
		}
		if err := checkFolds(folded.Parts[i], p, r); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// checkFold is checkFolds for an array.
func checkFold(folded, full cells.Array, r *uint64) error {
	if folded.Equal(full) {
		return nil
	}
	if !foldable(folded, full) || folded.Len > full.Len {
		return fmt.Errorf("%d cells of %d bits are no fold of %d cells of %d bits",
			folded.Len, folded.Width, full.Len, full.Width)
	}
	factor := full.Len / folded.Len
	if *r > 1 && factor != *r {
		return fmt.Errorf("folded by %d, another array by %d", factor, *r)
	}
	*r = factor
	for _, group := range groups(folded.Len) {
		s := source{form: formUnfold, factor: factor, group: group}
		if base, a := s.heads(folded, full); s.isFold(base, a) && s.isFold(folded, full) {
			return nil
		}
	}
	return fmt.Errorf("%d cells have the size of a fold of %d by %d, but not its content", folded.Len, full.Len, factor)
}
