package format

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Source has the cells of arrays that have no words.
type Source interface {
	// Fill sets the cells of a block, which are zero: the one that begins with cell first of the array with the given
	// number, counted through all states. Blocks are filled in the order of the container.
	Fill(array int, first uint64, b cells.Array) error
}

// Sink observes what is written.
type Sink interface {
	// Encoded is called with each job before it is written, in the order of the container.
	Encoded(j *block.EncodeJob)
	// Wrote is called with each block or run of blocks that was written.
	Wrote(block.Written)
}

// Packed returns an ArrayWriter of blocks in their smallest coding. With a source, arrays have no words and
// are filled from it. With a sink, it observes the jobs.
func Packed(workers int, from Source, to Sink) ArrayWriter {
	p := &packed{from: from, to: to, array: -1}
	p.pipeline = block.Pipeline[block.EncodeJob]{Workers: workers, Read: p.read, Work: (*block.EncodeJob).Encode, Write: p.write}
	return p.put
}

// Raw is Packed with raw blocks: the canonical form.
func Raw(from Source, to Sink) ArrayWriter {
	p := &packed{from: from, to: to, array: -1}
	p.pipeline = block.Pipeline[block.EncodeJob]{Read: p.read, Work: (*block.EncodeJob).Raw, Write: p.write}
	return p.put
}

// packed writes arrays in jobs.
type packed struct {
	from     Source
	to       Sink
	pipeline block.Pipeline[block.EncodeJob]
	w        *Writer
	a        cells.Array
	array    int    // the number of a
	next     uint64 // its first block that is in no job
	step     int    // blocks of a job
	run      block.Runner
	buf      []byte // a run
}

// put writes an array.
func (p *packed) put(w *Writer, a cells.Array) {
	p.w, p.a, p.next = w, a, 0
	p.array++
	p.step = block.BatchSize(block.Count(a), p.pipeline.Workers)
	if p.pipeline.Run() == nil { // w keeps the error
		p.endRun()
		w.Flush()
	}
}

// read puts the next blocks into a job.
func (p *packed) read(j *block.EncodeJob) bool {
	j.Array, j.Blocks, j.Runs = p.array, j.Blocks[:0], block.Count(p.a) > 1
	for n := block.Count(p.a); len(j.Blocks) < p.step && p.next < n && p.w.Err == nil; p.next++ {
		var b cells.Array
		if b, p.w.Err = p.block(j); p.w.Err == nil {
			j.Blocks = append(j.Blocks, b)
		}
	}
	return len(j.Blocks) > 0
}

// block returns the next block of a job.
func (p *packed) block(j *block.EncodeJob) (cells.Array, error) {
	if p.from == nil {
		return block.At(p.a, p.next), nil
	}
	b := j.Scratch.Block(p.a, p.next, len(j.Blocks), p.step)
	err := p.from.Fill(p.array, p.next*block.Cells(p.a), b)
	if err == nil {
		if err = block.CheckEnd(b); err != nil {
			err = fmt.Errorf("array %d: block %d: %w", p.array, p.next, err)
		}
	}
	return b, err
}

// write writes the blocks of a job.
func (p *packed) write(j *block.EncodeJob) error {
	if p.to != nil {
		p.to.Encoded(j)
	}
	for i, b := range j.Blocks {
		e := &j.Encoded[i]
		if !e.IsRare || !p.run.Fits(e, b) {
			p.endRun()
		}
		if e.IsRare {
			p.run.Add(e, b)
			continue
		}
		p.w.encoded(e, b)
		p.wrote(block.Written{Coding: e.Coding, Blocks: 1, Bytes: uint64(e.Bytes(b))})
	}
	p.w.Flush()
	return p.w.Err
}

// endRun writes the blocks of a run, in one coding or apart, whichever takes fewer bytes.
func (p *packed) endRun() {
	run, ok := p.run.Append(p.buf[:0], p.a.Width)
	p.buf = run
	if ok {
		p.w.Buf = append(p.w.Buf, run...)
		p.wrote(block.Written{Coding: block.Rare, Blocks: uint64(len(p.run.Each)), Bytes: uint64(len(run))})
	} else {
		p.w.Buf = append(p.w.Buf, p.run.Apart...)
		for _, e := range p.run.Each {
			p.wrote(e)
		}
	}
	p.run.Reset()
}

func (p *packed) wrote(b block.Written) {
	if p.to != nil {
		p.to.Wrote(b)
	}
}

// encoded writes an encoded block.
func (w *Writer) encoded(e *block.Encoded, b cells.Array) {
	switch e.Coding {
	case block.Raw:
		w.RawBlock(b)
	case block.Empty, block.Full:
		w.Buf = append(w.Buf, e.Coding)
	default:
		w.Buf = append(w.Buf, e.Coding)
		w.Buf = binary.AppendUvarint(w.Buf, uint64(len(e.Payload)))
		w.bytes(e.Payload)
	}
}

// Appender is an io.Writer that appends.
type Appender []byte

func (a *Appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}
