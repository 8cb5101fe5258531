package snapshot

import (
	"context"
	"encoding/binary"

	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/zeebo/xxh3"
)

// packer writes segments to pieces, small ones together, and entries to a catalog.
type packer struct {
	files *snapfile.Dir

	pack         []byte       // the piece that is being filled
	waiting      []*Reference // to pack, whose piece has no number yet
	done         []packed     // filters whose segments have been added, in the order of their IDs
	copied, kept int          // number of filters in done with new copies; bytes of the other entries in done

	page    []byte // the part of the catalog that is being filled
	catalog []Reference
	written uint64 // bytes of pieces
	// entry is called with each entry after its segments were written.
	entry func(ctx context.Context, entry []byte) error
	wrote func(n int) // is called with the size of each piece
}

// packed is a filter whose entry waits for its pieces, or for those of the filters before.
type packed struct {
	meta     *engine.Meta // nil: entry is the entry
	segments []*Reference
	entry    []byte
}

// newPacker returns a packer that writes entries to the catalog at once.
func newPacker(files *snapfile.Dir) *packer {
	p := &packer{
		files: files, pack: make([]byte, 0, snapfile.MaxPiece), page: make([]byte, 0, maxPage), wrote: func(int) {},
	}
	p.entry = p.enter
	return p
}

// maxPage is the size of a piece of the catalog.
const maxPage = snapfile.MaxPiece / 4

// room returns memory for a segment, for add.
func (p *packer) room(ctx context.Context) ([]byte, error) {
	if cap(p.pack)-len(p.pack) < engine.SegmentBytes {
		if err := p.flush(ctx); err != nil {
			return nil, err
		}
	}
	n := len(p.pack)
	return p.pack[n : n+engine.SegmentBytes : n+engine.SegmentBytes], nil
}

// add adds the segment in the first n bytes of the memory that room returned last. Nothing is written
// if all its bytes are zero, or if old is not nil and refers to the same bytes.
func (p *packer) add(n int, old *Reference) *Reference {
	at := len(p.pack)
	data := p.pack[at : at+n]
	if zero(data) {
		return &Reference{length: uint32(n)}
	}
	r := &Reference{offset: uint32(at), length: uint32(n), sum: xxh3.Hash128(data)}
	if old != nil && old.piece != 0 && old.length == r.length && old.sum == r.sum {
		return old
	}
	p.pack = p.pack[:at+n]
	p.waiting = append(p.waiting, r)
	return r
}

const (
	// maxCopied is the maximum number of filters that wait for their pieces: those without cells fill none.
	maxCopied = 1 << 10
	// maxKept is the maximum size of the entries that wait for the pieces of filters before them.
	maxKept = 4 << 20
)

// filter adds the entry of a filter whose segments have all been added. IDs must ascend.
func (p *packer) filter(ctx context.Context, m engine.Meta, segments []*Reference) error {
	p.done = append(p.done, packed{meta: &m, segments: segments})
	if p.copied++; p.copied < maxCopied {
		return nil
	}
	return p.flush(ctx)
}

// keep adds an entry whose segments the last snapshot has. IDs must ascend.
func (p *packer) keep(ctx context.Context, entry []byte) error {
	if len(p.done) == 0 {
		return p.entry(ctx, entry)
	}
	p.done = append(p.done, packed{entry: entry})
	if p.kept += len(entry); p.kept < maxKept {
		return nil
	}
	return p.flush(ctx)
}

// flush writes the piece, and the entries of the filters that are complete with it.
func (p *packer) flush(ctx context.Context) error {
	if len(p.pack) > 0 {
		number, err := p.put(ctx, p.pack)
		if err != nil {
			return err
		}
		for _, r := range p.waiting {
			r.piece = number
		}
		p.pack, p.waiting = p.pack[:0], p.waiting[:0]
	}
	for _, f := range p.done {
		if f.meta != nil {
			f.entry = AppendEntry(nil, f.meta, values(f.segments))
		}
		if err := p.entry(ctx, f.entry); err != nil {
			return err
		}
	}
	clear(p.done)
	p.done, p.copied, p.kept = p.done[:0], 0, 0
	return nil
}

// enter writes an entry to the catalog.
func (p *packer) enter(ctx context.Context, entry []byte) error {
	if err := p.write(ctx, binary.AppendUvarint(nil, uint64(len(entry)))); err != nil {
		return err
	}
	return p.write(ctx, entry)
}

// write writes bytes to the catalog.
func (p *packer) write(ctx context.Context, b []byte) error {
	for len(b) > 0 {
		n := copy(p.page[len(p.page):cap(p.page)], b)
		p.page = p.page[:len(p.page)+n]
		b = b[n:]
		if len(p.page) == cap(p.page) {
			if err := p.endPage(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// endPage writes the page of the catalog.
func (p *packer) endPage(ctx context.Context) error {
	if len(p.page) == 0 {
		return nil
	}
	number, err := p.put(ctx, p.page)
	if err != nil {
		return err
	}
	p.catalog = append(p.catalog, Reference{piece: number, length: uint32(len(p.page)), sum: xxh3.Hash128(p.page)})
	p.page = p.page[:0]
	return nil
}

// finish writes what is left of the catalog and returns where it is. Later entries are those of another
// catalog.
func (p *packer) finish(ctx context.Context) ([]Reference, error) {
	err := p.endPage(ctx)
	catalog := p.catalog
	p.catalog = nil
	return catalog, err
}

func (p *packer) put(ctx context.Context, data []byte) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	number, err := p.files.Put(data)
	if err != nil {
		return 0, err
	}
	p.written += uint64(len(data))
	p.wrote(len(data))
	return number, nil
}

// zero reports whether all bytes are zero.
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
