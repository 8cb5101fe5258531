package share

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"golang.org/x/mod/sumdb/note"
)

// notesName is the record that refers to the notes of a publisher: what the next publisher needs in
// order to continue the ladder of deltas. Subscribers do not read it. Without notes, or with notes to
// another version than that of the head, the next version has a delta from the last one only.
const notesName = "publisher"

const notesMagic = "umbpub\n\x01"

// Close writes the notes with which the next publisher of the store continues. It does not end the
// validity of the head.
func (p *Publisher) Close(ctx context.Context) error {
	var record []byte
	unused := p.catalog.unused
	for _, c := range p.classes {
		if c.head == nil {
			continue
		}
		r, err := putBytes(ctx, p.catalog, c.notes(unused))
		if err != nil {
			return fmt.Errorf("share: write the notes of the publisher: %w", err)
		}
		record = fmt.Appendf(record, "%d %d %s\n", c.fold, r.Bytes, r.Hash)
		unused = nil
	}
	if record == nil {
		return nil
	}
	if err := p.o.Store.PutRecord(ctx, notesName, record); err != nil {
		return fmt.Errorf("share: write the notes of the publisher: %w", err)
	}
	return nil
}

// notes encodes the version, objects that are unused, and the history.
func (c *class) notes(unused map[string]time.Time) []byte {
	b := append([]byte(notesMagic), c.head.Stream.String()...)
	b = binary.AppendUvarint(b, c.head.Version)
	b = binary.AppendUvarint(b, uint64(len(unused)))
	for name, since := range unused {
		b = appendString(b, name)
		b = binary.AppendUvarint(b, uint64(max(0, since.UnixMilli())))
	}
	b = binary.AppendUvarint(b, uint64(len(c.history.revisions)))
	for _, r := range c.history.revisions {
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

// resume continues the stream in the store, and reports whether there is one that can be read. A class
// that cannot be read, or that lacks the last version because the publisher was killed, begins again.
func (p *Publisher) resume(ctx context.Context) (bool, error) {
	heads := make([]*Head, len(p.classes))
	for i, c := range p.classes {
		h, err := c.last(ctx)
		if err != nil {
			return false, err
		}
		if heads[i] = h; h == nil {
			continue
		}
		if h.Time.After(p.before) {
			p.before = h.Time
		}
		switch order := h.Stream.Compare(p.stream); {
		case order > 0:
			p.stream, p.version = h.Stream, h.Version
		case order == 0:
			p.version = max(p.version, h.Version)
		}
	}
	if heads[0] == nil {
		return false, nil
	}
	for i, c := range p.classes {
		h := heads[i]
		if h == nil || h.Stream != p.stream || h.Version != p.version {
			continue
		}
		err := c.resume(ctx, h)
		if isLost(err) && i > 0 {
			continue
		}
		if isLost(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	if !p.isComplete() {
		return true, nil // the heads in the store still need their objects
	}
	var editions []*edition
	since := make(map[string]time.Time)
	for _, c := range p.classes {
		editions = append(editions, c.current)
		maps.Copy(since, c.unused)
	}
	p.catalog.published(editions...)
	for name := range p.catalog.unused {
		if at, ok := since[name]; ok {
			p.catalog.unused[name] = at
		}
	}
	return true, nil
}

// isLost reports whether an error of a store means that an object is not there any more.
func isLost(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// last returns the head in the store, and nil if there is none.
func (c *class) last(ctx context.Context) (*Head, error) {
	name := ClassRecord(c.fold)
	signed, err := c.catalog.Record(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("share: read the last head: %w", err)
	}
	h, err := OpenHead(signed, c.o.Key.Signer.Name(), note.VerifierList(c.o.Key.Verifier))
	if err == nil {
		err = h.checkClass(c.fold)
	}
	if err != nil {
		return nil, fmt.Errorf("share: the record %s in the store is damaged, or of another publication: use another store, or remove the record to begin a new stream: %w", name, err)
	}
	c.signed = signed
	return h, nil
}

// resume continues after the version of a head.
func (c *class) resume(ctx context.Context, h *Head) error {
	r := reacher{
		source: c.catalog, limits: wire.NoLimits, note: func(string, error) {},
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
	since, revisions, err := c.readNotes(ctx, h, got.state)
	if err != nil && !isLost(err) {
		return err
	}
	c.head, c.tree, c.unused = h, got.tree, since
	c.history = newHistory(got.state, h.Version, revisions)
	e.index = h.Index
	c.current = e
	c.catalog.commit(e)
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
func (c *class) readNotes(ctx context.Context, h *Head, s umbel.State) (since map[string]time.Time, revisions []revision, err error) {
	record, err := c.catalog.Record(ctx, notesName)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(record)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != strconv.FormatUint(c.fold, 10) {
			continue
		}
		p := fields{}
		ref := p.ref(f[1], f[2])
		if p.err != nil {
			return nil, nil, p.err
		}
		b, err := fetch(ctx, c.catalog, ref)
		if err != nil {
			return nil, nil, err
		}
		return parseNotes(b, h, s)
	}
	return nil, nil, fmt.Errorf("share: the class %d has no notes: %w", c.fold, ErrNotFound)
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
