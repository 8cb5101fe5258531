package format

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/mem"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Array reads the next array of s. In a scan it gets no words.
func (r *Reader) Array(s *umbel.State) (cells.Array, error) {
	a, beyond, err := r.header()
	if err != nil {
		return a, err
	}
	if r.visit != nil {
		if err := r.scan(s, a); err != nil {
			return a, err
		}
		return a, r.checkUsed(r.Off)
	}
	words, n := block.NumWords(a), block.Count(a)
	if n == 0 && r.Begin != nil {
		r.Begin(a)
	}
	for done := uint64(0); done < n; {
		if a.Words, err = r.grow(a.Words, words, beyond); err != nil {
			return a, err
		}
		end := min(n, uint64(len(a.Words)+block.Words-1)/block.Words)
		if err := r.blocks(a, done, end); err != nil {
			return a, err
		}
		done = end
	}
	return a, r.checkUsed(r.Off)
}

// header reads the width and the number of cells of an array, and claims its memory. It
// reports whether that is beyond the limit.
func (r *Reader) header() (a cells.Array, beyond bool, err error) {
	b, err := r.Next(1 + 8)
	if err != nil {
		return a, false, err
	}
	a = cells.Array{Width: uint(b[0]), Len: binary.LittleEndian.Uint64(b[1:])}
	if _, err := cells.WordsFor(a.Len, a.Width); err != nil {
		return a, false, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	r.contiguous = false
	beyond, err = r.Claim(a, block.Count(a))
	return a, beyond, err
}

// Claim claims the memory of an array that is encoded in at least the given number of
// bytes. It reports whether that is beyond the limit.
func (r *Reader) Claim(a cells.Array, encoded uint64) (beyond bool, err error) {
	bytes := 8 * block.NumWords(a)
	if beyond, err = r.claim(bytes); err != nil {
		return beyond, err
	}
	if left := r.Left(); encoded > left {
		return beyond, sentinel.Errorf(umbel.ErrCorrupt, "%d blocks in the %d bytes that are left", encoded, left)
	}
	if r.Reserve == nil {
		return beyond, nil
	}
	return beyond, r.Reserve(bytes)
}

// firstWords is the memory, 1 MiB, that an array gets before any of its blocks is read.
const firstWords = 1 << 17

// grow returns a copy of words with more memory, at last for n words. All is allocated at
// once if the source is known to be long enough and the limit permits it.
func (r *Reader) grow(words []uint64, n uint64, beyond bool) ([]uint64, error) {
	next := n
	if r.size == unknown || beyond {
		next = min(n, max(4*uint64(len(words)), firstWords))
	}
	if beyond {
		if next = min(next, r.allowed(8*n, r.Off)/8&^(block.Words-1)); next <= uint64(len(words)) {
			return nil, sentinel.Errorf(umbel.ErrLimit, "%d bytes of cells in %d bytes, the limit is %d: raise the limit to read it",
				len(words)*8, r.Off, r.Bytes)
		}
	}
	a, err := cells.New(next, 64)
	if err != nil {
		return nil, sentinel.Wrap(umbel.ErrLimit, err)
	}
	mem.Copy(a.Words, words)
	return a.Words, nil
}

// blocks reads the blocks of an array from number from up to end; the words are zero.
func (r *Reader) blocks(a cells.Array, from, end uint64) error {
	r.pipeline.Work = (*block.DecodeJob).Decode
	if r.Begin != nil {
		done := r.Begin(a)
		r.pipeline.Work = func(j *block.DecodeJob) {
			j.Decode()
			for i := range j.Good() {
				done(j.First + uint64(i))
			}
		}
	}
	r.pipeline.Read = r.jobs(from, end, func(_ *block.DecodeJob, i uint64) cells.Array { return block.At(a, i) })
	r.pipeline.Write = r.finish
	return r.pipeline.Run()
}

// scan reads the blocks of the array a, the next one of s, and passes them to visit.
func (r *Reader) scan(s *umbel.State, a cells.Array) error {
	state := *s
	state.Arrays = append(state.Arrays, a)
	n := block.Count(a)
	step := block.BatchSize(n, r.Workers)
	r.pipeline.Read = r.jobs(0, n, func(j *block.DecodeJob, i uint64) cells.Array {
		return j.Scratch.Block(a, i, len(j.Blocks), step)
	})
	r.pipeline.Write = func(j *block.DecodeJob) error {
		for i, b := range j.Good() {
			if block.IsZero(b) {
				continue
			}
			first := (j.First + uint64(i)) * block.Cells(a)
			if err := r.visit(r.part, state, first, b); err != nil {
				return r.fail(j, i, err)
			}
		}
		return r.finish(j)
	}
	return r.pipeline.Run()
}

// jobs returns the Read step for blocks from number from up to end. place returns the
// memory of a block, whose words are zero.
func (r *Reader) jobs(from, end uint64, place func(j *block.DecodeJob, i uint64) cells.Array) func(*block.DecodeJob) bool {
	next, step := from, block.BatchSize(end-from, r.Workers)
	return func(j *block.DecodeJob) bool {
		j.Reset(next)
		for i := 0; i < step && next < end; i++ {
			j.Blocks = append(j.Blocks, place(j, next))
			next++
			coding, err := r.coding(next - 1)
			if err == nil {
				err = r.Block(coding, j, i)
			}
			j.Ends = append(j.Ends, r.Off)
			if err != nil {
				j.Fail(i, err)
				next = end // the next block can't be found
			}
		}
		return len(j.Blocks) > 0
	}
}

// coding reads the coding of block i of an array.
func (r *Reader) coding(i uint64) (byte, error) {
	if r.contiguous {
		return block.Raw, nil
	}
	coding, err := r.Byte()
	if err != nil || coding != block.Contiguous || i > 0 {
		return coding, err
	}
	r.contiguous = true
	return block.Raw, r.padding()
}

// padding reads the bytes before the words of a contiguous array.
func (r *Reader) padding() error {
	n, err := r.Byte()
	if err != nil {
		return err
	}
	if n >= block.Align {
		return sentinel.Errorf(umbel.ErrCorrupt, "padding of %d bytes, want fewer than %d", n, block.Align)
	}
	b, err := r.Next(int(n))
	if err != nil {
		return err
	}
	for _, x := range b {
		if x != 0 {
			return sentinel.Errorf(umbel.ErrCorrupt, "padding with bytes that aren't zero")
		}
	}
	return nil
}

// finish returns the error of a job.
func (r *Reader) finish(j *block.DecodeJob) error {
	if j.Err != nil {
		return r.fail(j, j.Bad, j.Err)
	}
	return nil
}

// fail moves Off back to the end of block i of a job and adds the block's number to err.
func (r *Reader) fail(j *block.DecodeJob, i int, err error) error {
	r.Off = j.Ends[i]
	return fmt.Errorf("block %d: %w", j.First+uint64(i), err)
}

// Block reads what follows the coding of block i of a job; its words are zero. Payloads
// are left to j.Decode.
func (r *Reader) Block(coding byte, j *block.DecodeJob, i int) (err error) {
	b := j.Blocks[i]
	switch coding {
	case block.Raw:
		if err := r.words(b.Words); err != nil {
			return err
		}
		return block.CheckEnd(b)
	case block.Empty:
	case block.Full:
		block.Fill(b)
	case block.Arithmetic, block.Positions:
		if coding == block.Positions && b.Width > 1 {
			return sentinel.Errorf(umbel.ErrCorrupt, "positions of cells of %d bits, want 1", b.Width)
		}
		start := len(j.Bytes)
		if j.Bytes, err = r.Payload(j.Bytes, b.Bytes()); err != nil {
			return err
		}
		j.AddPayload(i, coding, start)
	case block.Contiguous:
		return sentinel.Errorf(umbel.ErrCorrupt, "coding %d, which only the first block of an array in a container has", coding)
	default:
		return sentinel.Errorf(umbel.ErrCorrupt, "coding %d, this program reads 0 to %d: %w", coding, block.Contiguous, errors.ErrUnsupported)
	}
	return nil
}
