package share

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// class is a publication of the filter folded by a factor, as its publisher keeps it. The whole filter is
// the class of factor 1.
type class struct {
	o       *PublisherOptions
	catalog *catalog // of all classes
	fold    uint64
	head    *Head  // of the last version; nil if the class begins with the next one
	signed  []byte // the head in the store
	tried   []byte // a head whose writing failed: it may be in the store
	current *offer
	history history
	tree    *hashtree.Tree // of the last version
}

// draft is a version of a class that is being written.
type draft struct {
	class     *class
	state     umbel.State
	tree      *hashtree.Tree
	connected bool    // the history has the version
	rate      float64 // false-positive rate, if the publication has several classes
	next      *offer
	head      *Head
}

// draft begins a version. The history and the tree of the class are those of the draft until it is
// committed or reverted. If changed is not nil, the state differs from the last version in no other words.
func (c *class) draft(s umbel.State, changed wordLists, version uint64) *draft {
	d := &draft{class: c, state: s, tree: c.tree}
	// As much memory as for the whole filter, so that its classes have deltas from the same versions.
	d.connected = c.head != nil && c.history.add(s, changed, max(s.Bytes()*c.fold/2, c.o.MaxOldBytes))
	if d.connected {
		d.tree.UpdateLeaves(c.history.state, c.history.newest().changes.Leaves)
	} else {
		d.tree = hashtree.New(s, c.o.Workers)
	}
	d.head = &Head{Version: version, ID: d.tree.ID(), Kind: s.Kind, Bytes: s.Bytes(), Fold: c.fold}
	d.next = c.current.next(version)
	return d
}

// isUnchanged reports whether the state is that of the last version.
func (d *draft) isUnchanged() bool { return d.class.head != nil && d.class.head.ID == d.head.ID }

// revert makes the last version the newest one of history and tree again.
func (d *draft) revert() {
	if !d.connected {
		return
	}
	c := d.class
	changes := c.history.newest().changes
	c.history.removeNewest()
	c.tree.UpdateLeaves(c.history.state, changes.Leaves)
}

// commit makes the draft the last version.
func (d *draft) commit() {
	c := d.class
	if !d.connected {
		c.history = newHistory(d.state.Clone(), d.head.Version, nil)
	}
	if c.current != nil {
		c.catalog.replaced = append(c.catalog.replaced, c.current.parts...)
	}
	c.tree, c.head, c.current = d.tree, d.head, d.next
	c.catalog.commit(d.next)
}

// write writes the deltas to the version, and a snapshot if that is requested or needed.
func (d *draft) write(ctx context.Context, snapshot bool) error {
	c, h := d.class, d.head
	shrunk := c.head != nil && d.state.Bytes() < c.history.state.Bytes()/4*3
	if err := d.deltas(ctx); err != nil {
		return err
	}
	d.next.dropOldest(c.o.MaxOldBytes)
	// A snapshot of before the filter shrank is larger than one of now.
	if snapshot || shrunk || d.next.needsSnapshot(c.o.SnapshotShare) {
		r, err := put(ctx, c.catalog, func(w io.Writer) error { return wire.Packer{Workers: c.o.Workers}.Write(w, d.state) })
		if err != nil {
			return err
		}
		d.next.addSnapshot(r)
	}
	for from := h.Version - 1; from > 0 && len(h.Deltas) < MaxHeadDeltas; from-- {
		r, ok := d.next.deltas[edge{from, h.Version}]
		if !ok {
			break
		}
		h.Deltas = append(h.Deltas, r)
	}
	if c.head != nil && len(h.Deltas) == 0 {
		c.o.Log.Warn("no delta leads to the version; subscribers fetch a snapshot", event.PublicationReplaced, "version", h.Version, "kind", h.Kind, "bytes", h.Bytes)
	}
	return nil
}

// refine writes the refinement from the same version of the next coarser class, if both have a snapshot
// and it is shorter than that.
func (d *draft) refine(ctx context.Context, coarser *draft) error {
	d.next.refinements = nil
	b, err := delta.Encoder{Workers: d.class.o.Workers}.AppendChange(nil, coarser.state, d.state)
	if errors.Is(err, umbel.ErrMismatch) || err == nil && uint64(len(b)) >= d.next.snapshots[0].Bytes {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := putBytes(ctx, d.class.catalog, b)
	d.next.refinements = append(d.next.refinements, Refinement{coarser.class.fold, d.head.Version, coarser.next.snapshots[0].Ref, r})
	d.next.refinements = append(d.next.refinements, coarser.next.refinements...)
	return err
}

// index writes the index of the version.
func (d *draft) index(ctx context.Context) error {
	err := d.next.writeIndex(ctx, d.class.catalog)
	d.head.Index = d.next.index
	return err
}

// hasSnapshot reports whether the version has a snapshot.
func (d *draft) hasSnapshot() bool { return d.next.snapshots[0].Version == d.head.Version }

// deltas writes the deltas to the version. If the history has the version, it takes the changes from there.
func (d *draft) deltas(ctx context.Context) error {
	c, v := d.class, d.head.Version
	if c.head == nil {
		return nil
	}
	var changes delta.Changes // from version since
	since := v
	for from := range incoming(v) {
		if !c.history.has(from) || v-from > MaxHeadDeltas && !useful(from, v, v) {
			continue
		}
		var b []byte
		var err error
		if e := (delta.Encoder{Workers: c.o.Workers}); d.connected {
			before, earlier := c.history.between(from, since)
			changes, since = delta.Merge(earlier, changes), from
			b, err = e.AppendKnown(nil, before, c.history.state, changes, c.history.ones)
		} else {
			err = c.history.visit(from, func(before umbel.State) error {
				b, err = e.AppendChange(nil, before, d.state)
				return err
			})
		}
		if errors.Is(err, umbel.ErrMismatch) || err == nil && uint64(len(b)) >= d.next.limit() {
			continue
		}
		if err == nil {
			d.next.deltas[edge{from, v}], err = putBytes(ctx, c.catalog, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// store stores the signed head of the last version.
func (c *class) store(ctx context.Context, signed []byte) error {
	c.tried = signed
	if err := c.catalog.PutRecord(ctx, ClassRecord(c.fold), signed); err != nil {
		return err
	}
	c.signed, c.tried = signed, nil
	return nil
}

// checkStore returns an error wrapping ErrFork if the store has the head of another publisher, or none. A damaged head
// is no other publisher's: the next one replaces it.
func (c *class) checkStore(ctx context.Context) error {
	name := ClassRecord(c.fold)
	current, err := c.catalog.Record(ctx, name)
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return fmt.Errorf("read the last head: %w", err)
	case c.tried != nil && bytes.Equal(current, c.tried):
		c.signed, c.tried = c.tried, nil
		return nil
	case bytes.Equal(current, c.signed):
		return nil
	case err != nil:
		return fmt.Errorf("the store has no record %s any more: it was removed, or the store was replaced: %w", name, ErrFork)
	}
	if _, err := c.open(current); errors.Is(err, ErrCorrupt) {
		c.o.Log.Warn("the head in the store is damaged and is replaced", event.PublicationRepaired, "class", c.fold)
		return nil
	}
	return fmt.Errorf("the record %s in the store is not the last one of this publisher: another publisher writes there, or "+
		"the store was replaced: %w", name, ErrFork)
}

// last returns the head in the store, and nil if there is none.
func (c *class) last(ctx context.Context) (*Head, error) {
	name := ClassRecord(c.fold)
	signed, err := c.catalog.Record(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last head: %w", err)
	}
	h, err := c.open(signed)
	if err != nil {
		return nil, err
	}
	c.signed = signed
	return h, nil
}

// open returns the head in a record of the store. The error wraps ErrCorrupt if the record is damaged, and not if it is
// the head of another publication.
func (c *class) open(signed []byte) (*Head, error) {
	keys := note.VerifierList(c.o.Key.Verifier)
	_, unopened := note.Open(signed, keys)
	if other := (*note.UnverifiedNoteError)(nil); errors.As(unopened, &other) {
		by := other.Note.UnverifiedSigs[0]
		return nil, fmt.Errorf("the publication in the store is signed with another key, %s+%08x: publish with that key, or to "+
			"another store: %w", by.Name, by.Hash, ErrSignature)
	}
	h, err := OpenHead(signed, c.o.Key.Signer.Name(), keys)
	if err == nil {
		err = h.checkClass(c.fold)
	}
	if err != nil {
		return nil, sentinel.Errorf(ErrCorrupt,
			"the record %s in the store is damaged: use another store, or remove the record to begin a new stream: %w", ClassRecord(c.fold), err)
	}
	return h, nil
}
