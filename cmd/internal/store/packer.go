package store

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/zeebo/xxh3"
)

// packer puts segments to blobs, small ones together, and entries to a catalogue.
type packer struct {
	log oplog.Log
	// put is told of each blob that was written.
	put func(number uint64, size int)

	pack    []byte       // the blob that is being filled
	waiting []*reference // to pack, whose blob has no number yet
	done    []packed     // filters of which all references are made, or wait

	page      []byte // the part of the catalogue that is being filled
	catalogue []reference
	written   uint64 // bytes of blobs
	// entry is given each entry when all it refers to is written.
	entry func(id uint64, version uint64, entry []byte)
}

// packed is a filter whose entry waits for its blobs.
type packed struct {
	meta     engine.Meta
	version  uint64
	segments []*reference
}

func newPacker(l oplog.Log) *packer {
	return &packer{
		log: l, pack: make([]byte, 0, oplog.MaxBlob), page: make([]byte, 0, oplog.MaxBlob),
		put:   func(uint64, int) {},
		entry: func(uint64, uint64, []byte) {},
	}
}

// room returns memory for a segment, which add then takes.
func (p *packer) room(ctx context.Context) ([]byte, error) {
	if cap(p.pack)-len(p.pack) < engine.SegmentBytes {
		if err := p.flush(ctx); err != nil {
			return nil, err
		}
	}
	n := len(p.pack)
	return p.pack[n : n+engine.SegmentBytes : n+engine.SegmentBytes], nil
}

// add keeps the segment of n bytes that is in the memory that room returned last, unless
// there is nothing in it, or old, if it isn't nil, refers to the same bytes.
func (p *packer) add(n int, old *reference) *reference {
	at := len(p.pack)
	data := p.pack[at : at+n]
	if zero(data) {
		return &reference{length: uint32(n)}
	}
	r := &reference{offset: uint32(at), length: uint32(n), sum: xxh3.Hash128(data)}
	if old != nil && old.blob != 0 && old.length == r.length && old.sum == r.sum {
		return old
	}
	p.pack = p.pack[:at+n]
	p.waiting = append(p.waiting, r)
	return r
}

// maxDone is how many filters wait for their blobs: those without cells fill none.
const maxDone = 1 << 10

// filter says that all segments of a filter were added.
func (p *packer) filter(ctx context.Context, m engine.Meta, version uint64, segments []*reference) error {
	p.done = append(p.done, packed{m, version, segments})
	if len(p.done) < maxDone {
		return nil
	}
	return p.flush(ctx)
}

// flush writes the blob, and the entries of the filters that are complete with it.
func (p *packer) flush(ctx context.Context) error {
	if len(p.pack) > 0 {
		number, err := p.putBlob(ctx, p.pack)
		if err != nil {
			return err
		}
		for _, r := range p.waiting {
			r.blob = number
		}
		p.pack, p.waiting = p.pack[:0], p.waiting[:0]
	}
	for _, f := range p.done {
		segments := make([]reference, len(f.segments))
		for i, r := range f.segments {
			segments[i] = *r
		}
		p.entry(f.meta.ID, f.version, appendEntry(nil, &f.meta, segments))
	}
	clear(p.done)
	p.done = p.done[:0]
	return nil
}

// enter writes an entry to the catalogue.
func (p *packer) enter(ctx context.Context, entry []byte) error {
	if err := p.print(ctx, binary.AppendUvarint(nil, uint64(len(entry)))); err != nil {
		return err
	}
	return p.print(ctx, entry)
}

// print writes bytes to the catalogue.
func (p *packer) print(ctx context.Context, b []byte) error {
	for len(b) > 0 {
		n := copy(p.page[len(p.page):cap(p.page)], b)
		p.page = p.page[:len(p.page)+n]
		b = b[n:]
		if len(p.page) == cap(p.page) {
			if err := p.turn(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn writes the page of the catalogue.
func (p *packer) turn(ctx context.Context) error {
	if len(p.page) == 0 {
		return nil
	}
	number, err := p.putBlob(ctx, p.page)
	if err != nil {
		return err
	}
	p.catalogue = append(p.catalogue, reference{blob: number, length: uint32(len(p.page)), sum: xxh3.Hash128(p.page)})
	p.page = p.page[:0]
	return nil
}

// finish writes what is left of the catalogue and returns where it is.
func (p *packer) finish(ctx context.Context) ([]reference, error) {
	err := p.turn(ctx)
	return p.catalogue, err
}

func (p *packer) putBlob(ctx context.Context, data []byte) (uint64, error) {
	number, err := p.log.PutBlob(ctx, data)
	if err != nil {
		return 0, fmt.Errorf("store: a blob of a snapshot: %w", err)
	}
	p.put(number, len(data))
	p.written += uint64(len(data))
	return number, nil
}

// zero reports whether all bytes are.
func zero(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
	}
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
