package share

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"golang.org/x/mod/sumdb/note"
)

// PublisherOptions configure a publisher. Store and Key are required.
type PublisherOptions struct {
	Store Store
	// Key signs heads. Its name is the name of the publication.
	Key Key
	// Valid is how long a head is valid, in whole seconds; the default is 5 minutes. Call Renew
	// more often than that, for example three times.
	Valid time.Duration
	// Grace is how long an object remains after no head needs it, for subscribers who are
	// fetching it; the default is 10 minutes, or twice Valid if that is longer.
	Grace time.Duration
	// MaxOldBytes is the maximum number of bytes of the deltas that lead from old versions; the
	// default is 4 times the bytes of the last snapshot. Subscribers whose version is older fetch a
	// snapshot. Versions more than 1296 old have no deltas in any case.
	MaxOldBytes uint64
	// SnapshotShare is the share of a snapshot's bytes that the deltas after it may take before
	// there is a new one; the default is 0.25.
	SnapshotShare float64
	// PublishSeed permits publishing filters with a secret seed. Everybody who can read the
	// publication can then find keys that are false positives.
	PublishSeed bool
	// Workers is the number of goroutines that encode; 0 and 1 mean the caller's alone.
	Workers int
	// Now returns the time; the default is time.Now.
	Now func() time.Time
}

// Publisher publishes versions of a filter. Its methods must not be called concurrently.
//
// It keeps a copy of the last version, 7 % of its memory in hashes and counts, and the words that changed
// before it: at most half of the memory of the copy.
type Publisher struct {
	o       PublisherOptions
	stream  Stream
	before  time.Time // of the last head in the store or, if later, of head
	head    *Head     // the last one that was signed
	signed  []byte    // the head in the store
	tried   []byte    // a head whose writing failed: it may be in the store
	history history
	tree    *wire.Tree // of the last version
	current bool       // the last call of Publish succeeded
	catalog *catalog
}

// NewPublisher returns a publisher for a store. If the store contains a publication, the publisher
// continues it. If its state cannot be read any more, a new stream begins, and subscribers fetch a
// snapshot.
//
// The error wraps ErrSignature if the halves of the key do not belong together, or if the head in the
// store is not one of this key; or it is that of the store. A store that is the cache of a subscriber is
// refused.
func NewPublisher(ctx context.Context, o PublisherOptions) (*Publisher, error) {
	if o.Store == nil || o.Key.Signer == nil || o.Key.Verifier == nil {
		return nil, errors.New("share: a publisher needs a store and a key")
	}
	if err := o.Key.check(); err != nil {
		return nil, err
	}
	if _, err := o.Store.Record(ctx, heldName); err == nil {
		return nil, errors.New("share: the store is the cache of a subscriber: publish to another one")
	}
	if o.Valid == 0 {
		o.Valid = 5 * time.Minute
	}
	if o.Valid < time.Second || o.Valid%time.Second != 0 || o.Valid/time.Second > maxSeconds {
		return nil, fmt.Errorf("share: heads are valid for %v, want 1 to %d whole seconds", o.Valid, int64(maxSeconds))
	}
	if o.Grace == 0 {
		o.Grace = max(10*time.Minute, 2*o.Valid)
	}
	if o.SnapshotShare == 0 {
		o.SnapshotShare = 0.25
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Publisher{o: o, catalog: newCatalog(&o)}
	if err := p.catalog.adopt(ctx); err != nil {
		return nil, fmt.Errorf("share: list the objects: %w", err)
	}
	old, signed, err := p.last(ctx)
	if err != nil {
		return nil, err
	}
	p.signed = signed
	began := o.Now().UnixMilli()
	if old != nil {
		if err := p.resume(ctx, old); err == nil || !isLost(err) {
			return p, err
		}
		p.before = old.Time
		began = max(began, old.Stream.Began+1)
	}
	var nonce [8]byte
	rand.Read(nonce[:])
	p.stream = Stream{began, binary.BigEndian.Uint64(nonce[:])}
	return p, nil
}

// isLost reports whether an error of a store means that an object is not there any more.
func isLost(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// last returns the head in the store, and nil if there is none.
func (p *Publisher) last(ctx context.Context) (h *Head, signed []byte, err error) {
	signed, err = p.o.Store.Record(ctx, HeadName)
	if errors.Is(err, ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("share: read the last head: %w", err)
	}
	if h, err = OpenHead(signed, p.o.Key.Signer.Name(), note.VerifierList(p.o.Key.Verifier)); err != nil {
		return nil, nil, fmt.Errorf("share: the head in the store is damaged, or of another publication: use another store, or remove the head to begin a new stream: %w", err)
	}
	return h, signed, nil
}

// Head returns the last head that was signed, nil before the first version.
func (p *Publisher) Head() *Head { return p.head }

// Publish publishes a version. It reads the state with plain loads until it returns: nothing may
// change the filter meanwhile. If the state is that of the last version, Publish is Renew.
//
// Publish compares the state with the last version, which takes the time of reading both. For large
// filters see PublishChanged.
//
// If Publish returns an error and no head, the version is not published, unless the store kept the
// head in spite of its error. Publish may be called again. If it returns both, the version is
// published, but an old object could not be removed. If the error wraps ErrFork, something else
// changed the store: continue with a new publisher.
func (p *Publisher) Publish(ctx context.Context, s umbel.State) (*Head, error) {
	return p.PublishChanged(ctx, s, nil)
}

// PublishChanged is Publish for a program that notes what it changes: its time is in proportion to the
// change. For each array, counted through all parts, changed returns the numbers of the words that may have
// changed since the last call of Publish or PublishChanged, ascending and without repetition, or nil if
// there are none. What changed in other words is not published. Parameters of the state may change in any
// case. If changed is nil, all words may have changed.
//
// The list is not used by the first call, and after a call that returned no head. PublishChanged panics
// if an array has no word of a given number.
func (p *Publisher) PublishChanged(ctx context.Context, s umbel.State, changed func(array int) iter.Seq[uint64]) (*Head, error) {
	if !p.current {
		changed = nil
	}
	p.current = false
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("share: publish: %w", err)
	}
	if !p.o.PublishSeed && hasSeed(s) {
		return nil, fmt.Errorf("share: subscribers would learn the seed of the hasher %s; make a filter with a seed of its own for the publication and set PublishSeed: %w", s.Hasher, ErrSeed)
	}
	h, err := p.publish(ctx, s, changed)
	p.current = h != nil
	return h, err
}

// publish is PublishChanged for a state that may be published.
func (p *Publisher) publish(ctx context.Context, s umbel.State, changed wordLists) (*Head, error) {
	connected := p.head != nil && p.history.add(s, changed, s.Bytes()/8/4)
	tree := p.tree
	if connected {
		tree.UpdateLeaves(p.history.state, p.history.newest().leaves)
	} else {
		tree = wire.NewTree(s, p.o.Workers)
	}
	if p.head != nil && p.head.ID == tree.ID() {
		p.revert(connected)
		return p.Renew(ctx)
	}
	h := &Head{
		Name: p.o.Key.Signer.Name(), Stream: p.stream, Version: versionOf(p.head) + 1, Valid: p.o.Valid,
		ID: tree.ID(), Kind: s.Kind, Bytes: s.Bytes(),
	}
	next := p.catalog.next(h.Version)
	if err := p.write(ctx, h, s, next); err != nil {
		p.revert(connected)
		return nil, fmt.Errorf("share: publish version %d: %w", h.Version, err)
	}
	if p.tree = tree; !connected {
		p.history = newHistory(s.Clone(), h.Version, nil)
	}
	// From here on the version is used up: the store may keep the head in spite of an error.
	p.catalog.commit(next)
	if err := p.sign(ctx, h); err != nil {
		return nil, fmt.Errorf("share: publish version %d: %w", h.Version, err)
	}
	return h, p.catalog.collect(ctx)
}

// revert makes the last version the newest one of history and tree again.
func (p *Publisher) revert(connected bool) {
	if !connected {
		return
	}
	changed := *p.history.newest()
	p.history.removeNewest()
	p.tree.UpdateLeaves(p.history.state, changed.leaves)
}

func hasSeed(s umbel.State) bool {
	if s.Hasher.Seed != (umbel.Seed{}) {
		return true
	}
	for _, part := range s.Parts {
		if hasSeed(part) {
			return true
		}
	}
	return false
}

// write writes the objects of a version.
func (p *Publisher) write(ctx context.Context, h *Head, s umbel.State, next *edition) error {
	shrunk := p.head != nil && s.Bytes() < p.history.state.Bytes()/4*3
	if err := p.deltas(ctx, h.Version, s, next); err != nil {
		return err
	}
	next.dropOldest(p.o.MaxOldBytes)
	// A snapshot of before the filter shrank is larger than one of now.
	if shrunk || next.needsSnapshot(p.o.SnapshotShare) {
		r, err := put(ctx, p.catalog, func(w io.Writer) error { return wire.Packer{Workers: p.o.Workers}.Write(w, s) })
		if err != nil {
			return err
		}
		next.addSnapshot(r)
	}
	if err := next.writeIndex(ctx, p.catalog); err != nil {
		return err
	}
	h.Index = next.index
	for from := h.Version - 1; from > 0 && len(h.Deltas) < MaxHeadDeltas; from-- {
		r, ok := next.deltas[edge{from, h.Version}]
		if !ok {
			break
		}
		h.Deltas = append(h.Deltas, r)
	}
	return nil
}

// deltas writes the deltas to a version.
func (p *Publisher) deltas(ctx context.Context, v uint64, s umbel.State, next *edition) error {
	if p.head == nil {
		return nil
	}
	changes, err := p.history.newStretch(p.o.Workers)
	if err != nil {
		return err
	}
	for from := range incoming(v) {
		if from < p.history.oldest() || v-from > MaxHeadDeltas && !useful(from, v, v) {
			continue
		}
		b, err := p.delta(from, v, s, changes)
		if errors.Is(err, umbel.ErrMismatch) || err == nil && uint64(len(b)) >= next.limit() {
			continue
		}
		if err == nil {
			next.deltas[edge{from, v}], err = putBytes(ctx, p.catalog, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// delta returns the delta to version v, whose state is s. If the history has that version, it uses changes.
func (p *Publisher) delta(from, v uint64, s umbel.State, changes *stretch) (b []byte, err error) {
	if p.history.version == v {
		if b, err = changes.change(from); !errors.Is(err, delta.ErrCompare) {
			return b, err
		}
	}
	err = p.history.visit(from, func(base umbel.State) error {
		b, err = delta.Encoder{Workers: p.o.Workers}.AppendChange(nil, base, s)
		return err
	})
	return b, err
}

// Renew publishes the last version with a new time.
func (p *Publisher) Renew(ctx context.Context) (*Head, error) {
	if p.head == nil {
		return nil, fmt.Errorf("share: renew: nothing is published yet")
	}
	h := *p.head
	h.Valid = p.o.Valid
	if err := p.sign(ctx, &h); err != nil {
		return nil, fmt.Errorf("share: renew: %w", err)
	}
	return &h, p.catalog.collect(ctx)
}

// sign signs a head with the current time and stores it. The time does not go backwards, unless the
// clock went back by more than subscribers accept: then it was wrong, and they refused the heads that
// were signed meanwhile. It fails if the store's head is not the one that this publisher wrote last.
func (p *Publisher) sign(ctx context.Context, h *Head) error {
	at := p.o.Now().UnixMilli()
	if last := p.before.UnixMilli(); last <= at+defaultSkew.Milliseconds() {
		at = max(at, last+1)
	}
	h.Time = time.UnixMilli(at).UTC()
	p.head, p.before = h, h.Time
	signed, err := h.Sign(p.o.Key.Signer)
	if err != nil {
		return err
	}
	if err := p.checkStore(ctx); err != nil {
		return err
	}
	p.tried = signed
	if err := p.o.Store.PutRecord(ctx, HeadName, signed); err != nil {
		return err
	}
	p.signed, p.tried = signed, nil
	p.catalog.published()
	return nil
}

// checkStore returns an error wrapping ErrFork unless the store has the head that this publisher
// wrote last.
func (p *Publisher) checkStore(ctx context.Context) error {
	current, err := p.o.Store.Record(ctx, HeadName)
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return fmt.Errorf("read the last head: %w", err)
	case p.tried != nil && bytes.Equal(current, p.tried):
		p.signed, p.tried = p.tried, nil
	case !bytes.Equal(current, p.signed):
		return fmt.Errorf("the head in the store is not the last one of this publisher: another publisher writes there, or the store was replaced: %w", ErrFork)
	}
	return nil
}
