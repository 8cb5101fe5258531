package share

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// notesName is the record that refers to the notes of a publisher: what the next publisher needs in
// order to continue the ladder of deltas. Subscribers do not read it. Without notes, or with notes to
// another version than that of the head, the next version has a delta from the last one only.
const notesName = "publisher"

const notesMagic = "umbpub\n\x01"

// Close writes the notes with which the next publisher of the store continues. It does not end the
// validity of the head.
func (p *Publisher) Close(ctx context.Context) error {
	if p.head == nil {
		return nil
	}
	r, err := putBytes(ctx, p.catalog, p.notes())
	if err != nil {
		return fmt.Errorf("share: write the notes of the publisher: %w", err)
	}
	if err := p.o.Store.PutRecord(ctx, notesName, fmt.Appendf(nil, "%d %s\n", r.Bytes, r.Hash)); err != nil {
		return fmt.Errorf("share: write the notes of the publisher: %w", err)
	}
	return nil
}

// notes encodes the version, the objects that are unused, and the history.
func (p *Publisher) notes() []byte {
	b := append([]byte(notesMagic), p.head.Stream.String()...)
	b = binary.AppendUvarint(b, p.head.Version)
	b = binary.AppendUvarint(b, uint64(len(p.catalog.unused)))
	for name, since := range p.catalog.unused {
		b = appendString(b, name)
		b = binary.AppendUvarint(b, uint64(max(0, since.UnixMilli())))
	}
	b = binary.AppendUvarint(b, uint64(len(p.history.revisions)))
	for _, r := range p.history.revisions {
		before, err := wire.Append(nil, r.before)
		if err != nil {
			panic(fmt.Sprintf("share: %v", err)) // the state was published
		}
		b = appendString(b, string(before))
		for _, flips := range r.flips {
			b = binary.AppendUvarint(b, uint64(len(flips)))
			next := uint64(0)
			for _, f := range flips {
				b = binary.AppendUvarint(b, f.Word-next)
				b = binary.LittleEndian.AppendUint64(b, f.Mask)
				next = f.Word + 1
			}
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// resume continues the stream in the store.
func (p *Publisher) resume(ctx context.Context, h *Head) error {
	r := reacher{
		source: p.o.Store, limits: wire.NoLimits, note: func(string, error) {},
		fetched: func(context.Context, Ref, []byte) error { return nil },
	}
	x, err := r.readIndex(ctx, h.Index)
	if err != nil {
		return err
	}
	got, err := r.reach(ctx, h, held{})
	if err != nil {
		return err
	}
	e, err := openEdition(ctx, &r, h.Version, x)
	if err != nil {
		return err
	}
	since, revisions, err := p.readNotes(ctx, &r, h, got.state)
	if err != nil && !isLost(err) {
		return err
	}
	p.head, p.before, p.stream = h, h.Time, h.Stream
	p.history, p.tree = newHistory(got.state, h.Version, revisions), got.tree
	e.index = h.Index
	p.catalog.commit(e)
	p.catalog.published()
	for name := range p.catalog.unused {
		if at, ok := since[name]; ok {
			p.catalog.unused[name] = at
		}
	}
	return nil
}

// openEdition returns the edition that an index describes.
func openEdition(ctx context.Context, r *reacher, version uint64, x *Index) (*edition, error) {
	e := &edition{version: version, snapshots: x.Snapshots, deltas: make(map[edge]Ref), pages: make(map[uint64]Ref)}
	for _, d := range x.Deltas {
		e.deltas[edge{d.From, d.To}] = d.Ref
	}
	for _, listed := range x.Pages {
		p, err := r.readIndex(ctx, listed.Ref)
		if err != nil {
			return nil, err
		}
		e.pages[listed.Number] = listed.Ref
		for _, d := range p.Deltas {
			e.deltas[edge{d.From, d.To}] = d.Ref
		}
	}
	return e, nil
}

// readNotes reads the notes to the version of a head.
func (p *Publisher) readNotes(ctx context.Context, r *reacher, h *Head, s umbel.State) (since map[string]time.Time, revisions []revision, err error) {
	record, err := p.o.Store.Record(ctx, notesName)
	if err != nil {
		return nil, nil, err
	}
	f := fields{}
	bytes, name, _ := strings.Cut(strings.TrimSuffix(string(record), "\n"), " ")
	ref := f.ref(bytes, name)
	if f.err != nil {
		return nil, nil, f.err
	}
	b, err := fetch(ctx, r.source, ref)
	if err != nil {
		return nil, nil, err
	}
	return parseNotes(b, h, s)
}

// parseNotes decodes notes to the version of a head, whose state is s.
func parseNotes(b []byte, h *Head, s umbel.State) (since map[string]time.Time, revisions []revision, err error) {
	want := append([]byte(notesMagic), h.Stream.String()...)
	want = binary.AppendUvarint(want, h.Version)
	rest, ok := bytes.CutPrefix(b, want)
	if !ok {
		return nil, nil, fmt.Errorf("share: the notes are to another version: %w", ErrNotFound)
	}
	r := indexReader{b: rest}
	since = make(map[string]time.Time)
	for range r.count(1 + 1) {
		name := string(r.next(int(r.count(1))))
		since[name] = time.UnixMilli(int64(r.uvarint() & (1<<53 - 1)))
	}
	arrays := flatten(nil, s)
	n := r.count(1)
	if n >= h.Version {
		r.fail("%d earlier versions of version %d", n, h.Version)
		return nil, nil, r.err
	}
	for range n {
		var v revision
		before, err := wire.Parse(r.next(int(r.count(1))), wire.Limits{Bytes: 1}) // it has no arrays
		if err != nil {
			return nil, nil, err
		}
		if v.before = before; !sameParts(before, s) {
			r.fail("a state of another shape")
		}
		for _, a := range arrays {
			v.flips = append(v.flips, r.flips(a))
		}
		revisions = append(revisions, v)
	}
	for i := range revisions {
		revisions[i].after = wordless(s)
		if i+1 < len(revisions) {
			revisions[i].after = revisions[i+1].before
		}
	}
	if len(r.b) > 0 {
		r.fail("%d bytes follow the notes", len(r.b))
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	return since, revisions, nil
}

// flips reads the flips of an array.
func (r *indexReader) flips(a cells.Array) (list []delta.Flip) {
	next := uint64(0)
	for range r.count(1 + 8) {
		gap := r.uvarint()
		if gap >= uint64(len(a.Words))-next {
			r.fail("a change beyond the last word")
			return nil
		}
		f := delta.Flip{Word: next + gap, Mask: binary.LittleEndian.Uint64(r.next(8))}
		next = f.Word + 1
		used := a.Len * uint64(max(a.Width, 1)) % 64
		if f.Mask == 0 || next == uint64(len(a.Words)) && used > 0 && f.Mask>>used != 0 {
			r.fail("word %d changes in %#x", f.Word, f.Mask)
			return nil
		}
		list = append(list, f)
	}
	return list
}
