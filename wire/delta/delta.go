// Package delta encodes the difference between two states of a filter, the base and the
// result: [Append] makes a message with which a reader who has the base reconstructs the
// result by [Apply]. If the base is the fold of the result, the delta is a refinement: it encodes what the fold
// lost. Package delta handles states of any kind.
//
// All functions may be called concurrently. They read states with plain loads: nothing may
// change a filter, not even atomically, while its state is read.
//
// The format is spec/delta.md and spec/codings.md. All versions of this package read
// version 1. They write version 2, the short form.
package delta

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
	"github.com/umbel-filters/umbel/wire/internal/roots"
)

// Append appends the delta from base to result to dst. Each bit is coded given the bit of
// the base. Mitzenmacher 2002, section IV, sends the exclusive or of both states instead;
// that takes as much if filters are half full and up to 30 % more if they are sparse
// (docs/papers.md). A delta is at most some 30 bytes longer than the container of the
// result that a [wire.Packer] writes.
//
// The states may differ in everything but kind and hasher: in parameters and in the number
// and length of arrays and parts. A fold can be sent at once and the refinement later, the delta from the
// fold to the filter: together they take about 40 bytes more than the whole filter, because
// H(full) = H(folded) + H(full | folded).
//
// A delta has the notes of the result if they are others than those of the base; only that they become zero
// is not coded. Append returns an error wrapping umbel.ErrMismatch if kind or hasher differ; send a container
// then. Other errors are those of [wire.Append] for either state. On error dst is unchanged.
func Append(dst []byte, base, result umbel.State) ([]byte, error) {
	return Encoder{}.Append(dst, base, result)
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
	w.Short = true
	w.Buf = append(w.Buf, format.ShortDeltaMagic...)
	w.Buf = append(w.Buf, e.Base[:baseBytes]...)
	w.Buf = append(w.Buf, e.Result[:resultBytes]...)
	w.delta(base, result)
	w.Sum()
	return out, nil
}

// checkBoth returns an error unless a delta from base to result exists.
func checkBoth(base, result umbel.State) error {
	for _, s := range []umbel.State{base, result} {
		if err := s.Check(); err != nil {
			return err
		}
	}
	if err := base.CheckMatch(result); err != nil {
		return fmt.Errorf("these filters have no delta, send a container: %w", err)
	}
	return nil
}
