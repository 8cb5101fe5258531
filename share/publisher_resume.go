package share

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// NewPublisher returns a publisher for a store. If the store contains a publication, the publisher
// continues it. If its state cannot be read any more, a new stream begins, and subscribers fetch a
// snapshot.
//
// The error wraps umbel.ErrGoal if the options are incomplete or out of range, and ErrSignature if the halves of
// the key do not belong together, or if the head in the store is not one of this key; or it is that of the store.
// A store that is the cache of a subscriber is refused. If MaxShrink limits the loss of keys and the last
// version cannot be read any more, the error is a [*ShrunkError].
func NewPublisher(ctx context.Context, o PublisherOptions) (*Publisher, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if _, err := o.Store.Record(ctx, localName); err == nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "the store is the cache of a subscriber: publish to another one")
	}
	p := &Publisher{o: o, catalog: newCatalog(&o), guard: newGuard(&o)}
	if err := p.catalog.adopt(ctx); err != nil {
		return nil, fmt.Errorf("list the objects: %w", err)
	}
	for _, fold := range append([]uint64{1}, o.Folds...) {
		p.classes = append(p.classes, &class{o: &p.o, catalog: p.catalog, fold: fold})
	}
	resumed, err := p.resume(ctx)
	if err != nil || resumed {
		return p, err
	}
	if p.version > 0 {
		if err := p.guard.lost(); err != nil {
			return nil, err
		}
		o.Log.Warn("a new stream begins, because the last version cannot be read; subscribers fetch a snapshot", event.PublicationRestarted, "version", p.version)
	}
	began := max(o.Now().UnixMilli(), p.stream.Began+1)
	var nonce [8]byte
	rand.Read(nonce[:])
	p.stream, p.version = Stream{began, binary.BigEndian.Uint64(nonce[:])}, 0
	return p, nil
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
	n, err := p.readNotes(ctx)
	if err != nil && !isLost(err) {
		return false, err
	}
	for i, c := range p.classes {
		h := heads[i]
		if h == nil || h.Stream != p.stream || h.Version != p.version {
			continue
		}
		err := c.resume(ctx, h, n)
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
	var offers []*offer
	for _, c := range p.classes {
		offers = append(offers, c.current)
	}
	p.catalog.published(offers...)
	since, err := p.readUnused(ctx, n)
	if err != nil && !isLost(err) {
		return false, err
	}
	for name := range p.catalog.unused {
		if at, ok := since[name]; ok {
			p.catalog.unused[name] = at
		}
	}
	return true, nil
}

// isLost reports whether an error of a store means that an object is not there any more.
func isLost(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt)
}

// resume continues after the version of a head.
func (c *class) resume(ctx context.Context, h *Head, n notes) error {
	fetched := make(indexes)
	x, err := readIndex(ctx, c.catalog, h.Index, fetched)
	if err != nil {
		return err
	}
	f := fetcher{applier: applier{source: c.catalog, limits: wire.NoLimits}}
	got, err := f.fetch(ctx, h, local{}, fetched)
	if err != nil {
		return err
	}
	e, err := openOffer(ctx, c.catalog, h.Version, x)
	if err != nil {
		return err
	}
	parts, revisions, err := c.readParts(ctx, n, h, got.state)
	if err != nil && !isLost(err) {
		return err
	}
	c.head, c.tree, e.parts = h, got.tree, parts
	c.history = newHistory(got.state, h.Version, revisions)
	e.index = h.Index
	c.current = e
	c.catalog.commit(e)
	return nil
}

// openOffer returns the offer that an index describes.
func openOffer(ctx context.Context, source Source, version uint64, x *Index) (*offer, error) {
	e := &offer{version: version, snapshots: x.Snapshots, refinements: x.Refinements, deltas: make(map[edge]Ref), pages: make(map[uint64]Ref)}
	for _, d := range x.Deltas {
		e.deltas[edge{d.From, d.To}] = d.Ref
	}
	for _, listed := range x.Pages {
		p, err := readIndex(ctx, source, listed.Ref, nil)
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

// readNotes reads the notes.
func (p *Publisher) readNotes(ctx context.Context) (notes, error) {
	record, err := p.o.Store.Record(ctx, notesName)
	if err != nil {
		return notes{}, err
	}
	return parseNotes(record, p.stream)
}

// readParts reads the revisions that lead to the version of a head, whose state is s. It returns the parts
// that the next version may keep.
func (c *class) readParts(ctx context.Context, n notes, h *Head, s umbel.State) (parts []part, revisions []revision, err error) {
	mine, err := n.of(h)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range mine.parts {
		b := x.inline
		if b == nil {
			if b, err = fetch(ctx, c.catalog, x.ref); err != nil {
				return nil, nil, err
			}
		}
		more, err := parsePart(b, x.from, x.to, s)
		if err != nil {
			return nil, nil, err
		}
		revisions = append(revisions, more...)
		if x.to <= h.Version {
			parts = append(parts, x)
		}
	}
	if n.version > h.Version && len(revisions) > 0 {
		revisions = revisions[:len(revisions)-1]
	}
	return parts, revisions, nil
}

// readUnused reads since when objects are unused.
func (p *Publisher) readUnused(ctx context.Context, n notes) (map[string]time.Time, error) {
	if n.unused == (Ref{}) {
		return nil, nil
	}
	b, err := fetch(ctx, p.catalog, n.unused)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(b, []byte(unusedMagic))
	r := indexReader{b: rest}
	if !ok {
		r.fail("a list of unused objects that begins with %.8q", b)
	}
	unused := make(map[string]time.Time)
	for len(r.b) > 0 {
		name := string(r.next(int(r.count(1))))
		unused[name] = time.UnixMilli(int64(r.uvarint() & (1<<53 - 1)))
	}
	return unused, r.err
}
