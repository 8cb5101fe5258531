package share

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/wire"
)

// notesName is the record with the notes of a publisher: the history of each class, which the next
// publisher needs in order to continue the ladder of deltas. Subscribers do not read it. Without notes, or
// with notes to another version than that of the head, the next version has a delta from the last one
// only.
//
// The notes are written with each version, before its heads, so that a publisher that is killed loses
// nothing. They consist of parts, each with the revisions between some versions. A version adds a part; one that
// is a multiple of a power of base unites the parts since the last multiple. So a class has at most
// base·levels parts, and each revision is written at most levels times.
const notesName = "publisher"

const (
	notesMagic  = "umbpub\n\x02"
	unusedMagic = "umbuse\n\x01"
)

// inlineBytes is the length up to which a part is in the record itself instead of an object, divided by the
// number of classes, so that the record stays below MaxRecord.
const inlineBytes = 300

// notes are what the record contains.
type notes struct {
	stream  Stream
	version uint64
	unused  Ref // the objects that are unused, written by Close; or zero
	classes []classNotes
}

// classNotes are the notes of a class that has a history.
type classNotes struct {
	fold       uint64
	id, before wire.ID // of the version, and of the one before
	parts      []part  // the last one leads to the version
}

// writeNotes writes the notes to a version.
func (p *Publisher) writeNotes(ctx context.Context, drafts []*draft) (err error) {
	n := notes{stream: p.stream, version: drafts[0].head.Version}
	for _, d := range drafts {
		if !d.connected {
			d.next.parts = nil
			continue
		}
		if err = d.addPart(ctx, inlineBytes/len(drafts)); err != nil {
			return err
		}
		n.classes = append(n.classes, classNotes{d.class.fold, d.head.ID, d.class.head.ID, d.next.parts})
	}
	if n.classes == nil {
		return nil
	}
	return p.o.Store.PutRecord(ctx, notesName, n.append(nil))
}

// addPart adds a part that leads to the version. It is inline if it has at most the given number of bytes.
func (d *draft) addPart(ctx context.Context, inline int) (err error) {
	h := &d.class.history
	begin := h.version - 1
	for step := uint64(base); step < horizon && h.version%step == 0; step *= base {
		begin = h.version - step
	}
	old := slices.DeleteFunc(slices.Clone(d.next.parts), func(x part) bool { return x.to <= h.oldest() || x.from >= begin })
	added := part{from: h.oldest(), to: h.version}
	if len(old) > 0 {
		added.from = old[len(old)-1].to
	}
	revisions, _ := h.after(added.from)
	b := appendRevisions(nil, revisions)
	if added.inline = b; len(b) > inline {
		added.inline = nil
		added.ref, err = putBytes(ctx, d.class.catalog, b)
	}
	d.next.parts = append(old, added)
	return err
}

// Close notes which objects are unused, so that the next publisher of the store removes them in time. It
// does not end the validity of the head.
func (p *Publisher) Close(ctx context.Context) (err error) {
	if p.Head() == nil {
		return nil
	}
	n := notes{stream: p.stream, version: p.version}
	for _, c := range p.classes {
		if c.head != nil && len(c.current.parts) > 0 {
			n.classes = append(n.classes, classNotes{fold: c.fold, id: c.head.ID, parts: c.current.parts})
		}
	}
	if n.unused, err = putBytes(ctx, p.catalog, appendUnused(nil, p.catalog.unused)); err == nil {
		err = p.o.Store.PutRecord(ctx, notesName, n.append(nil))
	}
	if err != nil {
		return fmt.Errorf("write the notes of the publisher: %w", err)
	}
	return nil
}

// append encodes the notes.
func (n *notes) append(b []byte) []byte {
	b = append(append(b, notesMagic...), n.stream.String()...)
	b = binary.AppendUvarint(b, n.version)
	b = appendRef(b, n.unused)
	b = binary.AppendUvarint(b, uint64(len(n.classes)))
	for _, c := range n.classes {
		b = binary.AppendUvarint(b, c.fold)
		b = append(append(b, c.id[:]...), c.before[:]...)
		b = binary.AppendUvarint(b, uint64(len(c.parts)))
		for _, p := range c.parts {
			b = binary.AppendUvarint(b, p.to-p.from)
			b = appendString(b, p.inline)
			if p.inline == nil {
				b = appendRef(b, p.ref)
			}
		}
	}
	return b
}

// parseNotes decodes the notes of a stream.
func parseNotes(b []byte, stream Stream) (n notes, err error) {
	rest, ok := bytes.CutPrefix(b, append([]byte(notesMagic), stream.String()...))
	if !ok {
		return n, fmt.Errorf("the notes are to another stream: %w", ErrNotFound)
	}
	r := indexReader{b: rest}
	n.stream, n.version, n.unused = stream, r.uvarint(), r.ref()
	for range r.count(1 + 2*len(wire.ID{}) + 1) {
		c := classNotes{fold: r.uvarint(), id: wire.ID(r.next(len(wire.ID{}))), before: wire.ID(r.next(len(wire.ID{})))}
		c.parts = make([]part, r.count(1+1))
		for i := range c.parts {
			p := &c.parts[i]
			p.to = r.uvarint() // the number of its revisions
			if p.inline = bytes.Clone(r.next(int(r.count(1)))); len(p.inline) == 0 {
				p.inline, p.ref = nil, r.ref()
			}
		}
		to := n.version
		for i := range slices.Backward(c.parts) {
			p := &c.parts[i]
			if r.err == nil && (p.to == 0 || p.to >= to) {
				r.fail("notes with a part of %d versions before version %d", p.to, to)
			}
			p.from, p.to = to-p.to, to
			to = p.from
		}
		n.classes = append(n.classes, c)
	}
	if len(r.b) > 0 {
		r.fail("%d bytes follow the notes", len(r.b))
	}
	return n, r.err
}

// of returns the notes of the class of a head. They are to the version of the head, or to the one after it
// if the publisher was killed before it wrote that head.
func (n *notes) of(h *Head) (c classNotes, err error) {
	for _, c := range n.classes {
		isNext := n.version == h.Version+1 && c.before == h.ID
		if c.fold == h.Fold && (isNext || n.version == h.Version && c.id == h.ID) {
			return c, nil
		}
	}
	return c, fmt.Errorf("class %d has no notes to version %d: %w", h.Fold, h.Version, ErrNotFound)
}

// appendUnused encodes since when objects are unused.
func appendUnused(b []byte, unused map[string]time.Time) []byte {
	b = append(b, unusedMagic...)
	for name, since := range unused {
		b = appendString(b, name)
		b = binary.AppendUvarint(b, uint64(max(0, since.UnixMilli())))
	}
	return b
}
