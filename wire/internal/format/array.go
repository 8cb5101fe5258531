package format

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/mem"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Array reads the next array of a container. With Visit it gets no words.
func (r *Reader) Array(a *cells.Array) error {
	width, err := r.Byte()
	if err != nil {
		return err
	}
	return r.arrayOf(a, uint(width))
}

// arrayOf reads the next array, of cells of a width.
func (r *Reader) arrayOf(a *cells.Array, width uint) error {
	if err := r.shape(a, width); err != nil {
		return err
	}
	if r.Index != nil && r.arrays == 0 {
		return r.index(*a)
	}
	array, n := r.arrays, block.Count(*a)
	r.arrays++
	r.contiguous = false
	if r.Borrow && r.borrow(a, n) {
		return block.CheckEnd(*a)
	}
	least := n // bytes
	if n > 0 {
		least = (n-1)/block.MaxRun + 1
	}
	beyond, err := r.Claim(*a, least)
	if err != nil {
		return err
	}
	if r.Visit != nil {
		err = r.scan(*a, array)
	} else {
		err = r.allocated(a, n, beyond)
	}
	if err != nil {
		return err
	}
	return r.checkUsed(r.Off)
}

// borrow sets the words of an array of n blocks to those of the source, if they are there together and aligned.
// Otherwise it returns false and reads nothing.
func (r *Reader) borrow(a *cells.Array, n uint64) bool {
	at := r.Off
	coding, err := r.coding(0)
	if bytes := 8 * block.NumWords(*a); err == nil && coding == block.Raw && (r.contiguous || n == 1) && bytes <= r.Left() {
		words, ok := block.Borrow(r.peek()[:bytes])
		if ok {
			a.Words = words
			r.Off += bytes
			return true
		}
	}
	r.Off, r.contiguous = at, false
	return false
}

// allocated reads the n blocks of an array into memory of its own.
func (r *Reader) allocated(a *cells.Array, n uint64, beyond bool) (err error) {
	if n == 0 && r.Begin != nil {
		r.Begin(*a)
	}
	words := block.NumWords(*a)
	if n == 1 && r.isPlain() {
		return r.plainBlock(a, words)
	}
	// An array whose blocks are in runs is longer than the input suggests.
	atOnce := r.Begin != nil || r.size != unknown && !beyond && n <= r.Left()
	for done := uint64(0); done < n; {
		if a.Words, err = r.grow(a.Words, words, beyond, atOnce); err != nil {
			return err
		}
		end := min(n, uint64(len(a.Words)+block.Words-1)/block.Words)
		if err := r.blocks(*a, done, end); err != nil {
			return err
		}
		done = end
	}
	return nil
}

// isPlain reports whether a block without a payload follows in memory. If it is the only one of its array, it needs no
// pipeline.
func (r *Reader) isPlain() bool {
	return r.stream == nil && r.Begin == nil && r.Left() > 0 && r.peek()[0] <= block.Full
}

// plainBlock reads the only block of an array, which has the given number of words and no payload.
func (r *Reader) plainBlock(a *cells.Array, words uint64) error {
	coding, err := r.Byte()
	switch {
	case err != nil:
	case coding == block.Raw:
		var b []byte
		if b, err = r.take(int(8 * words)); err == nil {
			a.Words = block.FromBytes(b)
			err = block.CheckEnd(*a)
		}
	default:
		if a.Words, err = r.grow(nil, words, false, true); err == nil {
			err = r.Block(coding, nil, *a)
		}
	}
	if err != nil {
		return fmt.Errorf("block 0: %w", err)
	}
	return nil
}

// shape reads the number of cells of an array.
func (r *Reader) shape(a *cells.Array, width uint) error {
	n, err := r.Number()
	if err != nil {
		return err
	}
	*a = cells.Array{Width: width, Len: n}
	if _, err := cells.WordsFor(a.Len, a.Width); err != nil {
		return sentinel.Errorf(umbel.ErrCorrupt, "%w", err)
	}
	return nil
}

// Claim claims the memory of an array that is encoded in at least the given number of
// bytes. It reports whether that is beyond the limit.
func (r *Reader) Claim(a cells.Array, encoded uint64) (beyond bool, err error) {
	bytes := 8 * block.NumWords(a)
	if beyond, err = r.claim(bytes); err != nil {
		return beyond, err
	}
	if left := r.Left(); encoded > left {
		return beyond, sentinel.Errorf(umbel.ErrCorrupt, "an array of at least %d bytes in the %d bytes that are left", encoded, left)
	}
	if r.Reserve == nil {
		return beyond, nil
	}
	return beyond, r.Reserve(bytes)
}

// firstWords is the memory, 1 MiB, that an array gets before any of its blocks is read.
const firstWords = 1 << 17

// grow returns a copy of words with more memory, at last for n words; all of it is allocated at once if the
// source is known to be long enough and the limit permits it.
func (r *Reader) grow(words []uint64, n uint64, beyond, atOnce bool) ([]uint64, error) {
	next := n
	if !atOnce {
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
	r.pipeline.Read = r.jobs(a, from, end, func(_ *block.DecodeJob, i uint64) cells.Array { return block.At(a, i) })
	r.pipeline.Write = r.finish
	return r.pipeline.Run()
}

// scan reads the blocks of the array a, which has the given number, and passes them to Visit.
func (r *Reader) scan(a cells.Array, array int) error {
	n := block.Count(a)
	step := r.batch(n)
	r.pipeline.Work = (*block.DecodeJob).Decode
	r.pipeline.Read = r.jobs(a, 0, n, func(j *block.DecodeJob, i uint64) cells.Array {
		return j.Scratch.Block(a, i, len(j.Blocks), step)
	})
	r.pipeline.Write = func(j *block.DecodeJob) error {
		for i, b := range j.Good() {
			if !block.IsZero(b) && !r.Visit(array, (j.First+uint64(i))*block.Cells(a), b) {
				return ErrStopped
			}
		}
		return r.finish(j)
	}
	return r.pipeline.Run()
}

// jobs returns the Read step for blocks of a from number from up to end. place returns the
// memory of a block, whose words are zero.
func (r *Reader) jobs(a cells.Array, from, end uint64, place func(j *block.DecodeJob, i uint64) cells.Array) func(*block.DecodeJob) bool {
	next, step := from, r.batch(end-from)
	return func(j *block.DecodeJob) bool {
		j.Reset(next)
		for i := 0; i < step && next < end; i++ {
			b := place(j, next)
			j.Blocks = append(j.Blocks, b)
			next++
			err := r.nextBlock(a, next-1, j, b)
			j.Ends = append(j.Ends, r.Off)
			if err != nil {
				j.Fail(i, err)
				next = end // the next block can't be found
			}
		}
		return len(j.Blocks) > 0
	}
}

// batch returns the number of blocks of a job. A caller who looks at each block and does all work takes memory for one.
func (r *Reader) batch(n uint64) int {
	if r.Visit != nil && r.Workers <= 1 {
		return 1
	}
	return block.BatchSize(n, r.Workers)
}

// nextBlock reads block i of a, with its coding, into b, whose words are zero.
func (r *Reader) nextBlock(a cells.Array, i uint64, j *block.DecodeJob, b cells.Array) error {
	if r.run.next(b) {
		return nil
	}
	coding, err := r.coding(i)
	if err != nil {
		return err
	}
	if coding != block.Rare {
		return r.Block(coding, j, b)
	}
	if err := r.beginRun(a, i); err != nil {
		return err
	}
	r.run.next(b)
	return nil
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

// Block reads what follows the coding of block b, whose words are zero. A payload is left to j.Decode, as that of the
// last block of j.
func (r *Reader) Block(coding byte, j *block.DecodeJob, b cells.Array) (err error) {
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
		j.AddPayload(coding, start)
	case block.Contiguous:
		return sentinel.Errorf(umbel.ErrCorrupt, "coding %d, which only the first block of an array in a container has", coding)
	case block.Rare:
		return sentinel.Errorf(umbel.ErrCorrupt, "coding %d, which no predicted array has", coding)
	default:
		return sentinel.Errorf(umbel.ErrCorrupt, "coding %d, this program reads 0 to %d: %w", coding, block.Rare, errors.ErrUnsupported)
	}
	return nil
}
